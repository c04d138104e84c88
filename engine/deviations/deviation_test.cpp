// The deviations: a complete table with requirements of the ledger.
// Each deviation can be seen from outside.
#include "deviations/catalogue.h"

#include <sys/socket.h>

#include <array>
#include <set>

#include "deviations/families.h"
#include "deviations/server/server_deviations.h"
#include "ledger/ledger.h"
#include "mutate/catalogue.h"
#include "server/testing/stream_fixture.h"

namespace steertag::peer::testing {
namespace {

using deviations::Deviation;
using mutate::apply_mutation;

void check_table(trace::Role side) {
  std::set<std::string_view> names;
  for (const Deviation* row : deviations::all(side)) {
    EXPECT_TRUE(names.insert(row->name).second) << row->name << " is there twice";
    EXPECT_EQ(row->name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"),
              std::string_view::npos)
        << row->name;
    std::set<std::string_view> broken;
    for (const std::string_view id : deviations::broken(*row)) {
      EXPECT_NE(ledger::find(id), nullptr)
          << row->name << " breaks " << id << ", which is not in the ledger";
      EXPECT_TRUE(broken.insert(id).second) << row->name << " breaks " << id << " twice";
    }
    EXPECT_FALSE(broken.empty()) << row->name << " breaks nothing";
    EXPECT_TRUE(row->sentence.ends_with(".")) << row->name;
    EXPECT_EQ(deviations::find(row->name, side), row);
  }
}

TEST(DeviationTable, NamesAreKebabCaseAndUniqueAndBreakKnownRequirements) {
  check_table(trace::Role::server);
  check_table(trace::Role::client);
}

TEST(DeviationTable, HasEveryRowOfEveryFamily) {
  for (const deviations::Family& family : deviations::kFamilies) {
    EXPECT_FALSE(family.rows().empty()) << family.file;
    const trace::Role side =
        family.file.starts_with("client/") ? trace::Role::client : trace::Role::server;
    for (const Deviation& row : family.rows()) {
      EXPECT_EQ(row.side, side) << row.name << " of " << family.file;
      ASSERT_NE(deviations::find(row.name, side), nullptr) << row.name << " of " << family.file;
    }
  }
}

/// Whether one of these messages has what the mutation changes.
bool changes_a_message(std::string_view mutation) {
  wire::Header header;
  header.read_list = {{0x60, {1, 4096, 0}}};
  header.write_list.add(std::vector<wire::Segment>{{2, 4095, 4096}, {3, 4096, 0}});
  header.write_list.add(std::vector<wire::Segment>{{4, 0, 0}});
  header.write_list.add({});
  wire::Draft full = wire::Draft::from(header, rpc_call(0x12345678, 0));
  full.xid = 0x12345678;
  wire::Draft with_reply_chunk = full;
  with_reply_chunk.reply_chunk = full.write_list.front();
  wire::Draft version_error;
  version_error.proc = static_cast<std::uint32_t>(wire::Procedure::error);
  version_error.error = static_cast<std::uint32_t>(wire::ErrorCode::vers);
  return std::ranges::any_of(std::array{full, with_reply_chunk, version_error},
                             [&](wire::Draft& each) { return apply_mutation(each, mutation); });
}

TEST(DeviationTable, MutationsAreThoseOfEngineMutate) {
  for (const Deviation* row : deviations::all(trace::Role::server)) {
    const auto& mutation = row->server.mutation;
    EXPECT_TRUE(!mutation.of || changes_a_message(mutation.name)) << row->name;
  }
  for (const Deviation* row : deviations::all(trace::Role::client)) {
    const auto& mutation = row->client.mutation;
    EXPECT_TRUE(!mutation.of || changes_a_message(mutation.name)) << row->name;
  }
}

TEST(DeviationTable, ASideHasItsOwnOnly) {
  EXPECT_EQ(deviations::find("grants-zero", trace::Role::client), nullptr);
  EXPECT_EQ(deviations::find("msgp-taken", trace::Role::server), nullptr);
  EXPECT_NE(deviations::find("msgp-taken", trace::Role::client), nullptr);
}

TEST(DeviationTable, ThoseOfDataServersLeaveTheMetadataServerAlone) {
  for (const Deviation* row : deviations::all(trace::Role::server)) {
    if (!row->at_data_servers) continue;
    deviations::ServerDeviations chosen;
    ASSERT_TRUE(chosen.add(row->name));
    ServerOptions options;
    chosen.install(options);
    EXPECT_EQ(options.interposer, nullptr) << row->name;
    ASSERT_TRUE(options.data_server_interposer) << row->name << " changes no message";
    EXPECT_NE(options.data_server_interposer(), options.data_server_interposer())
        << "data servers share an interposer, which knows connections by number";
  }
}

TEST(DeviationTable, UnknownNamesGetProposals) {
  deviations::ServerDeviations none;
  const auto added = none.add("grant-zero");
  ASSERT_FALSE(added);
  EXPECT_NE(added.error().find("grants-zero"), std::string::npos) << added.error();
  EXPECT_NE(deviations::find_or_propose("replies-twise", trace::Role::server)
                .error()
                .find("nearest are replies-twice"),
            std::string::npos);
}

std::string hex(View octets) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte octet : octets) {
    text += kDigits[std::to_integer<unsigned>(octet) >> 4];
    text += kDigits[std::to_integer<unsigned>(octet) & 15];
  }
  return text;
}

/// Everything that a server does on a connection, as lines of text.
class Transcript final : public trace::EventSink {
 public:
  void on_event(const trace::Event& event) override {
    if (event.actor == trace::Role::server) std::visit(*this, event.body);
  }
  void operator()(const trace::Accept& accept) { note("accept " + hex(accept.private_data)); }
  void operator()(const trace::Send& send) {
    note("send " + hex(send.bytes) +
         (send.invalidated ? " invalidates " + std::to_string(*send.invalidated) : ""));
  }
  void operator()(const trace::RdmaWrite& write) {
    note("write " + std::to_string(write.offset) + " " + hex(write.payload));
  }
  void operator()(const trace::RdmaRead& read) {
    note("read " + std::to_string(read.source_offset) + " " + std::to_string(read.length));
  }
  void operator()(const trace::Terminate&) { note("terminate"); }
  template <class Other>
  void operator()(const Other&) {}

  void note(std::string line) { lines.push_back(std::move(line)); }

  std::vector<std::string> lines;
};

/// With these a probe may stay unanswered for ever.
constexpr std::string_view kSilent[] = {"hangs-on-broken-list"};

/// Plays one fixed script to a server with or without a deviation. Silence is proved by the reply
/// to a NULL call behind: a second one, since a pulled call is answered after the first.
class DeviationTest : public StreamTest, public ::testing::WithParamInterface<const Deviation*> {
 protected:
  using Lines = std::vector<std::string>;
  static constexpr std::uint32_t kCredits = 8;
  static constexpr std::uint32_t kProbe = 0x70707070;

  /// None: a conforming server.
  Lines run(const Deviation* deviation);

  static void SetUpTestSuite() {
    if (!conforming) conforming = std::make_unique<Lines>();
  }
  static void TearDownTestSuite() { conforming.reset(); }

  static Bytes announced(std::uint32_t bytes, bool flag) {
    Bytes octets;
    wire::encode(wire::PrivateData{flag, bytes, bytes}, octets);
    return octets;
  }
  static Bytes octets_of(const wire::Draft& draft) {
    Bytes octets;
    wire::encode(draft, octets);
    return octets;
  }

  /// One connection: sends each message and proves what came of it. Gives up the whole script when
  /// a probe stays unanswered.
  void converse(Bytes private_data, const std::vector<Bytes>& messages, bool at_once = false) {
    if (given_up) return;
    RawClient client(*provider, *domain, url, std::move(private_data), 64, 16384, &transcript);
    wait([&] { return client.up || client.closed; });
    std::uint32_t probes = 0;
    const auto probe = [&] {
      if (client.closed) return;
      ++probes;
      client.send(draft_call(kProbe, rpc_call(kProbe, 0)));
      wait([&] { return client.closed || count_probes(client) >= probes; });
    };
    for (const Bytes& message : messages) {
      if (client.closed || given_up) break;
      client.send(message);
      if (!at_once) probe();
      if (!at_once) probe();
    }
    if (!given_up) probe();
    if (!given_up) probe();
    if (client.closed) transcript.note("closed: " + std::string(sentence(client.reason.code)));
  }

  /// One connection over TCP, which the server ends after its last reply because we have ended
  /// ours.
  void converse_over_tcp() {
    if (given_up) return;
    RawStream client(tcp_url);
    client.reads = false;
    client.send_record(rpc_call(70, 0), 16);
    client.send_record(rpc_call(71, 1, encoded(nfs3::GetattrArgs{file})));
    client.send_record(rpc_call(72, 0));
    Bytes answers;
    bool ended = false;
    wait([&] {
      client.pump();
      if (client.all_sent()) ::shutdown(client.socket.fd(), SHUT_WR);
      std::array<std::byte, 4096> part;
      ssize_t count = 0;
      while ((count = ::recv(client.socket.fd(), part.data(), part.size(), MSG_DONTWAIT)) > 0)
        answers.insert(answers.end(), part.begin(), part.begin() + count);
      ended = count == 0 || (errno != EAGAIN && errno != EINTR);
      return ended;
    });
    transcript.note("over tcp " + hex(answers));
  }

  static std::size_t count_probes(const RawClient& client) {
    std::size_t found = 0;
    for (const Received& received : client.received) {
      // Wherever the XID is by a deviation: every reply to a probe holds it in its RPC header.
      const std::string text = hex(received.octets);
      found +=
          text.find("70707070") != std::string::npos || text.find("70707071") != std::string::npos
              ? 1
              : 0;
    }
    return found;
  }

  /// A time-out is a failure, unless silence is what the deviation is about.
  template <class Done>
  void wait(Done&& done) {
    const auto limit = std::chrono::steady_clock::now() + (may_be_silent ? 1s : 60s);
    while (!done() && !given_up) {
      server->poll(1ms);
      given_up = server->failed() || std::chrono::steady_clock::now() > limit;
    }
    if (!given_up) return;
    EXPECT_TRUE(may_be_silent || server->failed()) << "nothing happened any more";
    transcript.note("no answer");
  }

  wire::Segment part(std::uint32_t at, std::uint32_t length) const {
    return {region->stag(), length, region->base() + at};
  }
  wire::Draft read(std::uint32_t xid, std::uint64_t offset, std::uint32_t count) const {
    return draft_call(xid, rpc_call(xid, 6, encoded(nfs3::ReadArgs{file, offset, count})));
  }
  Bytes write(std::uint32_t xid, std::uint32_t length, std::int32_t shift,
              const std::vector<std::uint32_t>& lengths) const;
  std::vector<Bytes> read_messages() const;
  std::vector<Bytes> write_messages() const;
  static std::vector<Bytes> wrong_messages();
  void open_region(fabric::Rights rights) {
    region = domain->allocate(16384, rights, 0x10000);
    const Bytes filling = pattern(16384, 3);
    std::copy(filling.begin(), filling.end(), region->bytes().begin());
  }

  static inline std::unique_ptr<Lines> conforming;
  Transcript transcript;
  bool given_up = false;
  bool may_be_silent = false;
  std::unique_ptr<fabric::Domain> domain;
  std::unique_ptr<fabric::Region> region;
  nfs3::FileHandle file;
};

Bytes DeviationTest::write(std::uint32_t xid, std::uint32_t length, std::int32_t shift,
                           const std::vector<std::uint32_t>& lengths) const {
  nfs3::WriteArgs args;
  args.file = file;
  args.count = length;
  Bytes arguments = encoded(args);
  wire::store_u32(arguments.data() + arguments.size() - 4, length);
  wire::Draft draft = draft_call(xid, rpc_call(xid, 7, arguments));
  const auto position =
      static_cast<std::uint32_t>(static_cast<std::int32_t>(draft.payload.size()) + shift);
  std::uint32_t at = 0;
  for (const std::uint32_t share : lengths) {
    draft.read_list.push_back({1, {position, part(at, share)}, false});
    at += share;
  }
  return octets_of(draft);
}

std::vector<Bytes> DeviationTest::read_messages() const {
  const auto chunk = [](std::vector<wire::Segment> segments) {
    return wire::DraftChunk{1, {}, std::move(segments), false};
  };
  std::vector<wire::Draft> drafts{read(20, 0, 1000), read(21, 0, 1001), read(22, 1 << 20, 100),
                                  read(23, 0, 100),  read(24, 0, 101),  read(25, 0, 5001),
                                  read(26, 0, 5001), read(27, 0, 1500)};
  drafts[0].write_list = {chunk({part(0, 500), part(500, 500)})};
  drafts[1].write_list = {chunk({part(1000, 1004), part(2004, 3000)})};
  drafts[2].write_list = {chunk({part(0, 100)})};  // behind the end: stays unused
  drafts[3].write_list = {chunk({part(0, 99)})};   // too small
  drafts[4].write_list = {chunk({})};              // asks for inline
  drafts[4].reply_chunk = chunk({part(6000, 8000)});
  drafts[5].reply_chunk = chunk({part(6000, 8000)});
  drafts[6].reply_chunk = chunk({part(6000, 100)});  // too small
  drafts.push_back(draft_call(28, rpc_call(28, 1, encoded(nfs3::GetattrArgs{file}))));
  drafts.back().write_list = {chunk({part(15000, 500)})};
  std::vector<Bytes> messages;
  for (const wire::Draft& draft : drafts) messages.push_back(octets_of(draft));
  return messages;
}

std::vector<Bytes> DeviationTest::write_messages() const {
  const Bytes null_call = rpc_call(44, 0);
  std::copy(null_call.begin(), null_call.end(), region->bytes().begin() + 8192);
  wire::Draft long_call = draft_call(44, {});
  long_call.proc = 1;
  long_call.read_list.push_back(
      {1, {0, part(8192, static_cast<std::uint32_t>(null_call.size()))}, false});
  nfs3::CreateArgs create;
  const Handle handle = storage->handle(storage->root());
  create.where = {nfs3::FileHandle(View(handle)), "name"};
  constexpr int kNameAt = 40 + 36 + 4;  // RPC header, handle, count word
  Bytes payload = rpc_call(45, 8, encoded(create));
  payload.erase(payload.begin() + kNameAt, payload.begin() + kNameAt + 4);
  wire::Draft reduced_name = draft_call(45, payload);
  std::memcpy(region->bytes().data() + 9000, "name", 4);
  reduced_name.read_list.push_back({1, {kNameAt, part(9000, 4)}, false});
  return {write(40, 1001, 0, {1001}), write(41, 1000, 0, {500, 500}), write(42, 1001, 0, {1000, 4}),
          write(43, 1000, 1, {1000}), octets_of(long_call),           octets_of(reduced_name),
          write(46, 1000, -4, {1000})};
}

std::vector<Bytes> DeviationTest::wrong_messages() {
  std::vector<wire::Draft> drafts(12, draft_call(7, rpc_call(7, 0)));
  drafts[1].vers = 2;
  drafts[2].proc = 2;
  drafts[3].proc = 3;
  drafts[4].proc = 4;
  drafts[5].proc = 9;
  drafts[6].xid = 8;
  drafts[7].payload.clear();
  drafts[7].proc = 1;
  drafts[8].payload = rpc_call(7, 1);
  drafts[9].cut_to = 20;
  drafts[10].write_list.push_back({2, {}, {}, false});
  drafts[11].write_list_end = 1;
  drafts[11].cut_to = 30;
  std::vector<Bytes> messages;
  for (const wire::Draft& draft : drafts) messages.push_back(octets_of(draft));
  return messages;
}

DeviationTest::Lines DeviationTest::run(const Deviation* deviation) {
  region.reset();
  server.reset();
  domain.reset();
  storage = std::make_unique<MemoryBackend>(
      [] {
        return Time{1'700'000'000, 0};
      },
      seeded_random(8));
  provider = *fabric::make_provider("iwarp", seeded_random(7));
  ServerOptions options;
  options.credits = kCredits;
  deviations::ServerDeviations chosen;
  if (deviation) {
    EXPECT_TRUE(chosen.add(deviation->name));
  }
  chosen.install(options);
  serve_all(options);
  domain = provider->make_domain();
  file = make_file("file", pattern(6000));
  transcript.lines.clear();
  given_up = false;
  may_be_silent = deviation && std::ranges::find(kSilent, deviation->name) != std::end(kSilent);

  open_region({false, true});
  converse(announced(1024, false), read_messages());
  converse(announced(2048, false), read_messages());
  const Bytes inline_read = octets_of(read(27, 0, 1500));
  const Bytes chunked_read = read_messages()[0];
  open_region({true, false});
  for (const Bytes& message : write_messages()) converse(announced(1024, false), {message});
  transcript.note("file " + hex(content("file")));
  converse(announced(1024, false),
           {write(50, 10, 0, {10}), write(51, 10, 0, {10}), write(52, 10, 0, {10}),
            write(53, 10, 0, {10}), write(54, 10, 0, {10}), write(55, 10, 0, {10})},
           true);
  converse(announced(1024, true), {write(56, 10, 0, {10})});
  open_region({true, false});
  const Bytes second_call = write(57, 10, 0, {10});
  const std::unique_ptr<fabric::Region> first = std::move(region);
  open_region({false, true});
  converse(announced(1024, true), {read_messages()[0], second_call});
  for (const Bytes& message : wrong_messages()) converse({}, {message});
  const Bytes plain = announced(4096, false);
  std::vector<Bytes> private_data(5, plain);
  private_data[0].insert(private_data[0].begin(), std::byte{9});
  private_data[1][5] |= std::byte{0x80};
  private_data[2][4] = std::byte{2};
  private_data[3][6] = std::byte{0};
  private_data[4].clear();
  for (const Bytes& data : private_data) converse(data, {inline_read});
  Bytes large = octets_of(draft_call(60, rpc_call(60, 0)));
  large.resize(1024);
  converse({}, {large});
  large.resize(4096);
  converse(plain, {large});
  const Bytes discarded = wrong_messages()[3];
  converse({}, std::vector<Bytes>(3 * kCredits, discarded));
  converse_over_tcp();
  return transcript.lines;
}

TEST_P(DeviationTest, CanBeSeenFromOutside) {
  if (conforming->empty()) *conforming = run(nullptr);
  const Lines seen = run(GetParam());
  const auto [ours, theirs] =
      std::mismatch(conforming->begin(), conforming->end(), seen.begin(), seen.end());
  ASSERT_FALSE(ours == conforming->end() && theirs == seen.end())
      << "the server behaves as if it had no deviation " << GetParam()->name;
  RecordProperty("conforming", ours == conforming->end() ? "nothing" : ours->substr(0, 200));
  RecordProperty("deviating", theirs == seen.end() ? "nothing" : theirs->substr(0, 200));
}

TEST_F(DeviationTest, ConformingServerRepeatsItself) {
  const Lines first = run(nullptr);
  EXPECT_GT(first.size(), 100U);
  EXPECT_EQ(std::count(first.begin(), first.end(), "no answer"), 0);
  EXPECT_EQ(first, run(nullptr));
}

/// Those that the script shows. The others need another client, for sessions one that keeps slots
/// and answers callbacks: the suite's.
std::vector<const Deviation*> visible_deviations() {
  std::vector<const Deviation*> visible;
  for (const Deviation* row : deviations::all(trace::Role::server)) {
    if (row->script_shows) visible.push_back(row);
  }
  return visible;
}

INSTANTIATE_TEST_SUITE_P(All, DeviationTest, ::testing::ValuesIn(visible_deviations()),
                         [](const auto& param) {
                           std::string name(param.param->name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace steertag::peer::testing
