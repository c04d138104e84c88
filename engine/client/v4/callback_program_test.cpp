// What the callback program of a client answers: RPC, slots and their replies, each operation.
#include "client/v4/callback_program.h"

#include <gtest/gtest.h>

#include "rpc/message.h"

namespace steertag::peer::testing {
namespace {

using nfs4::CbOpnum;
using nfs4::Status;

constexpr nfs4::SessionId kSession{std::byte{7}};

/// CB_COMPOUND4res: its status, and that of each result with the operation's number.
struct Answered {
  Status status{};
  std::vector<std::pair<CbOpnum, Status>> results;
  nfs4::CbSequenceOk sequence;
};

class CallbackProgramTest : public ::testing::Test {
 protected:
  CallbackProgramTest() : program(actions()) { program.reset(kSession, 2); }

  CallbackActions actions() {
    return {[this](const nfs4::CbRecallArgs&) { return ++recalls, Status::NFS4ERR_BAD_STATEID; },
            [this](const nfs4::CbLayoutrecallArgs&) {
              return ++layout_recalls, Status::NFS4ERR_NOMATCHING_LAYOUT;
            },
            [this](const nfs4::CbNotifyDeviceidArgs&) { return ++device_changes, Status::NFS4_OK; },
            [this](std::uint32_t highest_slot) { targets.push_back(highest_slot); },
            [this](const nfs4::ReferringCall& call) { return call.rc_slotid == under_way; }};
  }

  static Bytes header(std::uint32_t procedure, std::uint32_t number = kCallbackProgram,
                      std::uint32_t version = nfs4::kCallbackVersion) {
    rpc::CallHeader call;
    call.xid = 99;
    call.program = number;
    call.version = version;
    call.procedure = procedure;
    Bytes octets;
    wire::Writer writer(octets);
    call.encode(writer);
    return octets;
  }
  static nfs4::CbSequenceArgs sequence(std::uint32_t number, std::uint32_t slot = 0) {
    nfs4::CbSequenceArgs args;
    args.csa_sessionid = kSession;
    args.csa_sequenceid = number;
    args.csa_slotid = slot;
    return args;
  }

  /// The octets of a CB_COMPOUND of CB_SEQUENCE and what `more` adds.
  template <class More>
  static Bytes compound(const nfs4::CbSequenceArgs& first, More&& more, std::uint32_t ident = 0) {
    Bytes octets = header(nfs4::CB_COMPOUND);
    wire::Writer writer(octets);
    nfs4::CbCompoundArgs{"tag", 1, ident}.encode(writer);
    nfs4::CallWriter<CbOpnum> operations(octets);
    operations.add(CbOpnum::OP_CB_SEQUENCE, first);
    more(operations);
    return octets;
  }
  static Bytes compound(const nfs4::CbSequenceArgs& first) {
    return compound(first, [](auto&) {});
  }
  static Bytes recall_slot(const nfs4::CbSequenceArgs& first, std::uint32_t target) {
    return compound(first, [&](auto& operations) {
      operations.add(CbOpnum::OP_CB_RECALL_SLOT, nfs4::CbRecallSlotArgs{target});
    });
  }
  static Bytes recall(const nfs4::CbSequenceArgs& first) {
    return compound(first, [](auto& operations) {
      operations.add(CbOpnum::OP_CB_RECALL, nfs4::CbRecallArgs{});
    });
  }

  rpc::ReplyHeader refused(View call) {
    const Bytes reply = program.answer(call);
    wire::Reader reader(reply);
    rpc::ReplyHeader header;
    header.decode(reader);
    EXPECT_TRUE(reader.ok());
    EXPECT_EQ(header.xid, 99U);
    return header;
  }
  Answered answered(View call) { return read(program.answer(call)); }
  static Answered read(View reply) {
    wire::Reader reader(reply);
    rpc::ReplyHeader header;
    header.decode(reader);
    EXPECT_TRUE(header.success());
    Answered answered;
    nfs4::CompoundResult fixed;
    fixed.decode(reader);
    EXPECT_EQ(fixed.tag, "tag");
    answered.status = fixed.status;
    nfs4::OperationReader<CbOpnum> operations(reader, "resarray");
    while (const auto number = operations.next()) {
      nfs4::with_signature(*number, [&]<class Args, class Result>(nfs4::Signature<Args, Result>) {
        Result result{};
        result.decode(reader);
        answered.results.emplace_back(*number, result.status);
        if constexpr (std::is_same_v<Result, nfs4::CbSequenceResult>)
          answered.sequence = result.resok4;
      });
    }
    EXPECT_TRUE(reader.ok()) << reader.fault().message();
    EXPECT_EQ(reader.remaining(), 0U);
    return answered;
  }

  std::vector<std::uint32_t> targets;
  unsigned recalls = 0;
  unsigned layout_recalls = 0;
  unsigned device_changes = 0;
  std::uint32_t under_way = UINT32_MAX;  // a slot
  CallbackProgram program;
};

using Results = std::vector<std::pair<CbOpnum, Status>>;

TEST_F(CallbackProgramTest, RpcLayerAnswersWhatIsNotItsOwn) {
  EXPECT_TRUE(refused(header(nfs4::CB_NULL)).success());
  EXPECT_EQ(refused(header(0, kCallbackProgram + 1)).accept_status,
            rpc::AcceptStatus::PROG_UNAVAIL);
  EXPECT_EQ(refused(header(0, kCallbackProgram, 4)).accept_status,
            rpc::AcceptStatus::PROG_MISMATCH);
  EXPECT_EQ(refused(header(2)).accept_status, rpc::AcceptStatus::PROC_UNAVAIL);
  EXPECT_EQ(refused(header(nfs4::CB_COMPOUND)).accept_status, rpc::AcceptStatus::GARBAGE_ARGS);
  Bytes version = header(0);
  wire::store_u32(version.data() + 8, 3);
  EXPECT_EQ(refused(version).reject_status, rpc::RejectStatus::RPC_MISMATCH);
  EXPECT_TRUE(program.answer(View(version).first(8)).empty()) << "no call that can be answered";
}

TEST_F(CallbackProgramTest, NullIsAnsweredBeforeThereIsASession) {
  CallbackProgram fresh(actions());
  EXPECT_FALSE(fresh.answer(header(nfs4::CB_NULL)).empty());
  EXPECT_EQ(read(fresh.answer(compound(sequence(1)))).status, Status::NFS4ERR_BADSESSION);
}

TEST_F(CallbackProgramTest, SequenceIsEchoedWhateverTheIdent) {
  const Answered got = answered(compound(
      sequence(1, 1), [](auto&) {}, 0xABCD));
  EXPECT_EQ(got.results, (Results{{CbOpnum::OP_CB_SEQUENCE, Status::NFS4_OK}}));
  EXPECT_EQ(got.sequence, (nfs4::CbSequenceOk{kSession, 1, 1, 1, 1}));
}

TEST_F(CallbackProgramTest, RetryGetsTheReplyThatWasKeptAndIsNotExecuted) {
  const Bytes first = program.answer(recall(sequence(1)));
  EXPECT_EQ(recalls, 1U);
  EXPECT_EQ(program.answer(recall(sequence(1))), first);
  EXPECT_EQ(program.answer(recall_slot(sequence(1), 0)), first) << "another call is taken for one";
  EXPECT_EQ(recalls, 1U);
  EXPECT_TRUE(targets.empty());
}

TEST_F(CallbackProgramTest, OtherSequenceIdsAreMisorderedAndLeaveTheSlot) {
  EXPECT_EQ(answered(compound(sequence(0))).status, Status::NFS4ERR_SEQ_MISORDERED)
      << "of a slot that had no call there is nothing to repeat";
  EXPECT_EQ(answered(compound(sequence(1))).status, Status::NFS4_OK);
  for (const std::uint32_t number : {0U, 3U, UINT32_MAX})
    EXPECT_EQ(answered(compound(sequence(number))).status, Status::NFS4ERR_SEQ_MISORDERED);
  EXPECT_EQ(answered(compound(sequence(2))).status, Status::NFS4_OK);
  EXPECT_EQ(answered(compound(sequence(1, 1))).status, Status::NFS4_OK) << "a slot of its own";
}

TEST_F(CallbackProgramTest, SlotAndSessionMustBeThere) {
  EXPECT_EQ(answered(compound(sequence(1, 2))).status, Status::NFS4ERR_BADSLOT);
  nfs4::CbSequenceArgs other = sequence(1);
  other.csa_sessionid[0] = std::byte{8};
  EXPECT_EQ(answered(compound(other)).status, Status::NFS4ERR_BADSESSION);
  EXPECT_EQ(answered(compound(sequence(1))).status, Status::NFS4_OK);
  program.reset(kSession, 2);
  EXPECT_EQ(answered(compound(sequence(1))).status, Status::NFS4_OK) << "slots are new";
}

TEST_F(CallbackProgramTest, PlaceOfSequenceIsTheFirst) {
  const Answered twice = answered(compound(
      sequence(1), [](auto& operations) { operations.add(CbOpnum::OP_CB_SEQUENCE, sequence(2)); }));
  EXPECT_EQ(twice.status, Status::NFS4ERR_SEQUENCE_POS);
  Bytes octets = header(nfs4::CB_COMPOUND);
  wire::Writer writer(octets);
  nfs4::CbCompoundArgs{"tag", 1, 0}.encode(writer);
  nfs4::CallWriter<CbOpnum>(octets).add(CbOpnum::OP_CB_RECALL, nfs4::CbRecallArgs{});
  EXPECT_EQ(answered(octets).results,
            (Results{{CbOpnum::OP_CB_RECALL, Status::NFS4ERR_OP_NOT_IN_SESSION}}));
}

TEST_F(CallbackProgramTest, UnknownAndUnsupportedOperationsEndTheCall) {
  const auto one = [](auto number) {
    return [number](auto& operations) {
      operations.add(static_cast<CbOpnum>(number));
      operations.add(CbOpnum::OP_CB_RECALL_SLOT, nfs4::CbRecallSlotArgs{0});
    };
  };
  EXPECT_EQ(answered(compound(sequence(1), one(77))).results.back(),
            std::pair(CbOpnum::OP_CB_ILLEGAL, Status::NFS4ERR_OP_ILLEGAL));
  EXPECT_EQ(answered(compound(sequence(2), one(CbOpnum::OP_CB_RECALL_ANY))).results.back(),
            std::pair(CbOpnum::OP_CB_RECALL_ANY, Status::NFS4ERR_NOTSUPP));
  EXPECT_TRUE(targets.empty());
  EXPECT_EQ(answered(compound(sequence(3),
                              [](auto& operations) {
                                for (std::uint32_t i = 0; i < kMostCallbackOperations; ++i)
                                  operations.add(CbOpnum::OP_CB_RECALL_SLOT,
                                                 nfs4::CbRecallSlotArgs{0});
                              }))
                .status,
            Status::NFS4ERR_TOO_MANY_OPS);
}

TEST_F(CallbackProgramTest, SlotsAreRecalled) {
  EXPECT_EQ(answered(recall_slot(sequence(1), 3)).status, Status::NFS4_OK);
  EXPECT_EQ(targets, std::vector<std::uint32_t>{3});
}

TEST_F(CallbackProgramTest, RecallsOfLayoutsAndChangesOfDevicesAreAnswered) {
  const auto recalled = compound(sequence(1), [](auto& operations) {
    operations.add(CbOpnum::OP_CB_LAYOUTRECALL, nfs4::CbLayoutrecallArgs{});
  });
  EXPECT_EQ(answered(recalled).results.back(),
            std::pair(CbOpnum::OP_CB_LAYOUTRECALL, Status::NFS4ERR_NOMATCHING_LAYOUT));
  EXPECT_EQ(layout_recalls, 1U);
  const auto changed = compound(sequence(2), [](auto& operations) {
    operations.add(CbOpnum::OP_CB_NOTIFY_DEVICEID, nfs4::CbNotifyDeviceidArgs{});
  });
  EXPECT_EQ(answered(changed).status, Status::NFS4_OK);
  EXPECT_EQ(device_changes, 1U);
}

TEST_F(CallbackProgramTest, RecallThatOvertakesItsCauseIsToComeAgain) {
  nfs4::CbSequenceArgs args = sequence(1);
  args.csa_referring_call_lists.push_back({kSession, {{5, 9}}});
  under_way = 9;
  EXPECT_EQ(answered(recall(args)).status, Status::NFS4ERR_DELAY);
  EXPECT_EQ(recalls, 0U);
  under_way = UINT32_MAX;
  args.csa_sequenceid = 2;
  EXPECT_EQ(answered(recall(args)).status, Status::NFS4ERR_BAD_STATEID);
}

TEST_F(CallbackProgramTest, OtherMinorVersionsHaveNoCallbacks) {
  Bytes octets = header(nfs4::CB_COMPOUND);
  wire::Writer writer(octets);
  nfs4::CbCompoundArgs{"tag", 2, 0}.encode(writer);
  writer.u32(0);
  EXPECT_EQ(answered(octets).status, Status::NFS4ERR_MINOR_VERS_MISMATCH);
}

}  // namespace
}  // namespace steertag::peer::testing
