// RDMA_ERROR: its shape, and the request that it answers.
#include "conformance/trace_builder.h"

namespace steertag::conformance {
namespace {

constexpr std::uint32_t kXid = 1;

TEST(ErrorRules, AcceptBothErrors) {
  TraceBuilder trace;
  trace.open();
  trace.call(kXid);
  trace.err_chunk(Role::server, kXid);
  trace.expect_nothing();

  wire::Draft call = wire::Draft::from(header(2), rpc_call(2));
  call.vers = 7;
  trace.send(Role::client, call);
  trace.err_vers(Role::server, 2, 7);
  EXPECT_EQ(trace.judge().findings().size(), 1u) << "the client's version alone";
}

TEST(ErrorRules, AcceptAnErrorToAReverseCallWithChunks) {
  TraceBuilder trace;
  trace.open();
  wire::Header call = nomsg(9, 1);
  call.read_list.push_back({0, {0x77, 800, 0}});
  trace.send(Role::server, call);
  trace.err_chunk(Role::client, 9, 1);
  trace.expect_nothing();
}

TEST(ErrorRules, LetTheServerAnswerAnErrorOfAnotherVersion) {
  TraceBuilder trace;
  trace.open();
  trace.err_chunk(Role::client, 5, 1, 2);
  trace.err_vers(Role::server, 5, 2);
  EXPECT_EQ(trace.judge().findings().size(), 1u) << "the client's RDMA_ERROR alone";
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
  trace.send(Role::server, words({kXid, 1, 32, 4, 3, 0, 0}));
  trace.expect("error_code_is_known", "RFC8166-4.1.2-9", Role::server);
}

TEST_F(BadError, LongErrChunk) {
  trace.send(Role::server, words({kXid, 1, 32, 4, 2, 0, 0}));
  trace.expect("err_chunk_has_20_octets", "RFC8166-4.1.2-11", Role::server);
}

TEST_F(BadError, ShortErrVers) {
  trace.send(Role::server, words({kXid, 1, 32, 4, 1, 2}));
  trace.expect("err_vers_has_28_octets", "RFC8166-4.1.2-10", Role::server);
}

TEST_F(BadError, ErrVersForASupportedVersion) {
  trace.err_vers(Role::server, kXid, 1, 1, 1);
  trace.expect("err_vers_excludes_the_version", "RFC8166-4.5.1-1", Role::server);
}

TEST_F(BadError, ErrVersWithoutARange) {
  trace.err_vers(Role::server, kXid, 1, 5, 2);
  trace.expect("err_vers_excludes_the_version", "RFC8166-4.5.1-1", Role::server);
}

TEST_F(BadError, AnotherVersion) {
  trace.err_chunk(Role::server, kXid, 32, 2);
  trace.expect("error_copies_the_version", "RFC8166-4.5-5", Role::server);
}

TEST_F(BadError, AnotherXid) {
  trace.err_chunk(Role::server, kXid + 1);
  trace.expect("error_copies_the_xid", "RFC8166-4.5-4", Role::server);
}

TEST_F(BadError, SecondAnswer) {
  trace.reply(kXid);
  trace.err_chunk(Role::server, kXid);
  trace.expect("error_copies_the_xid", "RFC8166-4.5-4", Role::server);
}

TEST_F(BadError, FromARequester) {
  trace.err_chunk(Role::client, kXid);
  trace.expect("requester_sends_no_error", "RFC8166-4.2.4-4", Role::client);
}

}  // namespace
}  // namespace steertag::conformance
