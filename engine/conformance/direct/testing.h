// Test support: the connections of direct access, with one judge each, that share what they know.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "conformance/direct/direct_access.h"
#include "conformance/direct/direct_calls.h"
#include "conformance/direct/optimistic_connection.h"
#include "conformance/trace_builder.h"
#include "nfs/direct/private_data.h"
#include "nfs/direct/procedures.h"
#include "nfs/nfs3_args.h"
#include "nfs/nfs3_procedures.h"
#include "nfs/v4/callbacks.h"
#include "nfs/v4/compound.h"
#include "nfs/v4/operations.h"

namespace steertag::conformance {

inline constexpr std::uint32_t kTestBlockBytes = 4096;
inline constexpr std::int64_t kTestSecond = 1'000'000'000;

/// Arguments or results that are encoded already.
struct RawOctets {
  Bytes octets;
  void encode(wire::Writer& writer) const { writer.raw(octets); }
};

/// Events of all connections in one order, each a millisecond behind the one before.
struct DirectScene {
  DirectAccess access;
  std::uint64_t next = 0;
  std::int64_t time_ns = 0;
};

class DirectTrace {
 public:
  explicit DirectTrace(DirectScene& scene) : scene_(scene), judge_({}, nullptr, &scene.access) {}

  DirectTrace& event(Role actor, const trace::Body& body) {
    judge_.on_event({scene_.next++, scene_.time_ns += 1'000'000, actor, body});
    return *this;
  }
  DirectTrace& send(Role actor, const wire::Header& head, View payload = {}) {
    Bytes bytes;
    wire::encode(head, bytes);
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    return event(actor, trace::Send{bytes, {}});
  }

  // -- a connection of RPC-over-RDMA

  DirectTrace& open() {
    Bytes octets;
    wire::encode(announcement(), octets);
    return event(Role::client, trace::Connect{octets}).event(Role::server, trace::Accept{octets});
  }
  template <class Args>
  DirectTrace& call(std::uint32_t program, std::uint32_t version, std::uint32_t procedure,
                    const Args& args) {
    Bytes octets;
    wire::Writer writer(octets);
    args.encode(writer);
    ++xid_;
    return send(Role::client, header(xid_), rpc_call(xid_, program, version, procedure, octets));
  }
  template <class Args>
  DirectTrace& call(direct::Procedure procedure, const Args& args) {
    return call(direct::kProgram, direct::kVersion, static_cast<std::uint32_t>(procedure), args);
  }
  template <class Result>
  DirectTrace& reply(const Result& result) {
    Bytes octets;
    wire::Writer writer(octets);
    result.encode(writer);
    return send(Role::server, header(xid_), rpc_reply(xid_, octets));
  }
  DirectTrace& hello(std::uint8_t ticket = 1, std::uint32_t most = 8) {
    direct::HelloResult result;
    result.resok4 = {ticket_of(ticket), kTestBlockBytes, 1, most, 60, "rdma", ""};
    return call(direct::Procedure::DIRECTPROC1_HELLO, direct::HelloArgs{}).reply(result);
  }
  DirectTrace& ask(std::uint32_t want_refs = 8, std::string_view file = "file") {
    direct::RefsArgs args;
    args.file = handle(file);
    args.want_refs = want_refs;
    return call(direct::Procedure::DIRECTPROC1_REFS, args);
  }
  DirectTrace& grant(std::vector<direct::Reference> references) {
    direct::RefsResult result;
    result.resok4.refs = std::move(references);
    return reply(result);
  }
  DirectTrace& give_back(std::vector<direct::Reference> references) {
    return call(direct::Procedure::DIRECTPROC1_RETURN, direct::ReturnArgs{std::move(references)})
        .reply(direct::ReturnResult{});
  }

  // -- a delegation of NFSv4.1 of "file", whose stateid has this octet

  DirectTrace& recall(std::uint8_t stateid = 9) {
    Bytes args;
    wire::Writer writer(args);
    nfs4::CbCompoundArgs{"", 1, 0}.encode(writer);
    nfs4::CallWriter<nfs4::CbOpnum> operations(args);
    operations.add(nfs4::CbOpnum::OP_CB_SEQUENCE, nfs4::CbSequenceArgs{});
    operations.add(nfs4::CbOpnum::OP_CB_RECALL,
                   nfs4::CbRecallArgs{stateid_of(stateid), false, handle("file")});
    ++xid_;
    send(Role::server, header(xid_), rpc_call(xid_, 0x40000000, 1, nfs4::CB_COMPOUND, args));
    return send(Role::client, header(xid_), rpc_reply(xid_));
  }
  DirectTrace& return_delegation(std::uint8_t stateid = 9) {
    Bytes args;
    wire::Writer writer(args);
    nfs4::CompoundArgs{"", 1}.encode(writer);
    nfs4::CallWriter<nfs4::Opnum> operations(args);
    operations.add(nfs4::Opnum::OP_SEQUENCE, nfs4::SequenceArgs{});
    operations.add(nfs4::Opnum::OP_PUTFH, nfs4::PutfhArgs{handle("file")});
    operations.add(nfs4::Opnum::OP_DELEGRETURN, nfs4::DelegreturnArgs{stateid_of(stateid)});
    return call(100003, 4, 1, RawOctets{args}).reply(RawOctets{words({0, 0, 0})});
  }
  static nfs4::StateId stateid_of(std::uint8_t octet) {
    nfs4::StateId stateid;
    stateid.other[0] = std::byte{octet};
    return stateid;
  }

  // -- an optimistic connection

  DirectTrace& ask_by(std::uint8_t ticket = 1, bool recoverable = false) {
    Bytes octets;
    direct::encode(ticket_of(ticket), octets, recoverable);
    return event(Role::client, trace::Connect{octets});
  }
  DirectTrace& accept(bool recoverable = false) {
    Bytes octets;
    direct::encode_answer(octets, recoverable);
    return event(Role::server, trace::Accept{octets});
  }
  DirectTrace& ask_for(const direct::Reference& reference) {
    return event(Role::client,
                 trace::RdmaRead{reference.stag, reference.base, reference.length + kFrameBytes});
  }
  /// In two parts.
  DirectTrace& answer(const Bytes& frame) {
    const View all = frame;
    for (const View part : {all.first(10), all.subspan(10)}) {
      event(Role::server, trace::RdmaReadResponse{0, 0, part.size(), part});
    }
    return *this;
  }
  DirectTrace& read(const direct::Reference& reference, const Bytes& frame) {
    return ask_for(reference).answer(frame);
  }
  ReadState state() const { return judge_.optimistic()->latest()->state; }

  // -- what is found

  static direct::Ticket ticket_of(std::uint8_t number) {
    direct::Ticket ticket{};
    ticket.fill(std::byte{number});
    return ticket;
  }
  static direct::FileHandle handle(std::string_view text) {
    return direct::FileHandle(std::as_bytes(std::span(text)));
  }
  /// A frame with octets of this value and a right check.
  static Bytes frame(std::uint64_t generation, std::size_t length, std::uint8_t value = 0xa5) {
    Bytes octets(length + kFrameBytes, std::byte{value});
    wire::store_u64(octets.data(), generation);
    wire::store_u64(octets.data() + octets.size() - 8, generation);
    rdma::iwarp::Crc32c crc;
    crc.update(View(octets).first(8));
    crc.update(View(octets).subspan(kFrameHeadBytes, length));
    wire::store_u64(octets.data() + 8, crc.value());
    return octets;
  }

  DirectTrace& expect_nothing() {
    EXPECT_THAT(judge_.findings(), testing::IsEmpty());
    return *this;
  }
  /// The only finding, by the server or another at the latest event.
  void expect(std::string_view rule, std::string_view id, Role culprit = Role::server) const {
    expect_only(judge_, scene_.next - 1, rule, id, culprit);
  }
  Judge& judge() { return judge_; }

 private:
  DirectScene& scene_;
  Judge judge_;
  std::uint32_t xid_ = 100;
};

/// A user: its RPC connection, and its optimistic connection.
struct DirectPair {
  explicit DirectPair(DirectScene& scene, std::uint8_t ticket = 1, std::uint32_t most = 8)
      : rpc(scene), optimistic(scene) {
    rpc.open().hello(ticket, most);
    optimistic.ask_by(ticket).accept();
  }
  /// References to these blocks of a file.
  DirectPair& grant(const std::vector<direct::Reference>& references,
                    std::string_view file = "file") {
    rpc.ask(kMost, file).grant(references);
    return *this;
  }
  void expect_nothing() {
    rpc.expect_nothing();
    optimistic.expect_nothing();
  }

  static constexpr std::uint32_t kMost = 1024;
  DirectTrace rpc;
  DirectTrace optimistic;
};

/// One of many with nothing in common.
inline direct::Reference reference(std::uint64_t number, std::uint64_t block = 0,
                                   std::uint32_t length = kTestBlockBytes) {
  return {static_cast<std::uint32_t>(0x1000 + number), number << 32, 0xabc000 + number,
          block * kTestBlockBytes, length};
}

}  // namespace steertag::conformance
