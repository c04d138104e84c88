// What the interposer of a deviating server knows of sessions, from COMPOUNDs and their replies.
#include "deviations/server/session_history.h"

#include <gtest/gtest.h>

#include "deviations/server/compound.h"
#include "deviations/server/recall.h"
#include "nfs/binding.h"
#include "nfs/v4/compound.h"
#include "rpc/message.h"

namespace steertag::deviations {
namespace {

using nfs4::Opnum;
using nfs4::Status;

constexpr nfs4::SessionId kFirst{std::byte{1}};
constexpr nfs4::SessionId kSecond{std::byte{2}};

/// One COMPOUND of minor version 1, and its reply.
class Exchange {
 public:
  Exchange() : operations_(start_call(call_)), results_(start_reply(reply_.stream()), "") {}

  template <class Args, class Result>
  Exchange& add(Opnum number, const Args& args, const Result& result) {
    operations_.add(number, args);
    if (results_.status() == Status::NFS4_OK) results_.add(number, result);
    return *this;
  }
  Exchange& sequence(const nfs4::SessionId& id, std::uint32_t number,
                     Status status = Status::NFS4_OK, std::uint32_t slot = 0) {
    nfs4::SequenceArgs args;
    args.sa_sessionid = id;
    args.sa_sequenceid = number;
    args.sa_slotid = slot;
    nfs4::SequenceResult result;
    result.status = status;
    return add(Opnum::OP_SEQUENCE, args, result);
  }
  Exchange& create(std::uint64_t client, const nfs4::SessionId& id) {
    nfs4::CreateSessionArgs args;
    args.csa_clientid = client;
    nfs4::CreateSessionResult result;
    result.resok4.csr_sessionid = id;
    return add(Opnum::OP_CREATE_SESSION, args, result);
  }
  Exchange& destroy(const nfs4::SessionId& id, Status status = Status::NFS4_OK) {
    nfs4::DestroySessionResult result;
    result.status = status;
    return add(Opnum::OP_DESTROY_SESSION, nfs4::DestroySessionArgs{id}, result);
  }

  View call() const { return call_; }
  peer::ReplyPayload& reply() { return reply_; }
  /// The server sees the call and answers it, over this connection.
  void pass(SessionTable& table, std::uint64_t connection = 1) {
    table.note_call(call_);
    table.note_reply({connection, true, call_, reply_});
  }

 private:
  static Bytes& start_call(Bytes& out) {
    rpc::CallHeader header;
    header.program = nfs::kNfsProgram;
    header.version = nfs::kNfsVersion4;
    header.procedure = nfs4::NFSPROC4_COMPOUND;
    wire::Writer writer(out);
    header.encode(writer);
    nfs4::CompoundArgs{"", 1}.encode(writer);
    return out;
  }
  static Bytes& start_reply(Bytes& out) {
    wire::Writer writer(out);
    rpc::ReplyHeader::accepted(0, rpc::AcceptStatus::SUCCESS).encode(writer);
    return out;
  }

  Bytes call_;
  peer::ReplyPayload reply_;
  nfs4::CallWriter<Opnum> operations_;
  nfs4::ReplyWriter<Opnum> results_;
};

TEST(SessionTable, ARetryHasTheSequenceIdThatSucceededLast) {
  SessionTable table;
  Exchange().create(7, kFirst).pass(table);
  Exchange first;
  first.sequence(kFirst, 1).pass(table);
  EXPECT_FALSE(table.slot_of(first.call())->retried);
  Exchange failed;
  failed.sequence(kFirst, 9, Status::NFS4ERR_SEQ_MISORDERED).pass(table);
  EXPECT_FALSE(table.slot_of(failed.call())->retried);
  table.note_call(first.call());
  EXPECT_TRUE(table.slot_of(first.call())->retried) << "the one that failed does not count";
  Exchange other;
  table.note_call(other.sequence(kFirst, 1, Status::NFS4_OK, 3).call());
  EXPECT_FALSE(table.slot_of(other.call())->retried) << "another slot";
}

TEST(SessionTable, SessionsHaveTheConnectionsThatUseThem) {
  SessionTable table;
  Exchange().create(7, kFirst).pass(table, 1);
  Exchange().create(7, kSecond).pass(table, 1);
  Exchange().sequence(kFirst, 1).pass(table, 2);
  Exchange().sequence(kFirst, 9, Status::NFS4ERR_SEQ_MISORDERED).pass(table, 3);
  EXPECT_EQ(table.find(kFirst)->connections, (std::set<std::uint64_t>{1, 2}));
  EXPECT_TRUE(table.any_other_has(*table.find(kFirst), 1));
  EXPECT_FALSE(table.any_other_has(*table.find(kFirst), 2));
}

TEST(SessionTable, ADestroyedSessionIsForgotten) {
  SessionTable table;
  Exchange().create(7, kFirst).pass(table);
  Exchange().create(8, kSecond).pass(table);
  Exchange().sequence(kFirst, 1).destroy(kSecond, Status::NFS4ERR_DELAY).pass(table);
  EXPECT_EQ(table.of_other_client(7), kSecond);
  Exchange().sequence(kFirst, 2).destroy(kSecond).pass(table);
  EXPECT_EQ(table.find(kSecond), nullptr);
  EXPECT_EQ(table.of_other_client(7), std::nullopt);
}

TEST(SessionTable, OtherMessagesChangeNothing) {
  SessionTable table;
  const Bytes noise(40, std::byte{0xff});
  table.note_call(noise);
  peer::ReplyPayload reply;
  reply.stream() = noise;
  table.note_reply({1, true, noise, reply});
  EXPECT_EQ(table.slot_of(noise), nullptr);
  EXPECT_EQ(table.find(kFirst), nullptr);
}

TEST(Compound, TheStatusOfTheLastResultIsThatOfTheCompound) {
  const auto status = [](const peer::ReplyPayload& reply) {
    return static_cast<Status>(wire::load_u32(reply.stream().data() + 24));
  };
  Exchange exchange;
  exchange.sequence(kFirst, 1).destroy(kSecond, Status::NFS4ERR_BADSESSION);
  peer::ReplyStep step{1, true, exchange.call(), exchange.reply()};
  ASSERT_EQ(status(step.reply), Status::NFS4ERR_BADSESSION);
  change_result<nfs4::DestroySessionResult>(step, Opnum::OP_DESTROY_SESSION,
                                            [](auto& result) { result.status = Status::NFS4_OK; });
  EXPECT_EQ(status(step.reply), Status::NFS4_OK);
  change_result<nfs4::SequenceResult>(
      step, Opnum::OP_SEQUENCE, [](auto& result) { result.status = Status::NFS4ERR_BADSESSION; });
  EXPECT_EQ(status(step.reply), Status::NFS4ERR_BADSESSION);
  EXPECT_FALSE(find_result(step.reply.stream(), Opnum::OP_DESTROY_SESSION));
}

Bytes recall_message() {
  Bytes message;
  wire::Writer writer(message);
  rpc::CallHeader header;
  header.procedure = nfs4::CB_COMPOUND;
  header.encode(writer);
  nfs4::CbCompoundArgs{"", 1, 0}.encode(writer);
  nfs4::CallWriter<nfs4::CbOpnum> operations(message);
  nfs4::CbSequenceArgs sequence;
  sequence.csa_sequenceid = 5;
  operations.add(nfs4::CbOpnum::OP_CB_SEQUENCE, sequence);
  operations.add(nfs4::CbOpnum::OP_CB_RECALL, nfs4::CbRecallArgs{});
  return message;
}

TEST(Recall, IsTakenApartAndPutTogether) {
  Bytes message = recall_message();
  peer::CallbackStep step{1, true, message};
  change_recall(step, [](Recall&) {});
  EXPECT_EQ(message, recall_message());
  change_recall(step, [](Recall& recall) { ++recall.sequence->csa_sequenceid; });
  EXPECT_EQ(recall_of(message)->sequence->csa_sequenceid, 6U);
  change_recall(step, [](Recall& recall) { recall.sequence.reset(); });
  EXPECT_FALSE(recall_of(message)) << "without CB_SEQUENCE it is none that the server sends";
}

TEST(Recall, OtherCallsStay) {
  Bytes message = recall_message();
  message.resize(message.size() - 4);
  const Bytes before = message;
  peer::CallbackStep step{1, true, message};
  change_recall(step, [](Recall& recall) { recall.sequence.reset(); });
  EXPECT_EQ(message, before);
}

}  // namespace
}  // namespace steertag::deviations
