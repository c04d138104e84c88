// What the bench of LAYOUTGET counts, by a clock that only the answers move.
#include "client/bench/layout_bench.h"

#include "client/testing/client_session_fixture.h"
#include "client/v4/pnfs/layouts.h"

namespace steertag::peer::testing {
namespace {

constexpr std::size_t kBodyOctets = 1001;
// The body has a roundup of three octets.
constexpr std::uint32_t kLayoutOctets = 28 + 1004;

/// LAYOUTGET takes a millisecond, LAYOUTRETURN ten.
class LayoutBenchTest : public ClientSessionTest {
 protected:
  LayoutBenchTest() {
    transport.answer = [this](View call) { return answer_layouts(call); };
    opened.other[0] = std::byte{3};
    const std::array<std::byte, 1> octets{std::byte{1}};
    file = RemoteHandle(View(octets));
  }
  LayoutBench bench() {
    return {session, file, opened, [this] { return transport.now; },
            [] { return ProcessorTime{}; }};
  }

  Bytes answer_layouts(View call) {
    return reply_by(call,
                    [this](wire::Reader& reader, Opnum number, nfs4::ReplyWriter<Opnum>& writer) {
                      const Status status = take_status(number);
                      if (number == Opnum::OP_LAYOUTGET) {
                        get(reader, status, writer);
                      } else if (number == Opnum::OP_LAYOUTRETURN) {
                        give_back(reader, writer);
                      } else {
                        execute(reader, number, status, writer);
                      }
                      return status;
                    });
  }
  void get(wire::Reader& reader, Status status, nfs4::ReplyWriter<Opnum>& writer) {
    const auto args = decoded<nfs4::LayoutgetArgs>(reader);
    EXPECT_EQ(args.loga_stateid, opened) << "no layout is held";
    EXPECT_EQ(held, 0) << "the layout before was returned";
    maxcounts.push_back(args.loga_maxcount);
    transport.now += 1ms;
    nfs4::LayoutgetResult result;
    result.status = status;
    result.resok4.logr_stateid = {++seqid, {std::byte{7}}};
    const Bytes body(kBodyOctets);
    result.resok4.logr_layout.push_back(
        {0, kToTheEnd, args.loga_iomode, {nfs4::LayoutType{1}, body}});
    if (status == Status::NFS4_OK) ++held;
    writer.add(Opnum::OP_LAYOUTGET, result);
  }
  void give_back(wire::Reader& reader, nfs4::ReplyWriter<Opnum>& writer) {
    const auto args = decoded<nfs4::LayoutreturnArgs>(reader);
    EXPECT_EQ(args.lora_layoutreturn.lr_layout.lrf_stateid.seqid, seqid);
    EXPECT_EQ(args.lora_layoutreturn.lr_layout.lrf_length, kToTheEnd);
    transport.now += 10ms;
    --held;
    writer.add(Opnum::OP_LAYOUTRETURN, nfs4::LayoutreturnResult{});
  }

  RemoteHandle file;
  nfs4::StateId opened{1, {}};
  std::uint32_t seqid = 0;
  int held = 0;
  std::vector<std::uint32_t> maxcounts;
};

TEST_F(LayoutBenchTest, ReturnsAreOutsideOfTheTimes) {
  const auto measured = bench().measure(110ms, 0);
  ASSERT_TRUE(measured) << measured.error().message();
  EXPECT_EQ(measured->calls, 10U) << "11 ms for one with its LAYOUTRETURN";
  EXPECT_EQ(measured->elapsed, 10ms);
  EXPECT_EQ(measured->bytes, 10 * kBodyOctets);
  EXPECT_NEAR(static_cast<double>(measured->times.quantile(1).count()), 1e6, 1e6 / 64);
  EXPECT_EQ(held, 0);
}

TEST_F(LayoutBenchTest, AsksForAsManyOctetsAsTheLayoutTakes) {
  ASSERT_TRUE(bench().measure(11ms, 0));
  EXPECT_EQ(maxcounts, (std::vector<std::uint32_t>{kMostLayoutReply, kLayoutOctets}));
}

TEST_F(LayoutBenchTest, GoesOnUntilThereAreEnough) {
  EXPECT_EQ(bench().measure(11ms, 5)->calls, 5U);
}

TEST_F(LayoutBenchTest, RefusalEndsTheMeasurement) {
  next_status[Opnum::OP_LAYOUTGET] = {Status::NFS4_OK, Status::NFS4_OK,
                                      Status::NFS4ERR_LAYOUTUNAVAILABLE};
  const auto measured = bench().measure(110ms, 0);
  ASSERT_FALSE(measured);
  EXPECT_EQ(measured.error().status_name, "NFS4ERR_LAYOUTUNAVAILABLE");
}

}  // namespace
}  // namespace steertag::peer::testing
