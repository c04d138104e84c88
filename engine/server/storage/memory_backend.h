// A file system in memory: the storage of the reference server unless it exports a directory.
#pragma once

#include <map>
#include <string>
#include <unordered_map>

#include "server/storage/backend.h"
#include "server/storage/entry_name.h"

namespace steertag::peer {

/// What all files together may occupy, unless an administrator says otherwise. Any client may fill
/// it, so it has to fit beside everything else on a small machine.
inline constexpr std::uint64_t kDefaultMemoryMib = 256;
/// The most that an administrator may say: more than machines have, and far from wrapping in
/// octets.
inline constexpr std::uint64_t kMostMemoryMib = 1ULL << 24;

/// Named limits of a memory file system.
struct MemoryLimits {
  std::uint64_t total_bytes = kDefaultMemoryMib << 20;  // what all files together may occupy
  std::uint64_t total_files = 65536;                    // objects of any type
  std::uint64_t total_entries = 131072;                 // names of them: two for each
  std::uint64_t total_name_bytes = 16ULL << 20;   // in those names: each file's can be the longest
  std::uint64_t largest_file_bytes = 1ULL << 40;  // files may be sparse
  std::uint32_t largest_transfer_bytes = kLargestTransfer;
};

inline constexpr std::size_t kLongestLinkText = 1024;  // octets of a symbolic link's text
inline constexpr std::uint32_t kMostLinks = 65000;     // hard links to one file
inline constexpr std::size_t kBlockBytes = 65536;      // a file is kept in blocks of this size
inline constexpr std::size_t kBlockGrain = 4096;       // a block grows in steps of this size

class MemoryBackend final : public Backend {
 public:
  /// `random` gives the key that makes handles unforgeable, and the write verifier.
  MemoryBackend(Clock clock, const std::function<std::uint64_t()>& random,
                const MemoryLimits& limits = {});

  NodeId root() const override { return kRoot; }
  Handle handle(NodeId node) const override;
  Result<NodeId> resolve(View handle) const override;
  Result<Attributes> attributes(NodeId node) const override;
  Status change(NodeId node, const AttributeChange& change) override;
  Result<NodeId> lookup(NodeId directory, std::string_view name) const override;
  Result<NodeId> create(NodeId directory, std::string_view name, const NewNode& node) override;
  Status remove(NodeId directory, std::string_view name) override;
  Status remove_directory(NodeId directory, std::string_view name) override;
  Status rename(NodeId from_directory, std::string_view from_name, NodeId to_directory,
                std::string_view to_name) override;
  Status link(NodeId node, NodeId directory, std::string_view name) override;
  Result<bool> list(NodeId directory, std::uint64_t cookie,
                    const std::function<bool(const DirectoryEntry&)>& visit) const override;
  Result<std::uint32_t> read(NodeId node, std::uint64_t offset, std::uint32_t count,
                             std::vector<Slice>& out) override;
  Result<Slice> read_link(NodeId node) const override;
  Status write(NodeId node, std::uint64_t offset, View data) override;
  Status commit(NodeId node) override;
  std::uint64_t write_verifier() const override { return verifier_; }
  /// Cookies never change their meaning, but go with the storage.
  std::uint64_t cookie_verifier() const override { return verifier_; }
  bool observe(ContentObserver* observer) override {
    observer_ = observer;
    return true;
  }
  void announce(NodeId file, ContentChange what) override { tell_of_change(file, what); }
  SpaceUsage space() const override;
  std::uint64_t largest_file_bytes() const override { return limits_.largest_file_bytes; }
  std::uint32_t largest_transfer_bytes() const override { return limits_.largest_transfer_bytes; }

 private:
  static constexpr NodeId kRoot = 1;

  struct Entry {
    std::string name;
    NodeId node = 0;
  };
  struct Node {
    Attributes attributes;
    std::uint64_t generation = 0;
    // Regular files: what is not there reads as zeros.
    std::map<std::uint64_t, std::shared_ptr<Bytes>> blocks;
    std::shared_ptr<const Bytes> link_text;
    // Directories: cookies only grow, so a listing survives any change between its calls.
    std::map<std::uint64_t, Entry> entries;
    std::unordered_map<std::string_view, std::uint64_t> cookies;  // views into `entries`
    std::uint64_t next_cookie = 3;                                // 1 and 2 are "." and ".."
    NodeId parent = kRoot;
  };

  Node* find(NodeId id);
  const Node* find(NodeId id) const;
  Result<Node*> directory(NodeId id);
  Result<const Node*> directory(NodeId id) const;
  const Entry* entry(const Node& directory, std::string_view name) const;
  /// Whether another name fits besides those that go.
  bool has_room(std::size_t name_bytes, std::size_t gone_entries = 0,
                std::size_t gone_bytes = 0) const;
  void insert(Node& directory, std::string_view name, NodeId id);
  void erase(Node& directory, std::string_view name);
  /// Data or entries changed.
  void touch(Node& node);
  /// Anything at all changed.
  void mark_changed(Node& node, const Time& now);
  void tell_of_change(NodeId id, std::uint64_t from, std::uint64_t to, ContentChange what);
  void tell_of_change(NodeId id, ContentChange what);  // of all of the file
  void drop_link(NodeId id);
  Status unlink(NodeId directory, std::string_view name, bool is_directory);
  Status check_replace(const Node& moved, const Entry& victim) const;
  bool is_ancestor(NodeId ancestor, NodeId of) const;
  Status resize(Node& node, std::uint64_t size);
  /// Octets that a write would add to what is used.
  std::uint64_t growth(const Node& node, std::uint64_t offset, std::size_t length) const;
  void write_block(Node& node, std::uint64_t index, std::size_t within, View data);
  void release_block(Node& node, std::uint64_t index);
  std::uint64_t filehandle_mac(NodeId id, std::uint64_t generation) const;

  ContentObserver* observer_ = nullptr;
  Clock clock_;
  MemoryLimits limits_;
  std::uint64_t key_[2];
  std::uint64_t verifier_;
  std::uint64_t filesystem_id_;
  std::unordered_map<NodeId, Node> nodes_;
  NodeId next_id_ = kRoot + 1;
  std::uint64_t used_bytes_ = 0;
  std::uint64_t entries_ = 0;
  std::uint64_t name_bytes_ = 0;
};

}  // namespace steertag::peer
