// What the bench of creates does and counts, by a clock that only the answers move.
#include "client/bench/create_bench.h"

#include <set>

#include "client/testing/client_session_fixture.h"

namespace steertag::peer::testing {
namespace {

/// Two servers, and a session for each. They keep names, and an answer takes a millisecond.
class CreateBenchTest : public ClientSessionTest {
 protected:
  CreateBenchTest()
      : second_transport([this](View call) { return answer_creates(call, 1); }),
        second_schedule(
            second_transport, [this] { return transport.now; }, 10s),
        second_session(second_schedule, options()) {
    transport.answer = [this](View call) { return answer_creates(call, 0); };
    target = 31;
    transport.calls = second_transport.calls = 32;
  }
  CreateBench bench() {
    return {{{&schedule, &session, handle(1)}, {&second_schedule, &second_session, handle(2)}},
            [this] { return now; },
            [] { return ProcessorTime{}; }};
  }
  static RemoteHandle handle(std::uint8_t number) {
    const std::array<std::byte, 1> octets{static_cast<std::byte>(number)};
    return RemoteHandle(View(octets));
  }

  Bytes answer_creates(View call, std::size_t server) {
    now += 1ms;
    return reply_by(
        call, [this, server](wire::Reader& reader, Opnum number, nfs4::ReplyWriter<Opnum>& writer) {
          return run(reader, number, server, writer);
        });
  }
  Status run(wire::Reader& reader, Opnum number, std::size_t server,
             nfs4::ReplyWriter<Opnum>& writer) {
    const Status wanted = take_status(number);
    switch (number) {
      case Opnum::OP_LOOKUP: {
        const auto args = decoded<nfs4::LookupArgs>(reader);
        const bool there = names[server].contains(std::string(args.objname));
        const Status status = there ? Status::NFS4_OK : Status::NFS4ERR_NOENT;
        writer.add_status(number, status);
        note(number, server);
        return status;
      }
      case Opnum::OP_OPEN: {
        const auto args = decoded<nfs4::OpenArgs>(reader);
        nfs4::OpenResult result;
        result.status = wanted;
        result.resok4.stateid = {1, {std::byte{9}}};
        if (wanted == Status::NFS4_OK) names[server].insert(std::string(args.claim.file));
        most_names = std::max(most_names, names[server].size());
        owners.insert(Bytes(args.owner.owner.begin(), args.owner.owner.end()));
        writer.add(number, result);
        note(number, server);
        return wanted;
      }
      case Opnum::OP_GETFH: {
        nfs4::GetfhResult result;
        result.resok4.object = nfs4::FileHandle(handle(5).view());
        writer.add(number, result);
        return wanted;
      }
      case Opnum::OP_SETATTR:
        decoded<nfs4::SetattrArgs>(reader);
        add<nfs4::SetattrResult>(number, wanted, writer);
        note(number, server);
        return wanted;
      case Opnum::OP_CLOSE: {
        const auto args = decoded<nfs4::CloseArgs>(reader);
        EXPECT_EQ(args.open_stateid, (nfs4::StateId{1, {std::byte{9}}}));
        add<nfs4::CloseResult>(number, wanted, writer);
        note(number, server);
        return wanted;
      }
      case Opnum::OP_REMOVE: {
        const auto args = decoded<nfs4::RemoveArgs>(reader);
        EXPECT_EQ(names[server].erase(std::string(args.target)), 1U) << args.target;
        add<nfs4::RemoveResult>(number, wanted, writer);
        return wanted;
      }
      default:
        execute(reader, number, wanted, writer);
        return wanted;
    }
  }
  /// A result with nothing but its status.
  template <class Result>
  static void add(Opnum number, Status status, nfs4::ReplyWriter<Opnum>& writer) {
    Result result;
    result.status = status;
    writer.add(number, result);
  }
  void note(Opnum number, std::size_t server) { done.emplace_back(number, server); }

  std::chrono::steady_clock::time_point now{};
  FakeTransport second_transport;
  CallSchedule second_schedule;
  ClientSession second_session;
  std::set<std::string> names[2];
  std::size_t most_names = 0;
  std::set<Bytes> owners;
  std::vector<std::pair<Opnum, std::size_t>> done;
};

TEST_F(CreateBenchTest, CreatesAtOnePlaceAfterTheOther) {
  ASSERT_TRUE(bench().measure({.places = 2, .duration = 1ms}));
  const std::vector<std::pair<Opnum, std::size_t>> expected{
      {Opnum::OP_LOOKUP, 0}, {Opnum::OP_OPEN, 0}, {Opnum::OP_SETATTR, 0}, {Opnum::OP_CLOSE, 0},
      {Opnum::OP_LOOKUP, 1}, {Opnum::OP_OPEN, 1}, {Opnum::OP_SETATTR, 1}, {Opnum::OP_CLOSE, 1}};
  EXPECT_EQ(done, expected);
  EXPECT_TRUE(names[0].empty() && names[1].empty()) << "the files are removed";
}

TEST_F(CreateBenchTest, CountsWholeCreates) {
  CreateBench both = bench();
  ASSERT_TRUE(both.measure({.places = 2, .duration = 1ms}));  // makes the sessions
  const auto measured = both.measure({.places = 2, .duration = 80ms});
  ASSERT_TRUE(measured) << measured.error().message();
  EXPECT_EQ(measured->calls, 10U) << "eight answers for each";
  EXPECT_EQ(measured->elapsed, 80ms) << "without the REMOVEs";
  EXPECT_NEAR(static_cast<double>(measured->times.quantile(1).count()), 8e6, 8e6 / 64);
}

TEST_F(CreateBenchTest, SomeAreUnderWayWithAnOwnerEach) {
  CreateBench both = bench();
  ASSERT_TRUE(both.measure({.places = 1, .duration = 1ms}));
  owners.clear();
  const auto measured = both.measure({.places = 1, .calls = 4, .duration = 80ms});
  ASSERT_TRUE(measured) << measured.error().message();
  EXPECT_EQ(owners.size(), 4U);
  EXPECT_EQ(measured->calls, 23U) << "three are still under way when the time has passed";
  EXPECT_NEAR(static_cast<double>(measured->times.quantile(0.5).count()), 16e6, 16e6 / 64);
  EXPECT_TRUE(names[1].empty());
}

TEST_F(CreateBenchTest, GoesOnUntilThereAreEnough) {
  EXPECT_EQ(bench().measure({.duration = 10ms, .least_calls = 20})->calls, 20U);
}

TEST_F(CreateBenchTest, RefusalEndsTheMeasurement) {
  next_status[Opnum::OP_SETATTR] = {Status::NFS4_OK, Status::NFS4ERR_PERM};
  const auto measured = bench().measure({.calls = 3, .duration = 100ms});
  ASSERT_FALSE(measured);
  EXPECT_EQ(measured.error().status_name, "NFS4ERR_PERM");
}

TEST_F(CreateBenchTest, FileInTheWayIsAnError) {
  names[0].insert("create-0");
  const auto measured = bench().measure({.duration = 1ms});
  ASSERT_FALSE(measured);
  EXPECT_EQ(measured.error().code, FileErrc::changed);
}

}  // namespace
}  // namespace steertag::peer::testing
