// What tests of the NFSv4 state share: a storage in memory, and a clock that only tests advance.
// They run the operations one at a time, as clients of either minor version.
#pragma once

#include "nfs/v4/compound.h"
#include "server/testing/peer_fixture.h"
#include "server/v4/file_operations.h"
#include "server/v4/state/tables.h"
#include "server/v4/state_operations.h"

namespace steertag::peer::testing {

/// A backchannel that keeps what the server calls until the test answers it.
class HeldBackchannel final : public Backchannel {
 public:
  void call(Bytes message, Done done) override {
    calls.push_back({std::move(message), std::move(done)});
  }
  std::size_t largest_call() const override { return 4096; }
  std::size_t largest_reply() const override { return 4096; }

  struct Held {
    Bytes message;
    Done done;
  };
  std::vector<Held> calls;

  Held take() {
    EXPECT_FALSE(calls.empty()) << "the server sent no callback";
    if (calls.empty()) return {};
    Held held = std::move(calls.front());
    calls.erase(calls.begin());
    return held;
  }
  /// Answers CB_NULL, the probe of a backchannel.
  void answer_null() {
    Bytes reply = accepted();
    if (const Held held = take(); held.done) held.done(View(reply));
  }
  /// Answers CB_SEQUENCE with NFS4_OK and CB_RECALL with this; gives the arguments.
  struct Recall {
    nfs4::CbSequenceArgs sequence;
    nfs4::CbRecallArgs recall;
  };
  Recall answer_recall(nfs4::Status status);
  static Recall read_recall(const Bytes& message);
  static Bytes accepted() {
    Bytes reply;
    wire::Writer writer(reply);
    rpc::ReplyHeader::accepted(0, rpc::AcceptStatus::SUCCESS).encode(writer);
    return reply;
  }
};

/// The caller: a client with its principal and its connection.
struct Actor {
  std::uint32_t minorversion = 1;
  std::string owner = "client";
  std::uint32_t uid = 0;
  std::uint64_t connection = 1;
  std::string host = "192.0.2.1";
  bool rdma = true;
  std::uint32_t most_slots = 0;  // by the credits of the connection; 0: no limit
  std::shared_ptr<HeldBackchannel> backchannel = std::make_shared<HeldBackchannel>();
  std::uint64_t clientid = 0;
  nfs4::SessionId session{};
};

class V4StateTest : public ::testing::Test {
 public:
  using Status = nfs4::Status;

 protected:
  V4StateTest() : memory(counting_clock(), seeded_random(8)), storage(memory, "export") { start(); }

  /// Starts the state, as after a restart of the server.
  void start(std::string recovery_path = {}, bool mandatory_locks = false) {
    Nfs4StateOptions options;
    options.mandatory_locks = mandatory_locks;
    options.clock = [this] {
      ++looks_at_clock;
      return now;
    };
    options.random = seeded_random(++starts);
    options.recovery_path = std::move(recovery_path);
    state = std::make_unique<Nfs4State>(options);
  }
  void pass(std::chrono::milliseconds time) {
    now += time;
    state->expire();
  }

  /// One operation on the file `on` (nullopt: none), as one of a COMPOUND of this actor.
  template <class Result, class Args>
  Result run(void (*handler)(const Args&, CompoundCall&, Result&), const Args& args, Actor& actor,
             std::optional<Handle> on = {}) {
    const Caller caller{actor.uid, actor.uid, {}};
    ConnectionInfo info{actor.connection, actor.rdma, actor.host, actor.backchannel};
    info.most_slots = actor.most_slots;
    const CallContext context{caller, info};
    reply.clear();
    CompoundCall call{.context = context,
                      .storage = storage,
                      .state = acts_on ? *acts_on : *state,
                      .reply = reply,
                      .minorversion = actor.minorversion,
                      .pnfs = pnfs};
    call.operation_count = operation_count;
    call.operation_index = operation_count - 1;
    call.request_bytes = request_bytes;
    if (actor.minorversion > 0 && actor.clientid != 0) call.clientid = actor.clientid;
    if (on) call.current = CurrentFile{*on, {}, component};
    if (saved) call.saved = CurrentFile{*saved, {}};
    if (actor.session != nfs4::SessionId{}) {
      call.slot.emplace();
      call.slot->session = actor.session;
      call.slot->maxresponsesize = call.slot->maxresponsesize_cached = 1U << 20;
    }
    Result result;
    handler(args, call, result);
    left = call.current;
    slot = call.slot;
    return result;
  }

  nfs4::ExchangeIdArgs exchange_args(const Actor& actor, std::uint8_t verifier = 1,
                                     std::uint32_t flags = 0) {
    nfs4::ExchangeIdArgs args;
    args.eia_clientowner.co_ownerid = octets_of(actor.owner);
    args.eia_clientowner.co_verifier[0] = std::byte{verifier};
    args.eia_flags = flags;
    return args;
  }
  nfs4::CreateSessionArgs session_args(std::uint64_t clientid, std::uint32_t sequence) {
    nfs4::CreateSessionArgs args;
    args.csa_clientid = clientid;
    args.csa_sequence = sequence;
    args.csa_flags = nfs4::CREATE_SESSION4_FLAG_CONN_BACK_CHAN;
    args.csa_fore_chan_attrs = {0, 1049620, 1049480, 3428, 8, 64, {}};
    args.csa_back_chan_attrs = {0, 4096, 4096, 0, 2, 16, {}};
    args.csa_cb_program = nfs4::kCallbackProgram;
    args.csa_sec_parms.emplace_back();
    return args;
  }
  nfs4::SequenceArgs sequence_args(const Actor& actor, std::uint32_t sequence,
                                   std::uint32_t slot_number = 0) {
    return {actor.session, sequence, slot_number, slot_number, false};
  }
  nfs4::SequenceOk sequence(Actor& actor, std::uint32_t number) {
    const auto result = run(op_sequence, sequence_args(actor, number), actor);
    EXPECT_EQ(result.status, Status::NFS4_OK);
    if (slot && !slot->replay) state->end_sequence(*slot, results_of(1, "first"));
    return result.resok4;
  }
  /// A COMPOUND4res of `operations` results that begins with SEQUENCE, with this tag.
  ReplyPayload results_of(std::uint32_t operations, std::string_view tag) {
    ReplyPayload results;
    nfs4::ReplyWriter<nfs4::Opnum> writer(results.stream(), tag);
    writer.add(nfs4::Opnum::OP_SEQUENCE, nfs4::SequenceResult{});
    for (std::uint32_t i = 1; i < operations; ++i)
      writer.add_status(nfs4::Opnum::OP_PUTROOTFH, Status::NFS4_OK);
    return results;
  }

  /// A client with a session, whose backchannel answers, and which reclaims nothing.
  Actor mounted(std::string owner = "client", std::uint64_t connection = 1,
                std::string host = "192.0.2.1") {
    Actor actor;
    actor.owner = std::move(owner);
    actor.connection = connection;
    actor.host = std::move(host);
    const auto exchanged = run(op_exchange_id, exchange_args(actor), actor);
    EXPECT_EQ(exchanged.status, Status::NFS4_OK);
    actor.clientid = exchanged.resok4.eir_clientid;
    const auto made = run(op_create_session,
                          session_args(actor.clientid, exchanged.resok4.eir_sequenceid), actor);
    EXPECT_EQ(made.status, Status::NFS4_OK);
    actor.session = made.resok4.csr_sessionid;
    actor.backchannel->answer_null();
    EXPECT_EQ(run(op_reclaim_complete, {}, actor).status, Status::NFS4_OK);
    return actor;
  }
  /// The same in minor version 0.
  Actor known(std::string owner = "old client", std::uint64_t connection = 9) {
    Actor actor;
    actor.minorversion = 0;
    actor.owner = std::move(owner);
    actor.connection = connection;
    nfs4::SetclientidArgs args;
    args.client.id = octets_of(actor.owner);
    const auto set = run(op_setclientid, args, actor);
    EXPECT_EQ(set.status, Status::NFS4_OK);
    EXPECT_EQ(
        run(op_setclientid_confirm, {set.resok4.clientid, set.resok4.setclientid_confirm}, actor)
            .status,
        Status::NFS4_OK);
    actor.clientid = set.resok4.clientid;
    return actor;
  }

  /// RENAME from one name of the export's root to another.
  Status rename(std::string_view from, std::string_view to, Actor& actor) {
    saved = root();
    const Status status = run(op_rename, nfs4::RenameArgs{from, to}, actor, root()).status;
    saved.reset();
    return status;
  }
  /// LINK of the file with this name in the export's root.
  Status link(const Handle& file, std::string_view name, Actor& actor) {
    saved = file;
    const Status status = run(op_link, nfs4::LinkArgs{name}, actor, root()).status;
    saved.reset();
    return status;
  }

  Handle root() { return storage.handle(storage.export_root()); }
  Handle make_file(std::string_view name, std::uint32_t mode = 0666) {
    NewNode node;
    node.change.mode = mode;
    return storage.handle(*storage.create(storage.export_root(), name, node));
  }
  nfs4::OpenArgs open_args(const Actor& actor, std::string_view name, std::uint32_t access,
                           std::uint32_t deny = 0, std::uint32_t seqid = 1) {
    nfs4::OpenArgs args;
    args.seqid = seqid;
    args.share_access = access;
    args.share_deny = deny;
    args.owner = {actor.clientid, octets_of("process")};
    args.claim.file = name;
    return args;
  }
  /// Opens a file of the root; in minor version 0 confirms the owner (seqids 1 and 2).
  nfs4::OpenOk open(Actor& actor, std::string_view name, std::uint32_t access,
                    std::uint32_t deny = 0) {
    const auto result = run(op_open, open_args(actor, name, access, deny), actor, root());
    EXPECT_EQ(result.status, Status::NFS4_OK);
    nfs4::OpenOk ok = result.resok4;
    if ((ok.rflags & nfs4::OPEN4_RESULT_CONFIRM) != 0) {
      const auto confirmed = run(op_open_confirm, {ok.stateid, 2}, actor, left->handle);
      EXPECT_EQ(confirmed.status, Status::NFS4_OK);
      ok.stateid = confirmed.resok4.open_stateid;
    }
    return ok;
  }
  Status close(Actor& actor, const nfs4::StateId& stateid, const Handle& file,
               std::uint32_t seqid = 0) {
    return run(op_close, {seqid, stateid}, actor, file).status;
  }
  nfs4::LockArgs lock_args(const Actor& actor, const nfs4::StateId& open, std::uint64_t offset,
                           std::uint64_t length, bool write, std::string_view owner = "locker") {
    nfs4::LockArgs args;
    args.locktype = write ? nfs4::LockType::WRITE_LT : nfs4::LockType::READ_LT;
    args.offset = offset;
    args.length = length;
    args.locker.new_lock_owner = true;
    args.locker.open_owner.open_stateid = open;
    args.locker.open_owner.open_seqid = 3;
    args.locker.open_owner.lock_seqid = 1;
    args.locker.open_owner.lock_owner = {actor.clientid, octets_of(owner)};
    return args;
  }
  Status io(Actor& actor, const nfs4::StateId& stateid, const Handle& file, AccessMode want) {
    std::optional<std::uint64_t> client;
    if (actor.minorversion > 0) client = actor.clientid;
    return state->check_io(actor.minorversion, client, stateid, file, want);
  }

  TimePoint now{std::chrono::hours(1)};
  std::size_t looks_at_clock = 0;
  std::uint64_t starts = 0;
  MemoryBackend memory;
  PseudoRoot storage;
  std::unique_ptr<Nfs4State> state;
  PnfsRole pnfs;                 // of the operations' server
  std::uint32_t component = 0;   // the stripe unit of the current filehandle at a data server
  Nfs4State* acts_on = nullptr;  // the state of that server, if not `state`
  ReplyPayload reply;
  std::uint32_t operation_count = 3;
  std::size_t request_bytes = 200;
  std::optional<Handle> saved;      // the saved file of the next operation
  std::optional<CurrentFile> left;  // the current file after the last operation
  std::optional<SlotInUse> slot;    // what the last SEQUENCE gave
};

inline HeldBackchannel::Recall HeldBackchannel::read_recall(const Bytes& message) {
  Recall read;
  wire::Reader reader(message);
  rpc::CallHeader header;
  header.decode(reader);
  EXPECT_EQ(header.program, nfs4::kCallbackProgram);
  EXPECT_EQ(header.procedure, nfs4::CB_COMPOUND);
  nfs4::CbCompoundArgs compound;
  compound.decode(reader);
  nfs4::OperationReader<nfs4::CbOpnum> operations(reader, "argarray");
  EXPECT_EQ(operations.next(), nfs4::CbOpnum::OP_CB_SEQUENCE);
  read.sequence.decode(reader);
  EXPECT_EQ(operations.next(), nfs4::CbOpnum::OP_CB_RECALL);
  read.recall.decode(reader);
  EXPECT_TRUE(reader.ok());
  return read;
}

inline HeldBackchannel::Recall HeldBackchannel::answer_recall(nfs4::Status status) {
  const Held held = take();
  if (!held.done) return {};
  const Recall read = read_recall(held.message);
  Bytes message = accepted();
  nfs4::ReplyWriter<nfs4::CbOpnum> writer(message, "");
  nfs4::CbSequenceResult sequence;
  sequence.resok4 = {read.sequence.csa_sessionid, read.sequence.csa_sequenceid,
                     read.sequence.csa_slotid, 15, 15};
  writer.add(nfs4::CbOpnum::OP_CB_SEQUENCE, sequence);
  writer.add_status(nfs4::CbOpnum::OP_CB_RECALL, status);
  held.done(View(message));
  return read;
}

}  // namespace steertag::peer::testing
