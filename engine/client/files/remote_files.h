// The files of a server as a client uses them, whatever version of NFS and whatever transport.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "client/files/file_error.h"
#include "nfs/v4/types.h"
#include "rpc/held_opaque.h"
#include "support/bytes.h"
#include "support/expected.h"

namespace steertag::peer {

/// From the first answer NFS3ERR_JUKEBOX, NFS4ERR_DELAY or NFS4ERR_GRACE to the end of trying the
/// same again: the grace period of Linux servers is 90 s.
inline constexpr std::chrono::milliseconds kMostDelay{120'000};
/// Pause before such a try; it doubles from the first to the second.
inline constexpr std::chrono::milliseconds kShortestPause{20};
inline constexpr std::chrono::milliseconds kLongestPause{2000};
/// Symbolic links that a path may lead over, as Linux has it.
inline constexpr std::size_t kMostFollowedLinks = 40;
/// Octets and components of a path with all its links replaced: PATH_MAX of POSIX systems.
inline constexpr std::size_t kMostPath = 4096;
/// Entries of one directory that are listed: a limit against servers that list for ever. Who sorts
/// them keeps them all, which takes 1.5 GB.
inline constexpr std::uint64_t kMostListed = 4'000'000;

/// A handle of any version (NFS4_FHSIZE is the larger).
using RemoteHandle = rpc::HeldOpaque<128>;

/// ftype3, with the same meaning in version 4.
enum class RemoteType : std::uint8_t {
  unknown = 0,
  regular = 1,
  directory = 2,
  block = 3,
  character = 4,
  link = 5,
  socket = 6,
  fifo = 7,
};

struct RemoteAttributes {
  RemoteType type = RemoteType::unknown;
  std::uint32_t mode = 0;
  std::uint32_t links = 1;
  std::string owner;  // a number with version 3
  std::string group;
  std::uint64_t size = 0;
  std::uint64_t used = 0;  // octets of storage
  std::int64_t modified_s = 0;
  std::uint32_t modified_ns = 0;
};

struct RemoteObject {
  RemoteHandle handle;
  RemoteAttributes attributes;
};

struct RemoteEntry {
  std::string_view name;  // octets as the server has them
  std::optional<RemoteAttributes> attributes;
  RemoteHandle handle;  // empty when the server does not tell
};
/// False ends the listing.
using EntrySink = std::function<bool(const RemoteEntry&)>;
using NameSink = std::function<bool(std::string_view)>;

/// A file that is open for reading or writing; 0 is none.
using RemoteFile = std::uint32_t;

struct ReadOutcome {
  View data;  // valid during the callback; less than asked for is no error
  bool eof = false;
};
using WriteVerifier = std::uint64_t;
/// stable_how, with the same meaning in every version.
enum class Stability : std::uint8_t { unstable = 0, data_sync = 1, file_sync = 2 };
struct WriteOutcome {
  std::uint32_t count = 0;
  bool stable = false;  // on stable storage already: no COMMIT is needed
  WriteVerifier verifier = 0;
};
using ReadDone = std::function<void(Expected<ReadOutcome, FileError>)>;
using WriteDone = std::function<void(Expected<WriteOutcome, FileError>)>;
using CommitDone = std::function<void(Expected<WriteVerifier, FileError>)>;

/// What is best asked for at a time.
struct TransferLimits {
  std::uint32_t read_bytes = 0;    // of one READ
  std::uint32_t write_bytes = 0;   // of one WRITE
  std::uint32_t calls = 1;         // under way
  std::size_t transfer_bytes = 0;  // of all calls under way
};

/// What a caller asks of a transfer; 0 leaves it to the server and the transport.
struct TransferWish {
  std::uint32_t io_bytes = 0;  // of one READ or WRITE
  std::uint32_t calls = 0;     // under way
};
/// The limits, or the wish where that is less.
inline TransferLimits limited(TransferLimits limits, const TransferWish& wish) {
  if (wish.io_bytes != 0) {
    limits.read_bytes = std::min(limits.read_bytes, wish.io_bytes);
    limits.write_bytes = std::min(limits.write_bytes, wish.io_bytes);
  }
  if (wish.calls != 0) limits.calls = std::min(limits.calls, wish.calls);
  return limits;
}

/// Names and attributes: members wait for their outcome. Data: members return at once and the
/// callback comes from `step`; it may start others, but not wait.
class RemoteFiles {
 public:
  virtual ~RemoteFiles() = default;

  /// The object at a path from the server's root; symbolic links on the way are followed, one at
  /// the end if `follow`.
  virtual Expected<RemoteObject, FileError> find(std::string_view path, bool follow) = 0;
  virtual Expected<RemoteAttributes, FileError> attributes(const RemoteHandle& object) = 0;
  virtual Expected<std::string, FileError> read_link(const RemoteHandle& link) = 0;
  /// All entries without "." and "..".
  virtual Expected<void, FileError> list(const RemoteHandle& directory, const EntrySink& sink) = 0;
  /// Their names alone: the server looks at no entry's attributes.
  virtual Expected<void, FileError> list_names(const RemoteHandle& directory,
                                               const NameSink& sink) = 0;
  virtual Expected<void, FileError> remove(const RemoteHandle& directory,
                                           std::string_view name) = 0;
  virtual Expected<void, FileError> rename(const RemoteHandle& directory, std::string_view from,
                                           std::string_view to) = 0;

  virtual Expected<RemoteFile, FileError> open(const RemoteHandle& file) = 0;
  /// Makes a new file and opens it for writing; an error if the name exists.
  virtual Expected<RemoteFile, FileError> create(const RemoteHandle& directory,
                                                 std::string_view name, std::uint32_t mode) = 0;
  virtual Expected<void, FileError> set_size(RemoteFile file, std::uint64_t size) = 0;
  virtual Expected<void, FileError> close(RemoteFile file) = 0;

  virtual void read(RemoteFile file, std::uint64_t offset, std::uint32_t count, ReadDone done) = 0;
  /// `data` must stay until the callback. The server may do more than asked for: see WriteOutcome.
  virtual void write(RemoteFile file, std::uint64_t offset, View data, Stability stability,
                     WriteDone done) = 0;
  virtual void commit(RemoteFile file, CommitDone done) = 0;
  virtual void step(std::chrono::milliseconds timeout) = 0;

  /// The id of EXCHANGE_ID, and the stateid by which an open file is read. Version 3 has neither:
  /// the anonymous stateid.
  virtual std::uint64_t client_id() const { return 0; }
  virtual nfs4::StateId state_of(RemoteFile /*file*/) const { return {}; }
  /// From here on a read delegation of an open file is kept until its CLOSE, or until it is
  /// recalled. `recalled` gets the file, inside of a notice, and return_delegation has to follow.
  /// Version 3 has no delegations.
  virtual void keep_delegations(std::function<void(RemoteFile)> /*recalled*/) {}
  /// Gives back what the file has, if anything.
  virtual void return_delegation(RemoteFile /*file*/) {}
  virtual TransferLimits limits() const = 0;
  /// Those of an open file, which may be less or more.
  virtual TransferLimits limits_of(RemoteFile /*file*/) const { return limits(); }
  virtual std::uint32_t version() const = 0;
  /// Gives back what the server keeps for this client; nothing but the destructor may follow.
  virtual Expected<void, FileError> end() = 0;
};

}  // namespace steertag::peer
