// The transport header alone: each malformation has its finding, for either sender.
#include "conformance/trace_builder.h"

namespace steertag::conformance {
namespace {

constexpr std::uint32_t kXid = 0x1234;

wire::Draft draft_call() {
  return wire::Draft::from(header(kXid), rpc_call(kXid));
}

struct Malformation {
  std::string_view rule;
  std::string_view id;
  wire::Draft draft;
};

std::vector<Malformation> malformations() {
  std::vector<Malformation> all;
  const auto add = [&](std::string_view rule, std::string_view id, auto change) {
    Malformation each{rule, id, draft_call()};
    change(each.draft);
    all.push_back(std::move(each));
  };
  using wire::Draft;
  add("read_list_is_xdr", "RFC8166-4.1.2-3", [](Draft& d) { d.read_list_end = 2; });
  add("read_list_is_xdr", "RFC8166-4.1.2-3", [](Draft& d) {
    d.read_list.push_back({1, {64, {1, 2, 3}}, false});
    d.cut_to = 30;
  });
  add("write_list_is_xdr", "RFC8166-4.1.2-5", [](Draft& d) { d.write_list_end = 7; });
  add("write_list_is_xdr", "RFC8166-4.1.2-5", [](Draft& d) {
    d.write_list.push_back({1, 0x20000000, {{1, 2, 3}}, false});
  });
  add("reply_chunk_is_xdr", "RFC8166-4.7-2", [](Draft& d) { d.reply_chunk_absent = 5; });
  add("reply_chunk_is_xdr", "RFC8166-4.7-2", [](Draft& d) {
    d.reply_chunk = wire::DraftChunk{1, 1000, {{1, 2, 3}}, false};
  });
  add("version_is_one", "RFC8166-4.2.2-1", [](Draft& d) { d.vers = 2; });
  add("procedure_is_known", "RFC8166-4.1.2-12", [](Draft& d) { d.proc = 5; });
  add("position_is_aligned", "RFC8166-3.4.5-3", [](Draft& d) {
    d.read_list.push_back({1, {41, {1, 2, 3}}, false});
  });
  add("nomsg_has_a_list", "RFC8166-4.2.4-2", [](Draft& d) {
    d.proc = 1;
    d.payload.clear();
  });
  add("nomsg_ends_after_lists", "RFC8166-4.1.2-7", [](Draft& d) {
    d.proc = 1;
    d.read_list.push_back({1, {0, {1, 2, 40}}, false});
  });
  add("no_msgp", "RFC8166-4.6.1-1", [](Draft& d) { d.proc = 2; });
  add("no_done", "RFC8166-4.6.2-1", [](Draft& d) {
    d.proc = 3;
    d.payload.clear();
  });
  add("payload_is_an_rpc_message", "RFC8166-4.2.4-1", [](Draft& d) { d.payload = words({kXid}); });
  add("payload_is_an_rpc_message", "RFC8166-4.2.4-1", [](Draft& d) {
    d.payload = words({kXid, 9, 2});
  });
  add("header_is_xdr", "RFC8166-4.1.2-13", [](Draft& d) { d.cut_to = 27; });
  add("header_is_xdr", "RFC8166-4.1.2-13", [](Draft& d) { d.cut_to = 3; });
  return all;
}

TEST(HeaderRules, AcceptsAPlainExchange) {
  opened().exchange(1).expect_nothing();
}

TEST(HeaderRules, FindsEachMalformationOfAClient) {
  for (const Malformation& each : malformations()) {
    SCOPED_TRACE(each.rule);
    opened().send(Role::client, each.draft).expect(each.rule, each.id, Role::client);
  }
}

TEST(HeaderRules, FindsEachMalformationOfAServer) {
  for (const Malformation& each : malformations()) {
    SCOPED_TRACE(each.rule);
    opened().call(1).send(Role::server, each.draft).expect(each.rule, each.id, Role::server);
  }
}

TEST(HeaderRules, LetsAClientGiveCreditsBackByAnEmptySend) {
  opened()
      .send(Role::client, Bytes{})
      .expect_nothing()
      .send(Role::server, Bytes{})
      .expect("header_is_xdr", "RFC8166-4.1.2-13", Role::server);
}

TEST(HeaderRules, LetsAServerOfLaterVersionsAnswerOneInKind) {
  TraceBuilder trace = opened();
  wire::Draft call = draft_call();
  call.vers = 2;
  trace.send(Role::client, call);
  wire::Draft reply = wire::Draft::from(header(kXid), rpc_reply(kXid));
  reply.vers = 2;
  trace.send(Role::server, reply);
  ASSERT_EQ(trace.findings(), 1u);
  EXPECT_EQ(trace.judge().findings()[0].culprit, Role::client);
}

}  // namespace
}  // namespace steertag::conformance
