// Follows the COMPOUNDs of one RPC connection that matter to layouts of files (RFC 8881 12, 13).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "conformance/connection_state.h"
#include "conformance/message.h"
#include "conformance/pnfs/data_server_check.h"
#include "conformance/pnfs/layouts.h"
#include "conformance/pnfs/reply_chunk.h"
#include "nfs/v4/compound.h"

namespace steertag::conformance {

/// At most this many calls without a reply, reply chunks, client IDs, and slots are kept of one
/// connection. Beyond it they are not kept.
inline constexpr std::size_t kMostLayoutCalls = 256;
inline constexpr std::size_t kMostReplyChunks = 8;
inline constexpr std::size_t kMostClientIds = 16;
inline constexpr std::size_t kMostSlotsFollowed = 1024;

class LayoutCalls {
 public:
  explicit LayoutCalls(Layouts& layouts) : layouts_(layouts), number_(layouts.add_connection()) {}

  /// The server's end, as an address of a device may have it (server_end.h).
  void set_server_end(std::string_view end) { server_end_ = end; }

  /// `rpc` is its RPC header.
  void on_call(const Message& message, const RpcCall& rpc, Connection& connection) {
    if (rpc.version == nfs4::kVersion && !is_plain_) take_call(message, rpc, connection);
  }
  /// An RDMA Write of the server.
  void on_write(const trace::RdmaWrite& write) {
    for (auto& [xid, chunk] : reply_chunks_) {
      if (chunk.take(write)) return;
    }
  }
  /// Call it for a reply before its call is retired.
  void on_reply(const Message& message, Connection& connection) {
    if (!calls_.empty() || may_be_revoked()) take_reply(message, connection);
  }
  void forget_history();

 private:
  /// A client ID, as EXCHANGE_ID on this connection gave it.
  struct ClientId {
    std::uint64_t id = 0;
    PnfsSession session;  // without its id
    nfs4::Verifier verifier{};
  };
  struct Pending {
    std::optional<std::string> owner;       // of EXCHANGE_ID
    nfs4::Verifier verifier{};              // of it
    std::optional<std::uint64_t> clientid;  // of CREATE_SESSION
    std::optional<PnfsSession> session;     // of SEQUENCE
    std::uint32_t slot = 0;
    View handle;              // of PUTFH or GETFH, in a message
    std::string kept_handle;  // once the message is gone
    std::uint64_t moment = 0;
    bool asks_layout = false;
    StripedFile* asked_file = nullptr;  // counts the LAYOUTGET
    std::optional<FileIo> io;
    std::optional<nfs4::DeviceId> device;                // of GETDEVICEINFO
    std::optional<nfs4::LayoutreturnArgs> layoutreturn;  // without its body

    bool has_long_reply() const { return asks_layout || device || layoutreturn; }
    bool matters() const {
      return owner || clientid || asks_layout || io || device || layoutreturn;
    }
  };
  using Operations = nfs4::OperationReader<nfs4::Opnum>;

  bool may_be_revoked() const { return has_roles_ && layouts_.has_files(); }
  void take_call(const Message& message, const RpcCall& rpc, Connection& connection);
  void take_reply(const Message& message, Connection& connection);
  bool take_argument(nfs4::Opnum number, const Message& message, wire::Reader& reader,
                     Pending& call, Connection& connection);
  void take_sequence(const nfs4::SequenceArgs& args, Pending& call);
  void take_io(const Message& message, const nfs4::StateId& stateid, std::uint64_t offset,
               std::uint32_t count, nfs4::Opnum number, Pending& call, Connection& connection);
  void judge_attributes(nfs4::Opnum number, const Message& message, const Pending& call,
                        Connection& connection);
  void remember(const Message& message, Pending& call);
  bool take_result(nfs4::Opnum number, const Message& message, wire::Reader& reader, Pending& call,
                   Connection& connection);
  void take_exchange(const nfs4::ExchangeIdOk& result, const Pending& call);
  void use_client_id(std::uint64_t id, const Message& message);
  void take_flags(const nfs4::SequenceOk& result, const Message& message);
  void note_answer(const nfs4::SequenceOk& result);
  bool take_io_result(const Message& message, wire::Reader& reader, const Pending& call,
                      Connection& connection);
  void take_layout(const nfs4::LayoutgetResult& result, const Message& message,
                   const Pending& call);
  void take_return(const nfs4::LayoutreturnResult& result, const Message& message,
                   const Pending& call);
  const PnfsSession* find_session(const nfs4::SessionId& id) const;
  MessagePlace place(const Message& message) const { return {number_, message.event}; }

  Layouts& layouts_;
  std::uint64_t number_;
  std::string server_end_;
  std::vector<ClientId> client_ids_;
  std::vector<PnfsSession> sessions_;  // created on this connection
  bool at_data_server_ = false;
  bool has_roles_ = false;  // the server has a role of pNFS
  bool is_plain_ = false;   // or that it is not
  std::unordered_map<std::uint32_t, Pending> calls_;
  std::unordered_map<std::uint32_t, ReplyChunk> reply_chunks_;  // of those with a long reply
  nfs4::SessionId answered_session_{};
  std::vector<std::uint64_t> answered_;  // by slot of that session: moment of the latest answer
};

}  // namespace steertag::conformance
