// The storage that the reference server serves: files, directories and links.
// Unforgeable handles address them, whatever keeps the octets.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "endpoint/limits.h"
#include "support/bytes.h"
#include "support/expected.h"

namespace steertag::peer {

/// Outcome of a storage operation, with the numbers of nfsstat3 (RFC 1813 2.6).
enum class Status : std::uint32_t {
  ok = 0,
  not_owner = 1,
  no_entry = 2,
  io = 5,
  access = 13,
  exists = 17,
  cross_device = 18,
  not_directory = 20,
  is_directory = 21,
  invalid = 22,
  too_big = 27,
  no_space = 28,
  read_only = 30,
  too_many_links = 31,
  name_too_long = 63,
  not_empty = 66,
  over_quota = 69,
  stale = 70,
  bad_handle = 10001,
  not_sync = 10002,
  bad_cookie = 10003,
  not_supported = 10004,
  too_small = 10005,
  bad_type = 10007,
  jukebox = 10008,
};

template <class Value>
using Result = Expected<Value, Status>;

/// ftype3 (RFC 1813 2.5).
enum class FileType : std::uint32_t {
  regular = 1,
  directory = 2,
  block = 3,
  character = 4,
  link = 5,
  socket = 6,
  fifo = 7,
};

struct Time {
  std::int64_t seconds = 0;
  std::uint32_t nanoseconds = 0;
  bool operator==(const Time&) const = default;
};

/// Gives the present time; passed in so that runs can be repeated.
using Clock = std::function<Time()>;

struct DeviceNumber {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
};

struct Attributes {
  FileType type = FileType::regular;
  std::uint32_t mode = 0;  // permission bits only, 07777
  std::uint32_t link_count = 1;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::uint64_t size_bytes = 0;
  std::uint64_t used_bytes = 0;
  DeviceNumber device;
  std::uint64_t filesystem_id = 0;
  std::uint64_t file_id = 0;
  std::uint64_t change = 0;  // another value after every change of data, entries or attributes
  Time atime;
  Time mtime;
  Time ctime;
};

/// What to do with a time: leave it (neither), set it to the server's clock, or to a given value.
struct TimeChange {
  bool to_server_time = false;
  std::optional<Time> to;
};

/// Attributes to change; nothing means: leave it.
struct AttributeChange {
  std::optional<std::uint32_t> mode;
  std::optional<std::uint32_t> uid;
  std::optional<std::uint32_t> gid;
  std::optional<std::uint64_t> size_bytes;
  TimeChange atime;
  TimeChange mtime;
};

/// A resolved object; valid only until the storage changes. Keep handles, not nodes.
using NodeId = std::uint64_t;

inline constexpr std::size_t kHandleBytes = 32;  // RFC 1813 2.3.3 allows up to 64
using Handle = std::array<std::byte, kHandleBytes>;

/// Octets inside the storage's own memory. They do not change and do not go away while `owner`
/// lives.
struct Slice {
  View bytes;
  std::shared_ptr<const void> owner;
};

struct DirectoryEntry {
  std::uint64_t cookie = 0;  // where the listing continues after this entry
  std::string_view name;     // valid during the visit
  NodeId node = 0;
};

struct SpaceUsage {
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;
  std::uint64_t total_files = 0;
  std::uint64_t free_files = 0;
};

/// What a new object is.
struct NewNode {
  FileType type = FileType::regular;
  std::string_view link_text;  // FileType::link
  DeviceNumber device;         // FileType::block, FileType::character
  std::uint32_t uid = 0;       // owner unless `change` says otherwise
  std::uint32_t gid = 0;
  AttributeChange change;
};

/// What becomes of a regular file, or of a part of it.
enum class ContentChange : std::uint8_t { data, size, readers, denial, removal };

/// Sees each change of a regular file's contents, or of who may read it, before it is made.
class ContentObserver {
 public:
  virtual ~ContentObserver() = default;
  /// What was known of octets from `from` up to `to` may not hold any more. `to` may be behind the
  /// end of the file, and is the largest number for all of it.
  virtual void before_change(NodeId file, std::uint64_t from, std::uint64_t to,
                             ContentChange what) = 0;
};

/// One file system. All names are single path components; "." and ".." are understood by `lookup`.
/// No operation checks permissions: that is the upper layer's, which knows the caller.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual NodeId root() const = 0;
  /// Whether every change of this object, or of its entries, is Status::read_only whoever asks.
  virtual bool read_only(NodeId /*node*/) const { return false; }
  virtual Handle handle(NodeId node) const = 0;
  /// Status::bad_handle for a handle that this storage never made, Status::stale for one whose
  /// object is gone.
  virtual Result<NodeId> resolve(View handle) const = 0;

  virtual Result<Attributes> attributes(NodeId node) const = 0;
  virtual Status change(NodeId node, const AttributeChange& change) = 0;

  virtual Result<NodeId> lookup(NodeId directory, std::string_view name) const = 0;
  virtual Result<NodeId> create(NodeId directory, std::string_view name, const NewNode& node) = 0;
  virtual Status remove(NodeId directory, std::string_view name) = 0;
  virtual Status remove_directory(NodeId directory, std::string_view name) = 0;
  virtual Status rename(NodeId from_directory, std::string_view from_name, NodeId to_directory,
                        std::string_view to_name) = 0;
  virtual Status link(NodeId node, NodeId directory, std::string_view name) = 0;
  /// Visits the entries after `cookie` (0: from the start, "." and ".." first) until the visitor
  /// returns false. The result tells whether the end was reached.
  virtual Result<bool> list(NodeId directory, std::uint64_t cookie,
                            const std::function<bool(const DirectoryEntry&)>& visit) const = 0;

  /// Appends the slices that hold up to `count` octets from `offset`. The result is the number of
  /// octets found: less than `count` only at the end of the file.
  virtual Result<std::uint32_t> read(NodeId node, std::uint64_t offset, std::uint32_t count,
                                     std::vector<Slice>& out) = 0;
  virtual Result<Slice> read_link(NodeId node) const = 0;
  virtual Status write(NodeId node, std::uint64_t offset, View data) = 0;
  /// Makes earlier writes permanent.
  virtual Status commit(NodeId node) = 0;
  /// Makes earlier writes visible to other storages of the same octets; they need not be permanent.
  virtual Status publish(NodeId /*node*/) { return Status::ok; }
  /// Changes whenever unstable writes may have been lost (RFC 1813 3.3.7).
  virtual std::uint64_t write_verifier() const = 0;

  /// Another value when cookies of listings have lost their meaning.
  virtual std::uint64_t cookie_verifier() const = 0;

  virtual SpaceUsage space() const = 0;
  virtual std::uint64_t largest_file_bytes() const = 0;
  /// Whether the superuser among the callers is also that of the storage, and thus may do all that
  /// any owner may. False where it is no more than the one user that all objects are made for.
  virtual bool superuser_owns_all() const { return true; }
  /// From now on the observer sees changes; with nullptr none does. It must outlive the storage, or
  /// be taken back. False if changes are possible that the storage does not see.
  virtual bool observe(ContentObserver* /*observer*/) { return false; }
  /// Has the observer see a change of the whole file that is none of the storage.
  virtual void announce(NodeId /*file*/, ContentChange /*what*/) {}
  /// What falls due by time; cheap, and called between calls.
  virtual void tend() {}
  /// The largest READ or WRITE that is announced to clients; up to kLargestTransfer is
  /// served.
  virtual std::uint32_t largest_transfer_bytes() const { return kLargestTransfer; }
};

}  // namespace steertag::peer
