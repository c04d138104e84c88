// What tests of a client's session share: a server that keeps no state and answers as scripted.
#pragma once

#include <map>

#include "client/testing/fake_transport.h"
#include "client/v4/client_session.h"

namespace steertag::peer::testing {

using nfs4::Opnum;
using nfs4::Status;

class ClientSessionTest : public ::testing::Test {
 protected:
  ClientSessionTest()
      : transport([this](View call) { return answer(call); }),
        schedule(
            transport, [this] { return transport.now; }, 10s),
        session(schedule, options()) {}
  explicit ClientSessionTest(const ReverseLimits& reverse) : ClientSessionTest() {
    transport.reverse = reverse;
  }

  static SessionOptions options() {
    SessionOptions options;
    options.owner = "test";
    return options;
  }

  /// Results of one call; statuses of `next_status` are given instead of NFS4_OK.
  std::optional<Bytes> answer(View call) {
    if (unanswered > 0 && made) {
      --unanswered;
      return std::nullopt;
    }
    if (no_version4) {
      Bytes out;
      wire::Writer writer(out);
      nfs4::CompoundResult{Status::NFS4ERR_MINOR_VERS_MISMATCH, {}}.encode(writer);
      writer.u32(0);
      return out;
    }
    return reply_by(call,
                    [this](wire::Reader& reader, Opnum number, nfs4::ReplyWriter<Opnum>& writer) {
                      seen.push_back(number);
                      const Status status = take_status(number);
                      execute(reader, number, status, writer);
                      return status;
                    });
  }
  /// The reply to a COMPOUND, up to the first error. `run` of the reader, the operation and the
  /// writer adds the result of each, and returns its status.
  template <class Run>
  static Bytes reply_by(View call, Run&& run) {
    wire::Reader reader(call);
    rpc::CallHeader header;
    header.decode(reader);
    nfs4::CompoundArgs args;
    args.decode(reader);
    EXPECT_EQ(args.minorversion, 1U);
    nfs4::OperationReader<Opnum> operations(reader, "argarray");
    Bytes out;
    nfs4::ReplyWriter<Opnum> writer(out, {});
    while (const auto number = operations.next()) {
      if (run(reader, *number, writer) != Status::NFS4_OK) break;
    }
    EXPECT_TRUE(reader.ok()) << reader.fault().message();
    return out;
  }
  template <class Args>
  static Args decoded(wire::Reader& reader) {
    Args args;
    args.decode(reader);
    return args;
  }
  Status take_status(Opnum number) {
    auto& statuses = next_status[number];
    if (statuses.empty()) return Status::NFS4_OK;
    const Status status = statuses.front();
    statuses.pop_front();
    return status;
  }
  void execute(wire::Reader& reader, Opnum number, Status status,
               nfs4::ReplyWriter<Opnum>& writer) {
    if (number == Opnum::OP_SEQUENCE) {
      nfs4::SequenceArgs args;
      args.decode(reader);
      sequences.push_back(args);
      nfs4::SequenceResult result;
      result.status = status;
      result.resok4 = {args.sa_sessionid, args.sa_sequenceid, args.sa_slotid, 3, target, flags};
      if (other_slot) ++result.resok4.sr_slotid;
      return writer.add(number, result);
    }
    if (number == Opnum::OP_CREATE_SESSION) {
      nfs4::CreateSessionArgs args;
      args.decode(reader);
      creates.push_back(args);
      nfs4::CreateSessionResult result;
      result.status = status;
      result.resok4.csr_sessionid[0] = static_cast<std::byte>(++made);
      result.resok4.csr_flags = args.csa_flags;
      result.resok4.csr_fore_chan_attrs = offered.value_or(args.csa_fore_chan_attrs);
      result.resok4.csr_back_chan_attrs = args.csa_back_chan_attrs;
      return writer.add(number, result);
    }
    if (number == Opnum::OP_BIND_CONN_TO_SESSION) {
      nfs4::BindConnToSessionArgs args;
      args.decode(reader);
      binds.push_back(args);
      nfs4::BindConnToSessionResult result;
      result.status = status;
      result.resok4 = {args.bctsa_sessid, granted, false};
      return writer.add(number, result);
    }
    if (number == Opnum::OP_OPEN) {
      nfs4::OpenArgs args;
      args.decode(reader);
      accesses.push_back(args.share_access);
      if (before_open_reply) before_open_reply();
      nfs4::OpenResult result;
      result.status = status;
      result.resok4.delegation = delegation;
      return writer.add(number, result);
    }
    if (number == Opnum::OP_EXCHANGE_ID) {
      nfs4::ExchangeIdArgs args;
      args.decode(reader);
      nfs4::ExchangeIdResult result;
      result.status = status;
      result.resok4.eir_clientid = ++client_id;
      result.resok4.eir_sequenceid = 1;
      return writer.add(number, result);
    }
    EXPECT_TRUE(nfs4::skip_arguments(reader, number));
    writer.add_status(number, status);
  }

  static ClientCompound null_call() {
    ClientCompound call;
    call.add(Opnum::OP_PUTROOTFH);
    return call;
  }
  Expected<void, FileError> call() {
    return session.wait(null_call(),
                        [](CompoundReply& reply) { return reply.skip(Opnum::OP_PUTROOTFH); });
  }
  std::ptrdiff_t count(Opnum number) const { return std::count(seen.begin(), seen.end(), number); }

  FakeTransport transport;
  CallSchedule schedule;
  ClientSession session;
  std::map<Opnum, std::deque<Status>> next_status;
  std::vector<Opnum> seen;
  std::vector<nfs4::SequenceArgs> sequences;
  std::vector<nfs4::CreateSessionArgs> creates;
  std::vector<nfs4::BindConnToSessionArgs> binds;
  nfs4::ChannelDirFromServer granted = nfs4::ChannelDirFromServer::CDFS4_BOTH;
  std::uint32_t flags = 0;              // sr_status_flags
  nfs4::Delegation delegation;          // that OPEN gives
  std::vector<std::uint32_t> accesses;  // of OPENs
  std::function<void()> before_open_reply;
  std::uint64_t client_id = 0;
  unsigned made = 0;
  unsigned unanswered = 0;
  bool no_version4 = false;
  std::uint32_t target = 3;                   // sr_target_highest_slotid
  bool other_slot = false;                    // SEQUENCE answers for a slot that was not used
  std::optional<nfs4::ChannelAttrs> offered;  // instead of what was asked for
};

}  // namespace steertag::peer::testing
