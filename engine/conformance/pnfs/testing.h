// Test support: a client's connections to a metadata server and its data servers.
//
// Each has a judge, and the judges share what they know.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/pnfs/layouts.h"
#include "conformance/trace_builder.h"
#include "nfs/v4/client_ops.h"
#include "nfs/v4/compound.h"
#include "nfs/v4/operations.h"

namespace steertag::conformance {

using nfs4::Opnum;
using nfs4::Status;

inline constexpr std::uint32_t kMdsRole = nfs4::EXCHGID4_FLAG_USE_PNFS_MDS;
inline constexpr std::uint32_t kDsRole = nfs4::EXCHGID4_FLAG_USE_PNFS_DS;
inline constexpr std::uint32_t kTestUnit = 4096;
inline constexpr std::size_t kTestServers = 3;
inline constexpr std::uint64_t kWholeFile = UINT64_MAX;

/// Events of all connections in one order.
struct PnfsScene {
  Layouts layouts;
  std::uint64_t next = 0;
};

inline View view_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

inline nfs4::StateId stateid_of(std::uint8_t octet, std::uint32_t seqid = 0) {
  nfs4::StateId stateid;
  stateid.seqid = seqid;
  stateid.other.fill(std::byte{octet});
  return stateid;
}
inline const nfs4::StateId kOpen = stateid_of(5);
inline const nfs4::StateId kLayout = stateid_of(6, 1);

/// One connection, with a session of the client.
class PnfsTrace {
 public:
  using Calls = nfs4::CallWriter<Opnum>;
  using Replies = nfs4::ReplyWriter<Opnum>;

  /// `number` makes the names of the server and of its session.
  PnfsTrace(PnfsScene& scene, std::uint8_t number, std::uint32_t roles, std::string_view end)
      : scene_(scene), judge_({}, nullptr, nullptr, &scene.layouts), number_(number) {
    judge_.set_server_end(end);
    Bytes octets;
    wire::encode(announcement(), octets);
    event(Role::client, trace::Connect{octets});
    event(Role::server, trace::Accept{octets});
    register_client(number, roles);
  }

  /// EXCHANGE_ID that gives this client ID, and CREATE_SESSION for it.
  PnfsTrace& register_client(std::uint64_t id, std::uint32_t roles, std::uint8_t verifier = 0) {
    exchange_id(id, roles, verifier);
    create_session(id);
    nfs4::CreateSessionResult created;
    created.resok4.csr_sessionid = session();
    return answer([&](Replies& replies) { replies.add(Opnum::OP_CREATE_SESSION, created); });
  }
  PnfsTrace& exchange_id(std::uint64_t id, std::uint32_t roles, std::uint8_t verifier = 0) {
    nfs4::ExchangeIdArgs exchange;
    exchange.eia_clientowner.co_verifier.fill(std::byte{verifier});
    exchange.eia_clientowner.co_ownerid = view_of("client");
    nfs4::ExchangeIdResult known;
    known.resok4.eir_clientid = id;
    known.resok4.eir_flags = roles;
    const std::string name(1, static_cast<char>(number_));
    known.resok4.eir_server_owner.so_major_id = view_of(name);
    send([&](Calls& calls) { calls.add(Opnum::OP_EXCHANGE_ID, exchange); });
    return answer([&](Replies& replies) { replies.add(Opnum::OP_EXCHANGE_ID, known); });
  }
  PnfsTrace& create_session(std::uint64_t id) {
    nfs4::CreateSessionArgs create;
    create.csa_clientid = id;
    return send([&](Calls& calls) { calls.add(Opnum::OP_CREATE_SESSION, create); });
  }

  PnfsTrace& event(Role actor, const trace::Body& body) {
    judge_.on_event({scene_.next++, 0, actor, body});
    return *this;
  }
  /// A COMPOUND with what `add` adds.
  template <class Add>
  PnfsTrace& send(Add add) {
    Bytes octets;
    wire::Writer writer(octets);
    nfs4::CompoundArgs{"", 1}.encode(writer);
    Calls calls(octets);
    add(calls);
    ++xid_;
    return message(Role::client,
                   rpc_call(xid_, nfs4::kProgram, 4, nfs4::NFSPROC4_COMPOUND, octets));
  }
  /// The reply to the latest call, or to one before it.
  template <class Add>
  PnfsTrace& answer(Add add, std::uint32_t calls_before = 0) {
    Bytes octets;
    Replies replies(octets, "");
    add(replies);
    return message(Role::server, rpc_reply(xid_ - calls_before, octets), calls_before);
  }
  /// SEQUENCE and PUTFH, and one operation.
  template <class Args>
  PnfsTrace& call(std::string_view handle, Opnum number, const Args& args) {
    return send([&](Calls& calls) {
      nfs4::SequenceArgs sequence;
      sequence.sa_sessionid = session();
      sequence.sa_slotid = slot;
      calls.add(Opnum::OP_SEQUENCE, sequence);
      calls.add(Opnum::OP_PUTFH, nfs4::PutfhArgs{nfs4::FileHandle(view_of(handle))});
      calls.add(number, args);
    });
  }
  template <class Result>
  PnfsTrace& reply(Opnum number, const Result& result) {
    return answer([&](Replies& replies) {
      nfs4::SequenceResult sequence;
      sequence.resok4.sr_sessionid = session();
      sequence.resok4.sr_slotid = slot;
      sequence.resok4.sr_status_flags = flags;
      replies.add(Opnum::OP_SEQUENCE, sequence);
      replies.add(Opnum::OP_PUTFH, nfs4::PutfhResult{});
      replies.add(number, result);
    });
  }

  PnfsTrace& read(std::string_view handle, std::uint64_t offset,
                  const nfs4::StateId& stateid = kOpen) {
    return call(handle, Opnum::OP_READ, nfs4::ReadArgs{stateid, offset, 8});
  }
  PnfsTrace& read_done(Status status = Status::NFS4_OK) {
    nfs4::ReadResult result;
    result.status = status;
    result.resok4.data = view_of("12345678");
    return reply(Opnum::OP_READ, result);
  }
  PnfsTrace& write(std::string_view handle, std::uint64_t offset = 0, std::uint8_t verifier = 1) {
    nfs4::WriteArgs args;
    args.stateid = kOpen;
    args.offset = offset;
    args.data = view_of("12345678");
    call(handle, Opnum::OP_WRITE, args);
    nfs4::WriteResult result;
    result.resok4.count = 8;
    result.resok4.writeverf.fill(std::byte{verifier});
    return reply(Opnum::OP_WRITE, result);
  }
  PnfsTrace& commit(std::string_view handle) {
    return call(handle, Opnum::OP_COMMIT, nfs4::CommitArgs{});
  }
  PnfsTrace& commit_done(std::uint8_t verifier = 1) {
    nfs4::CommitResult result;
    result.resok4.writeverf.fill(std::byte{verifier});
    return reply(Opnum::OP_COMMIT, result);
  }

  PnfsTrace& expect_nothing() {
    EXPECT_THAT(judge_.findings(), testing::IsEmpty());
    return *this;
  }
  /// The only finding, at the latest event.
  void expect(std::string_view rule, std::string_view id, Role culprit = Role::client) const {
    expect_only(judge_, scene_.next - 1, rule, id, culprit);
  }
  Judge& judge() { return judge_; }
  nfs4::SessionId session() const {
    nfs4::SessionId id{};
    id.fill(std::byte{number_});
    return id;
  }

  std::vector<wire::Segment> reply_chunk;  // of the next calls, whose replies come in it
  bool payload_seen = true;                // of its RDMA Writes
  std::uint32_t slot = 0;                  // of the next messages
  std::uint32_t flags = 0;                 // of SEQUENCE's next replies

 private:
  PnfsTrace& message(Role actor, const Bytes& payload, std::uint32_t calls_before = 0) {
    wire::Header head = header(xid_ - calls_before);
    head.has_reply_chunk = !reply_chunk.empty();
    head.reply_chunk = reply_chunk;
    View rest = payload;
    if (actor == Role::server && head.has_reply_chunk) {
      head.proc = wire::Procedure::nomsg;
      for (wire::Segment& segment : head.reply_chunk) rest = write_long(rest, segment);
    }
    Bytes bytes;
    wire::encode(head, bytes);
    bytes.insert(bytes.end(), rest.begin(), rest.end());
    return event(actor, trace::Send{bytes, {}});
  }
  /// RDMA Writes that fill the segment, or have all octets. Returns those that are left.
  View write_long(View octets, wire::Segment& segment) {
    constexpr std::size_t kMostOfAWrite = 100;
    segment.length =
        static_cast<std::uint32_t>(std::min<std::size_t>(segment.length, octets.size()));
    for (std::size_t at = 0; at < segment.length; at += kMostOfAWrite) {
      const View part = octets.subspan(at, std::min(kMostOfAWrite, segment.length - at));
      event(Role::server, trace::RdmaWrite{segment.handle, segment.offset + at, part.size(),
                                           payload_seen ? part : View{}});
    }
    return octets.subspan(segment.length);
  }

  PnfsScene& scene_;
  Judge judge_;
  std::uint8_t number_;
  std::uint32_t xid_ = 100;
};

/// A metadata server, and as many data servers as their device has.
class StripedClient {
 public:
  explicit StripedClient(PnfsScene& scene, std::uint32_t ds_roles = kDsRole)
      : mds(scene, 1, kMdsRole, "192.0.2.1:20049") {
    for (std::size_t i = 0; i < kTestServers; ++i) {
      const auto number = static_cast<std::uint8_t>(2 + i);
      const std::string end = "192.0.2." + std::to_string(number) + ":20049";
      ds.push_back(std::make_unique<PnfsTrace>(scene, number, ds_roles, end));
    }
  }

  /// GETDEVICEINFO: a list of addresses for each data server, each used once.
  StripedClient& get_device() {
    std::vector<std::string> addresses;
    for (std::size_t i = 0; i < kTestServers; ++i) {
      addresses.push_back("192.0.2." + std::to_string(2 + i) + ".78.81");
    }
    nfs4::FileLayoutDevice device;
    for (std::size_t i = 0; i < kTestServers; ++i) {
      device.nflda_stripe_indices.push_back(static_cast<std::uint32_t>(i));
      device.nflda_multipath_ds_list.push_back({{{"rdma", addresses[i]}}});
    }
    Bytes body;
    wire::Writer writer(body);
    device.encode(writer);
    nfs4::GetdeviceinfoResult result;
    result.resok4.gdir_device_addr.da_addr_body = body;
    mds.call("file", Opnum::OP_GETDEVICEINFO, nfs4::GetdeviceinfoArgs{});
    mds.reply(Opnum::OP_GETDEVICEINFO, result);
    return *this;
  }
  /// LAYOUTGET of the whole file for reading and writing. Handles are "ds0", "ds1" ...
  StripedClient& get_layout(std::uint32_t flags_of_util = 0, std::size_t handles = kTestServers,
                            std::string_view file = "file") {
    mds.call(file, Opnum::OP_LAYOUTGET, nfs4::LayoutgetArgs{});
    return grant(flags_of_util, handles);
  }
  StripedClient& grant(std::uint32_t flags_of_util = 0, std::size_t handles = kTestServers) {
    nfs4::FileLayout layout;
    layout.nfl_util = kTestUnit | flags_of_util;
    for (std::size_t i = 0; i < handles; ++i) {
      layout.nfl_fh_list.emplace_back(view_of("ds" + std::to_string(i)));
    }
    Bytes body;
    wire::Writer writer(body);
    layout.encode(writer);
    nfs4::LayoutgetResult result;
    result.resok4.logr_stateid = kLayout;
    nfs4::Layout& range = result.resok4.logr_layout.emplace_back();
    range.lo_length = kWholeFile;
    range.lo_iomode = nfs4::LayoutIomode::LAYOUTIOMODE4_RW;
    range.lo_content.loc_body = body;
    mds.reply(Opnum::OP_LAYOUTGET, result);
    return *this;
  }
  StripedClient& call_return(std::uint64_t offset = 0, std::uint64_t length = kWholeFile) {
    nfs4::LayoutreturnArgs args;
    args.lora_iomode = nfs4::LayoutIomode::LAYOUTIOMODE4_ANY;
    args.lora_layoutreturn.lr_layout.lrf_offset = offset;
    args.lora_layoutreturn.lr_layout.lrf_length = length;
    mds.call("file", Opnum::OP_LAYOUTRETURN, args);
    return *this;
  }
  StripedClient& take_return(bool present = false) {
    nfs4::LayoutreturnResult result;
    result.resok4.lrs_present = present;
    mds.reply(Opnum::OP_LAYOUTRETURN, result);
    return *this;
  }
  void expect_nothing() {
    mds.expect_nothing();
    for (const auto& each : ds) each->expect_nothing();
  }

  PnfsTrace mds;
  std::vector<std::unique_ptr<PnfsTrace>> ds;
};

}  // namespace steertag::conformance
