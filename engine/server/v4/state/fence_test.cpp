// Which replies wait until data servers have heeded a revocation.
#include "server/v4/state/fence.h"

#include <set>

#include "nfs/nfs3_procedures.h"
#include "server/nfs3/nfs3_program.h"
#include "server/testing/v4_state_fixture.h"
#include "server/v4/nfs4_program.h"

namespace steertag::peer::testing {
namespace {

constexpr std::uint32_t kReadAndWrite = nfs4::OPEN4_SHARE_ACCESS_BOTH;
constexpr DataServerMask kTwo = 0b101;
const std::set<std::uint64_t> kNone;
const std::set<std::uint64_t> kFirst{1};

/// Data servers that acknowledge nothing.
struct DeafDataServers final : Fence {
  void revoke(const Handle& file, DataServerMask data_servers) override {
    files.emplace_back(file, data_servers);
  }
  std::uint64_t last() const override { return files.size(); }
  void pending(const Handle& file, Tickets& tickets) const override {
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (files[i].first == file) tickets.push_back(i + 1);
    }
  }
  void all_pending(Tickets& tickets) const override {
    for (std::size_t i = 0; i < files.size(); ++i) tickets.push_back(i + 1);
  }
  bool passed(std::uint64_t /*ticket*/) const override { return false; }

  std::vector<std::pair<Handle, DataServerMask>> files;
};

class FenceTest : public V4StateTest {
 protected:
  FenceTest() {
    Nfs4StateOptions options;
    options.clock = [this] { return now; };
    options.random = seeded_random(5);
    options.fence = fence;
    options.mandatory_locks = true;
    program = std::make_unique<Nfs4Program>(memory, options);
    acts_on = &program->state();
    file = make_file("f");
    client = mounted();
    stateid = open(client, "f", kReadAndWrite).stateid;
    granted() = kTwo;
  }
  DataServerMask& granted() { return program->state().tables().find_file(file)->granted; }

  /// What the reply to a COMPOUND of SEQUENCE and these operations waits for.
  template <class... Operations>
  std::set<std::uint64_t> tickets(std::uint32_t sequence_id, const Operations&... operations) {
    Bytes octets;
    wire::Writer writer(octets);
    nfs4::CompoundArgs{"test", 1}.encode(writer);
    nfs4::CallWriter<nfs4::Opnum> calls(octets);
    nfs4::SequenceArgs sequence = sequence_args(client, sequence_id);
    sequence.sa_cachethis = true;
    calls.add(nfs4::Opnum::OP_SEQUENCE, sequence);
    (calls.add(operations.first, operations.second), ...);
    const Caller caller{client.uid, client.uid, {}};
    const ConnectionInfo info{client.connection, client.rdma, client.host, client.backchannel};
    wire::Reader reader(octets);
    ReplyPayload answer;
    EXPECT_EQ(program->call(nfs4::NFSPROC4_COMPOUND, reader, {caller, info}, answer),
              rpc::AcceptStatus::SUCCESS);
    EXPECT_EQ(wire::load_u32(answer.stream().data()), 0U) << "the status of the COMPOUND";
    return {answer.tickets().begin(), answer.tickets().end()};
  }
  std::pair<nfs4::Opnum, nfs4::PutfhArgs> put(const Handle& handle) {
    return {nfs4::Opnum::OP_PUTFH, {nfs4::FileHandle(View(handle))}};
  }
  std::pair<nfs4::Opnum, nfs4::CloseArgs> closing() {
    return {nfs4::Opnum::OP_CLOSE, {0, stateid}};
  }

  std::shared_ptr<DeafDataServers> fence = std::make_shared<DeafDataServers>();
  std::unique_ptr<Nfs4Program> program;
  Handle file{};
  Actor client;
  nfs4::StateId stateid{};
};

TEST_F(FenceTest, ACloseWaitsAndSoDoesItsRetry) {
  EXPECT_EQ(tickets(1, put(file), closing()), kFirst);
  EXPECT_EQ(fence->files, (std::vector{std::pair{file, kTwo}}));
  EXPECT_EQ(tickets(1, put(file), closing()), kFirst);
  EXPECT_EQ(fence->files.size(), 1U) << "the retry is not executed";
  EXPECT_EQ(program->pending(), Tickets{1});
}

TEST_F(FenceTest, WhatConcernsTheFileWaitsAndNothingElseDoes) {
  EXPECT_EQ(close(client, stateid, file), Status::NFS4_OK);
  EXPECT_EQ(tickets(1, put(root())), kNone);
  EXPECT_EQ(tickets(2, put(file)), kFirst);
  const std::pair<nfs4::Opnum, nfs4::LookupArgs> name{nfs4::Opnum::OP_LOOKUP, {"f"}};
  EXPECT_EQ(tickets(3, put(root()), name), kFirst);
}

TEST_F(FenceTest, WithoutGrantsNothingIsRevoked) {
  granted() = 0;
  EXPECT_EQ(tickets(1, put(file), closing()), kNone);
  EXPECT_EQ(fence->last(), 0U);
}

TEST_F(FenceTest, ADowngradeAndADenialRevoke) {
  nfs4::OpenDowngradeArgs args;
  args.open_stateid = open(client, "f", nfs4::OPEN4_SHARE_ACCESS_READ).stateid;
  args.share_access = nfs4::OPEN4_SHARE_ACCESS_READ;
  EXPECT_EQ(run(op_open_downgrade, args, client, file).status, Status::NFS4_OK);
  EXPECT_EQ(fence->last(), 1U);
  granted() = kTwo;
  Actor other = mounted("other", 2);
  open(other, "f", nfs4::OPEN4_SHARE_ACCESS_READ, nfs4::OPEN4_SHARE_DENY_WRITE);
  EXPECT_EQ(fence->last(), 2U);
}

TEST_F(FenceTest, AMandatoryLockRevokes) {
  EXPECT_EQ(run(op_lock, lock_args(client, stateid, 0, 1, true), client, file).status,
            Status::NFS4_OK);
  EXPECT_EQ(fence->last(), 1U);
}

TEST_F(FenceTest, TheEndOfALeaseRevokesInTheBackground) {
  now += 2 * kLeaseTime;
  program->tend();
  EXPECT_EQ(fence->last(), 1U);
  EXPECT_EQ(program->state().tables().find_file(file), nullptr);
}

TEST_F(FenceTest, AChangeByVersion3Waits) {
  Nfs3Program version3(
      memory,
      [this](const Handle& handle) {
        return program->state().check_change(handle, std::nullopt) != Status::NFS4_OK;
      },
      fence.get());
  nfs3::SetattrArgs args;
  args.object = nfs3::FileHandle(View(file));
  args.new_attributes.mode = 0600;
  Bytes octets;
  wire::Writer writer(octets);
  args.encode(writer);
  const Caller caller{0, 0, {}};
  const ConnectionInfo info;
  wire::Reader reader(octets);
  ReplyPayload answer;
  const auto setattr = static_cast<std::uint32_t>(nfs3::Procedure::NFSPROC3_SETATTR);
  EXPECT_EQ(version3.call(setattr, reader, {caller, info}, answer), rpc::AcceptStatus::SUCCESS);
  EXPECT_EQ(wire::load_u32(answer.stream().data()), 0U);
  EXPECT_EQ(answer.tickets(), Tickets{1});
}

}  // namespace
}  // namespace steertag::peer::testing
