// Channels of a session: the sizes that CREATE_SESSION takes.
#include "server/testing/v4_state_fixture.h"

namespace steertag::peer::testing {
namespace {

using V4ChannelTest = V4StateTest;

// RFC 8881 18.36.3: NFS4ERR_TOOSMALL is for a ca_maxresponsesize in which no reply fits.
TEST_F(V4ChannelTest, AForeChannelMayBeAsSmallAsItsSmallestReply) {
  Actor actor;
  const auto id = run(op_exchange_id, exchange_args(actor), actor).resok4;
  const auto made = [&](std::uint32_t octets, std::uint32_t sequence) {
    auto args = session_args(id.eir_clientid, sequence);
    args.csa_fore_chan_attrs = {0, 400, octets, octets, 128, 8, {}};
    return run(op_create_session, args, actor);
  };
  const auto small = made(400, 1);
  ASSERT_EQ(small.status, Status::NFS4_OK);
  EXPECT_EQ(small.resok4.csr_fore_chan_attrs.ca_maxresponsesize, 400U);
  EXPECT_EQ(small.resok4.csr_fore_chan_attrs.ca_maxresponsesize_cached, 400U);
  EXPECT_EQ(made(kSmallestChannelSize, 2).status, Status::NFS4_OK);
  EXPECT_EQ(made(kSmallestChannelSize - 1, 3).status, Status::NFS4ERR_TOOSMALL);
}

// RFC 8881 18.36.3, 18.34.3: the backchannel may be bound later.
TEST_F(V4ChannelTest, ABackchannelInWhichNoRecallFitsIsRefusedBeforeItIsBound) {
  Actor actor;
  const auto id = run(op_exchange_id, exchange_args(actor), actor).resok4;
  const auto status = [&](const nfs4::ChannelAttrs& back, std::uint32_t sequence) {
    auto args = session_args(id.eir_clientid, sequence);
    args.csa_flags = 0;
    args.csa_back_chan_attrs = back;
    return run(op_create_session, args, actor).status;
  };
  EXPECT_EQ(status({0, 10, 8192, 8192, 128, 1, {}}, 1), Status::NFS4ERR_TOOSMALL);
  EXPECT_EQ(status({}, 1), Status::NFS4ERR_TOOSMALL) << "RFC 8881 18.36.4 phase 2: a replay";
  EXPECT_EQ(status({}, 2), Status::NFS4_OK) << "a client that wants no backchannel";
}

}  // namespace
}  // namespace steertag::peer::testing
