// A metadata server and data servers that know each other by the control protocol alone.
#include <future>

#include "net/unix_socket.h"
#include "server/testing/temporary_directory.h"
#include "server/testing/v4_state_fixture.h"
#include "server/v4/pnfs/control/data_control.h"
#include "server/v4/pnfs/control/metadata_control.h"
#include "server/v4/state/layouts.h"

namespace steertag::peer::testing {
namespace {

using control::DataControl;
using control::MetadataControl;
using std::chrono::milliseconds;

constexpr std::uint32_t kServers = 2;
constexpr std::uint32_t kBoth = nfs4::OPEN4_SHARE_ACCESS_BOTH;
constexpr milliseconds kLease{10'000};
constexpr ByteRange kWholeFile{0, ~std::uint64_t{0}};
constexpr int kMostRounds = 2000;  // of a millisecond

class ControlTest : public V4StateTest {
 protected:
  ControlTest() {
    begin();
    file = make_file("f");
    client = mounted();
    stateid = open(client, "f", kBoth).stateid;
    stateid.seqid = 0;
    Client& record = *state->tables().find_client(client.clientid);
    LayoutState& layout = state->tables().add_layout(record, *state->tables().find_file(file));
    grant_range(layout, nfs4::LayoutIomode::LAYOUTIOMODE4_RW, kWholeFile);
  }
  ~ControlTest() override { state.reset(); }

  /// Starts a metadata server for the state there is, as after a restart.
  void begin() {
    metadata.reset();
    at_metadata = std::make_shared<DataServers>(StripePattern{kServers, 4096, false, false},
                                                seeded_random(++starts));
    auto opened =
        MetadataControl::open({path(), kLease, clock(), seeded_random(++starts),
                               [this](const std::string& line) { lines.push_back(line); }},
                              at_metadata);
    ASSERT_TRUE(opened) << opened.error();
    metadata = std::move(*opened);
    state->tables().options.fence = metadata;
    metadata->serve(*state, memory);
  }
  std::string path() const { return folder / "control"; }
  DeadlineClock clock() {
    return [this] { return now; };
  }

  std::unique_ptr<DataControl> data_server(std::uint32_t index,
                                           const std::string& address = "192.0.2.1.78.81") {
    auto made = std::make_shared<DataServers>(PnfsPolicy{});
    auto opened = DataControl::open(
        {path(), index, clock(), [this](const std::string& line) { lines.push_back(line); }},
        at_data_server = made);
    EXPECT_TRUE(opened);
    (*opened)->join({{"rdma", address}});
    return std::move(*opened);
  }
  /// Both sides work until this holds; false: it never did.
  bool until(const std::function<bool()>& reached, DataControl* one = nullptr,
             DataControl* other = nullptr) {
    for (int round = 0; round < kMostRounds && !reached(); ++round) {
      metadata->poll(milliseconds{1});
      for (DataControl* each : {one, other}) {
        if (each) each->poll(milliseconds{0});
      }
    }
    return reached();
  }
  std::unique_ptr<DataControl> joined(std::uint32_t index) {
    auto made = data_server(index);
    EXPECT_TRUE(until([&] { return made->has_joined(); }, made.get()));
    return made;
  }

  /// What a data server says to a client, while the metadata server works.
  Status decide(DataControl& at, AccessMode want = AccessMode::write) {
    const LayoutWish wish{file, client.owner, want, stateid, ByteRange{0, 99}};
    auto decided = std::async(std::launch::async, [&] { return at.decide(wish).status; });
    while (decided.wait_for(milliseconds{0}) != std::future_status::ready)
      metadata->poll(milliseconds{1});
    return decided.get();
  }
  /// The same without a metadata server that could answer.
  Status decide_alone(DataControl& at) {
    return at.decide({file, client.owner, AccessMode::write, stateid, ByteRange{0, 99}}).status;
  }
  bool all_passed() const {
    Tickets tickets;
    metadata->all_pending(tickets);
    return tickets.empty();
  }
  bool was_told(std::string_view part) const {
    return std::ranges::any_of(
        lines, [&](const auto& line) { return line.find(part) != std::string::npos; });
  }

  TemporaryDirectory folder;
  std::vector<std::string> lines;
  std::shared_ptr<DataServers> at_metadata;
  std::shared_ptr<DataServers> at_data_server;  // of the one that was made last
  std::shared_ptr<MetadataControl> metadata;
  Handle file{};
  Actor client;
  nfs4::StateId stateid{};
};

TEST_F(ControlTest, AGrantHoldsUntilTheCloseAndTheCloseWaitsForTheAcknowledgement) {
  const auto there = joined(0);
  EXPECT_EQ(decide(*there), Status::NFS4_OK);
  EXPECT_EQ(decide_alone(*there), Status::NFS4_OK) << "it is asked for once";
  EXPECT_EQ(metadata->last(), 0U);
  EXPECT_EQ(close(client, stateid, file), Status::NFS4_OK);
  EXPECT_EQ(metadata->last(), 1U);
  Tickets tickets;
  metadata->pending(file, tickets);
  EXPECT_EQ(tickets, Tickets{1});
  metadata->poll(milliseconds{0});
  EXPECT_FALSE(metadata->passed(1));
  EXPECT_TRUE(until([&] { return metadata->passed(1); }, there.get()));
  EXPECT_TRUE(all_passed());
  EXPECT_EQ(decide(*there), Status::NFS4ERR_PNFS_NO_LAYOUT);
}

TEST_F(ControlTest, ADataServerKnowsTheLeaseOfItsMetadataServer) {
  EXPECT_EQ(data_server(1)->lease(), milliseconds{0});
  EXPECT_EQ(joined(0)->lease(), kLease);
}

TEST_F(ControlTest, OnlyDataServersThatWereAskedAreWaitedFor) {
  const auto there = joined(0);
  const auto other = joined(1);
  EXPECT_EQ(decide(*there), Status::NFS4_OK);
  EXPECT_EQ(close(client, stateid, file), Status::NFS4_OK);
  EXPECT_TRUE(until([&] { return metadata->passed(1); }, there.get()));
}

TEST_F(ControlTest, WhatWasNotGrantedIsNotRevoked) {
  const auto there = joined(0);
  EXPECT_EQ(close(client, stateid, file), Status::NFS4_OK);
  EXPECT_EQ(metadata->last(), 0U);
}

TEST_F(ControlTest, AStateidOfAnotherKindOrClientIsRefusedAndAskedAgain) {
  const auto there = joined(0);
  client.owner = "another";
  EXPECT_EQ(decide(*there), Status::NFS4ERR_BAD_STATEID);
  client.owner = "client";
  EXPECT_EQ(decide(*there), Status::NFS4_OK);
}

TEST_F(ControlTest, TheDeadAreNotWaitedFor) {
  auto there = joined(0);
  EXPECT_EQ(decide(*there), Status::NFS4_OK);
  EXPECT_EQ(close(client, stateid, file), Status::NFS4_OK);
  there.reset();
  EXPECT_TRUE(until([&] { return metadata->passed(1); }));
  EXPECT_TRUE(was_told("data server 1 is gone"));
}

TEST_F(ControlTest, TheSilentAreCutOffAfterALeaseWithoutAWordAndHaveFencedThemselves) {
  const auto there = joined(0);
  EXPECT_EQ(decide(*there), Status::NFS4_OK);
  now += kLease / 2;
  EXPECT_EQ(decide_alone(*there), Status::NFS4_OK);
  EXPECT_EQ(close(client, stateid, file), Status::NFS4_OK);
  now += kLease / 2 - milliseconds{1};
  metadata->poll(milliseconds{0});
  EXPECT_FALSE(metadata->passed(1));
  EXPECT_EQ(decide_alone(*there), Status::NFS4_OK) << "it has not read the Revoke";
  now += milliseconds{1};
  EXPECT_TRUE(until([&] { return metadata->passed(1); }));
  EXPECT_EQ(decide_alone(*there), Status::NFS4ERR_PNFS_NO_LAYOUT);
  EXPECT_TRUE(was_told("it acknowledges nothing, and is cut off"));
  EXPECT_TRUE(until([&] { return was_told("no metadata server"); }, there.get()));
  now += control::kLongestJoinPause;
  EXPECT_TRUE(until([&] { return there->has_joined(); }, there.get()));
}

TEST_F(ControlTest, WhoIsThrownOutJoinsAgainAndItsGrantsAreWaitedForAllTheSame) {
  auto socket = net::connect_unix(path());
  ASSERT_TRUE(socket);
  Bytes octets;
  control::append(control::Hello{control::kVersion, 0, {{"rdma", "192.0.2.1.78.81"}}}, octets);
  control::Ask ask{1, file, client.owner, stateid, control::Deed::write, false, 0, 0};
  control::append(ask, octets);
  ASSERT_GT(::send(socket->fd(), octets.data(), octets.size(), 0), 0);
  EXPECT_TRUE(until([&] { return was_told("data server 1 is here"); }));
  const Bytes broken(4, std::byte{0xff});
  ASSERT_GT(::send(socket->fd(), broken.data(), broken.size(), 0), 0);
  EXPECT_TRUE(until([&] { return was_told("data server 1 is gone: it sent a message of"); }));
  const auto again = joined(0);
  EXPECT_EQ(close(client, stateid, file), Status::NFS4_OK);
  for (int round = 0; round < 4; ++round) {
    again->poll(milliseconds{0});
    metadata->poll(milliseconds{0});
  }
  EXPECT_FALSE(metadata->passed(1)) << "the first connection may stand for grants";
  now += kLease;
  EXPECT_TRUE(until([&] { return metadata->passed(1); }, again.get()));
}

TEST_F(ControlTest, PongsAreWithheldWhileAcknowledgementsAreDue) {
  const auto there = joined(0);
  EXPECT_EQ(decide(*there), Status::NFS4_OK);
  now += kLease / 2;
  there->poll(milliseconds{0});  // its Ping
  EXPECT_EQ(close(client, stateid, file), Status::NFS4_OK);
  metadata->poll(milliseconds{0});
  now += kLease / 2;
  EXPECT_TRUE(until([&] { return metadata->passed(1); }));
}

TEST_F(ControlTest, WithPongsGrantsHoldForLongerThanALease) {
  const auto there = joined(0);
  EXPECT_EQ(decide(*there), Status::NFS4_OK);
  for (int i = 0; i < 2 * control::kPingsPerLease; ++i) {
    now += kLease / control::kPingsPerLease;
    for (int round = 0; round < 4; ++round) {
      there->poll(milliseconds{0});
      metadata->poll(milliseconds{0});
    }
  }
  EXPECT_EQ(decide_alone(*there), Status::NFS4_OK);
}

TEST_F(ControlTest, WithoutItsMetadataServerADataServerFencesAllAfterALease) {
  const auto there = joined(0);
  EXPECT_EQ(decide(*there), Status::NFS4_OK);
  state->tables().options.fence.reset();
  metadata.reset();
  there->poll(milliseconds{1});
  EXPECT_FALSE(there->has_joined());
  EXPECT_EQ(decide_alone(*there), Status::NFS4_OK);
  now += kLease;
  EXPECT_EQ(decide_alone(*there), Status::NFS4ERR_PNFS_NO_LAYOUT);
}

TEST_F(ControlTest, AnotherMetadataServerEndsWhatTheEarlierOneHasGranted) {
  const auto there = joined(0);
  EXPECT_EQ(decide(*there), Status::NFS4_OK);
  const nfs4::FileHandle before = at_metadata->handle({file, 0});
  EXPECT_TRUE(at_data_server->resolve(before.view()));
  state->tables().options.fence.reset();
  begin();
  EXPECT_TRUE(until([&] { return was_told("no metadata server"); }, there.get()));
  now += control::kLongestJoinPause;
  EXPECT_TRUE(until([&] { return there->has_joined(); }, there.get()));
  EXPECT_FALSE(at_data_server->resolve(before.view()));
  EXPECT_TRUE(at_data_server->resolve(at_metadata->handle({file, 0}).view()));
  EXPECT_EQ(close(client, stateid, file), Status::NFS4_OK);
  EXPECT_EQ(decide(*there), Status::NFS4ERR_PNFS_NO_LAYOUT);
}

TEST_F(ControlTest, GraceLastsUntilAllDataServersHaveComeOrALeaseHasPassed) {
  const std::string recovery = folder / "recovery";
  write_host_file(recovery, "1 636c69656e74\n");  // "client"
  for (const bool all_come : {true, false}) {
    state->tables().options.fence.reset();
    start(recovery);
    begin();
    client = mounted();  // with its RECLAIM_COMPLETE
    const auto there = joined(0);
    EXPECT_TRUE(state->in_grace()) << "the second may heed what an earlier run has granted";
    if (all_come) {
      const auto other = joined(1);
      EXPECT_FALSE(state->in_grace());
      open(client, "f", kBoth);  // so that the file of clients names it again
    } else {
      pass(kLeaseTime);
      EXPECT_FALSE(state->in_grace());
    }
  }
}

TEST_F(ControlTest, LayoutsNeedAllAddressesAndTheseMayChange) {
  const auto there = joined(0);
  EXPECT_FALSE(at_metadata->complete());
  auto other = joined(1);
  EXPECT_TRUE(at_metadata->complete());
  const auto third = data_server(2);
  EXPECT_TRUE(until([&] { return was_told("it refuses: there are 2 data servers"); }, third.get()));
  const auto twin = data_server(1);
  EXPECT_TRUE(until([&] { return was_told("data server 2 is here already"); }, twin.get()));
  other.reset();
  EXPECT_TRUE(until([&] { return was_told("data server 2 is gone"); }));
  const auto moved = data_server(1, "192.0.2.9.78.81");
  EXPECT_TRUE(
      until([&] { return was_told("data server 2 is here, at another address"); }, moved.get()));
}

TEST_F(ControlTest, ABrokenPeerCostsItsConnectionAlone) {
  const auto there = joined(0);
  const auto begins_with = [&](const Bytes& octets, std::string_view line) {
    auto socket = net::connect_unix(path());
    ASSERT_TRUE(socket);
    EXPECT_EQ(::send(socket->fd(), octets.data(), octets.size(), 0),
              static_cast<ssize_t>(octets.size()));
    EXPECT_TRUE(until([&] { return was_told(line); })) << line;
  };
  begins_with(Bytes(4, std::byte{0xff}), "it sent a message of 4294967295 octets");
  begins_with(Bytes(8, std::byte{0}), "a message without a kind");
  Bytes ping;
  control::append(control::Ping{1}, ping);
  begins_with(ping, "its first message was no Hello");
  Bytes twice;
  const control::Hello hello{control::kVersion, 1, {{"tcp", "192.0.2.1.8.1"}}};
  control::append(hello, twice);
  control::append(hello, twice);
  begins_with(twice, "it said Hello twice");
  Bytes early;
  control::append(hello, early);
  control::append(control::Acknowledgement{1}, early);
  now += kLease;
  metadata->poll(milliseconds{0});
  begins_with(early, "it acknowledged what was not revoked");
  auto silent = net::connect_unix(path());
  ASSERT_TRUE(silent);
  metadata->poll(milliseconds{0});
  now += control::kHelloPatience;
  EXPECT_TRUE(until([&] { return was_told("it did not say Hello within 5000 ms"); }));
  EXPECT_EQ(decide(*there), Status::NFS4_OK);
}

TEST_F(ControlTest, AWriteAtAnotherModeAndADenialTakeGrantsBack) {
  const auto there = joined(0);
  EXPECT_EQ(decide(*there), Status::NFS4_OK);
  EXPECT_EQ(state->check_change(file, client.clientid), Status::NFS4_OK);
  EXPECT_EQ(metadata->last(), 1U);
  EXPECT_TRUE(until([&] { return metadata->passed(1); }, there.get()));
  EXPECT_EQ(decide(*there), Status::NFS4_OK);
}

}  // namespace
}  // namespace steertag::peer::testing
