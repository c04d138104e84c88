// Follows the calls of one RPC connection that matter to direct access.
//
// They are those of its program, and what changes or reads a file by NFS.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "conformance/connection_state.h"
#include "conformance/direct/direct_access.h"
#include "conformance/message.h"

namespace steertag::conformance {

/// At most this many calls without a reply are kept of one connection. Beyond it calls are not
/// kept.
inline constexpr std::size_t kMostDirectCalls = 256;

/// What the latest message says of direct access, for display.
struct DirectMessage {
  std::string_view procedure;             // "READ"; empty if the message is not of the program
  std::size_t references = 0;             // of the reply
  std::optional<std::uint64_t> fallback;  // event of the failed Read that the call does instead
};

class DirectCalls {
 public:
  explicit DirectCalls(DirectAccess& access) : access_(access) {}

  /// `rpc` is its RPC header. The server's calls are callbacks.
  void on_call(const Message& message, const RpcCall& rpc, const Connection& connection);
  /// Call it for a reply before its call is retired.
  void on_reply(const Message& message, Connection& connection);
  void on_end();
  void forget_history();
  /// Call it before each message.
  void begin_message() { latest_ = {}; }
  const DirectMessage& latest() const { return latest_; }

 private:
  enum class Kind : std::uint8_t { hello, references, give_back, change, other };
  /// A wish for references to a file.
  struct Wish {
    std::string file;
    std::uint64_t offset = 0;
    std::uint32_t most = 0;
  };
  struct Pending {
    Kind kind = Kind::other;
    std::string_view procedure;
    std::uint64_t moment = 0;
    direct::HelloArgs hello;
    std::vector<Wish> wishes;                // one, or those of BATCH
    std::vector<std::uint64_t> generations;  // of RETURN
    std::optional<ContentChange> change;
    std::uint32_t operations = 0;  // before the WRITE or SETATTR of a COMPOUND
    bool is_write = false;
    std::uint32_t version = 0;  // of NFS
  };

  Pending* remember(std::uint32_t xid, Kind kind);
  void on_direct_call(const Message& message, std::uint32_t procedure, wire::Reader& arguments);
  void on_nfs3_call(const Message& message, std::uint32_t procedure, wire::Reader& arguments);
  void on_compound(const Message& message, wire::Reader& arguments);
  void on_callback(const Message& message, const RpcCall& rpc);
  void on_return(const Message& message, const FileDelegation& delegation);
  void note_read(std::string_view file, std::uint64_t offset, std::uint64_t count);
  void take_hello(const Message& message, const Pending& call, wire::Reader& results);
  void take_references(const Message& message, const Pending& call, wire::Reader& results,
                       Connection& connection);
  void take_change(const Message& message, Pending& call, wire::Reader& results);

  friend class ReferenceCheck;
  DirectAccess& access_;
  std::shared_ptr<DirectUser> user_;
  bool hello_unclear_ = false;  // its reply was not read
  std::unordered_map<std::uint32_t, Pending> calls_;
  DirectMessage latest_;
};

}  // namespace steertag::conformance
