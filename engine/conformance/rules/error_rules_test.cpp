// RDMA_ERROR: its format, and the request that it answers.
#include "conformance/trace_builder.h"

namespace steertag::conformance {
namespace {

constexpr std::uint32_t kXid = 1;

TEST(ErrorRules, AcceptBothErrors) {
  TraceBuilder trace = opened();
  trace.call(kXid).err_chunk(Role::server, kXid).expect_nothing();

  wire::Draft call = wire::Draft::from(header(2), rpc_call(2));
  call.vers = 7;
  trace.send(Role::client, call).err_vers(Role::server, 2, 7);
  EXPECT_EQ(trace.findings(), 1u) << "the client's version alone";
}

TEST(ErrorRules, AcceptAnErrorToAReverseCallWithChunks) {
  opened()
      .send(Role::server, with_read(nomsg(9, 1), 0, {0x77, 800, 0}))
      .err_chunk(Role::client, 9, 1)
      .expect_nothing();
}

TEST(ErrorRules, LetTheServerAnswerAnErrorOfAnotherVersion) {
  TraceBuilder trace = opened();
  trace.err_chunk(Role::client, 5, 1, 2).err_vers(Role::server, 5, 2);
  EXPECT_EQ(trace.findings(), 1u) << "the client's RDMA_ERROR alone";
}

class BadError : public testing::Test {
 protected:
  BadError() {
    trace.open();
    trace.call(kXid);
  }
  TraceBuilder trace;
};

TEST_F(BadError, UnknownCode) {
  trace.send(Role::server, words({kXid, 1, 32, 4, 3, 0, 0}))
      .expect("error_code_is_known", "RFC8166-4.1.2-9", Role::server);
}

TEST_F(BadError, LongErrChunk) {
  trace.send(Role::server, words({kXid, 1, 32, 4, 2, 0, 0}))
      .expect("err_chunk_has_20_octets", "RFC8166-4.1.2-11", Role::server);
}

TEST_F(BadError, ShortErrVers) {
  trace.send(Role::server, words({kXid, 1, 32, 4, 1, 2}))
      .expect("err_vers_has_28_octets", "RFC8166-4.1.2-10", Role::server);
}

TEST_F(BadError, ErrVersForASupportedVersion) {
  trace.err_vers(Role::server, kXid, 1, 1, 1)
      .expect("err_vers_excludes_the_version", "RFC8166-4.5.1-1", Role::server);
}

TEST_F(BadError, ErrVersWithoutARange) {
  trace.err_vers(Role::server, kXid, 1, 5, 2)
      .expect("err_vers_excludes_the_version", "RFC8166-4.5.1-1", Role::server);
}

TEST_F(BadError, AnotherVersion) {
  trace.err_chunk(Role::server, kXid, 32, 2)
      .expect("error_copies_the_version", "RFC8166-4.5-5", Role::server);
}

TEST_F(BadError, AnotherXid) {
  trace.err_chunk(Role::server, kXid + 1)
      .expect("error_copies_the_xid", "RFC8166-4.5-4", Role::server);
}

TEST_F(BadError, SecondAnswer) {
  trace.reply(kXid)
      .err_chunk(Role::server, kXid)
      .expect("error_copies_the_xid", "RFC8166-4.5-4", Role::server);
}

TEST_F(BadError, FromARequester) {
  trace.err_chunk(Role::client, kXid)
      .expect("requester_sends_no_error", "RFC8166-4.2.4-4", Role::client);
}

}  // namespace
}  // namespace steertag::conformance
