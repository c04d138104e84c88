// Keeps what the messages of all connections of one observer say of direct access.
//
// The judges of these connections share it. It judges nothing (docs/direct-access.md).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "conformance/direct/grants.h"
#include "nfs/direct/messages.h"
#include "nfs/v4/types.h"

namespace steertag::conformance {

/// At most this many users; a server has 64 at a time. Beyond it the oldest is forgotten.
inline constexpr std::size_t kMostDirectUsers = 256;
/// At most this many references of all users, at some 200 octets each. Beyond it new ones are not
/// kept.
inline constexpr std::size_t kMostGrantsInAll = 65536;
/// At most this many files have a number. Beyond it references to others are not kept.
inline constexpr std::size_t kMostDirectFiles = 65536;
/// At most this many failed optimistic Reads of a user wait for the RPC that follows.
inline constexpr std::size_t kMostFailedReads = 64;
/// At most this many recalls of delegations are kept. Beyond it the oldest is forgotten.
inline constexpr std::size_t kMostDirectRecalls = 1024;

/// An optimistic Read that brought no valid frame.
struct FailedRead {
  std::uint32_t file = 0;
  std::uint64_t offset = 0;  // of the block
  std::uint64_t event = 0;   // index of the event that showed it
};

/// A delegation of NFSv4 and its file. Stateids of two servers may be alike.
struct FileDelegation {
  decltype(nfs4::StateId::other) other{};
  std::string file;  // its handle
  bool operator==(const FileDelegation&) const = default;
};

/// The sender of one HELLO.
struct DirectUser {
  direct::Ticket ticket{};
  direct::Verifier verifier{};
  std::uint32_t block_bytes = 0;
  std::uint32_t most_references = 0;
  std::uint32_t lease_seconds = 0;
  std::uint64_t hello_event = 0;  // index of the reply to its HELLO
  Grants grants;
  bool ended = false;  // its RPC connection, or another HELLO on it
  /// Messages say that the server may have voided its references, or something unseen can.
  bool may_have_ended = false;
  bool incomplete = false;  // references may have been granted that are not known
  std::size_t asked = 0;    // connection requests with its ticket
  std::size_t opened = 0;   // that were accepted
  std::deque<FailedRead> failed;

  /// What a lease certainly covers: the server may have granted before its reply was seen.
  std::int64_t certain_lease_ns() const {
    constexpr std::int64_t kNsPerTenth = 100'000'000;
    constexpr std::int64_t kCertainTenths = 9;
    return std::int64_t{lease_seconds} * kNsPerTenth * kCertainTenths;
  }
  void fail(const FailedRead& read);
};

/// What changed of a file.
struct ContentChange {
  std::string file;                   // its handle
  bool denies = false;                // mode, owner or group; otherwise the data
  std::optional<std::uint64_t> size;  // the new one; or else a WRITE:
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

class DirectAccess {
 public:
  /// A moment behind all before it.
  std::uint64_t next_moment() { return ++moment_; }

  /// A new user, after the reply to its HELLO.
  std::shared_ptr<DirectUser> add(const direct::HelloArgs& asked, const direct::HelloOk& terms,
                                  std::uint64_t event);
  /// A HELLO with this verifier may void the references of an earlier one.
  void doubt(const direct::Verifier& verifier);
  std::shared_ptr<DirectUser> find(const direct::Ticket& ticket) const;
  bool has_users() const { return !users_.empty(); }
  /// Whether another user has a frame with all of these octets.
  bool is_foreign(const DirectUser& user, std::uint32_t stag, std::uint64_t offset,
                  std::uint64_t length) const;

  /// The number of a file; nothing if there are too many.
  std::optional<std::uint32_t> number_of(std::string_view handle);
  /// That of a file that has one.
  std::optional<std::uint32_t> find_file(std::string_view handle) const;
  const std::string& handle_of(std::uint32_t file) const { return handles_[file]; }
  /// Keeps a reference; otherwise the user is incomplete.
  void keep(DirectUser& user, const Grant& grant);
  /// The reply to a change of a file was seen, at `event`; its call at the moment `began`.
  void change(const ContentChange& change, std::uint64_t began, std::uint64_t event);

  /// CB_RECALL of a delegation was seen.
  void recall(FileDelegation delegation);
  /// Whether it was recalled. It counts once.
  bool take_recall(const FileDelegation& delegation);

  /// Whether all connections are seen, from their beginning. Unless it is so, a connection that was
  /// not seen proves nothing.
  bool sees_all() const { return sees_all_; }
  void note_unseen() { sees_all_ = false; }
  /// Whether the request for an optimistic connection was seen. Before, none may be recorded here.
  bool sees_optimistic() const { return sees_optimistic_; }
  void note_optimistic() { sees_optimistic_ = true; }

 private:
  std::uint64_t moment_ = 0;
  bool sees_all_ = true;
  bool sees_optimistic_ = false;
  std::deque<std::shared_ptr<DirectUser>> users_;  // oldest first
  std::unordered_map<std::string, std::uint32_t> files_;
  std::deque<std::string> handles_;  // which stay where they are
  std::deque<FileDelegation> recalls_;
};

}  // namespace steertag::conformance
