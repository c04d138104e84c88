// A storage whose unstable octets are in the memory of this process until they are committed.
// They are lost with the process, as those of a host are lost with its power.
#pragma once

#include <map>
#include <memory>

#include "server/storage/backend.h"
#include "support/lru_map.h"

namespace steertag::peer {

/// MiB of unstable octets that a server may be asked to keep: it has them in memory.
inline constexpr std::uint32_t kMostUnstableMib = 1024;
/// Files whose unstable writes are counted, so that `change` never goes back.
inline constexpr std::size_t kMostUnstableFiles = 65'536;

/// Other storages of the same octets do not see them before `commit`, `publish`, or a change of the
/// file's attributes by this one. A write that they make meanwhile is overwritten then.
class VolatileBackend final : public Backend {
 public:
  /// Of an extent beside its octets: the node of the map and the buffer's own words.
  static constexpr std::size_t kExtentOverhead = 128;

  /// Beyond `most_bytes`, with an overhead for each extent, all unstable octets go to the storage
  /// early, as a host may write back.
  VolatileBackend(std::unique_ptr<Backend> stable, std::size_t most_bytes, Clock clock);

  NodeId root() const override { return stable_->root(); }
  bool read_only(NodeId node) const override { return stable_->read_only(node); }
  Handle handle(NodeId node) const override { return stable_->handle(node); }
  Result<NodeId> resolve(View handle) const override { return stable_->resolve(handle); }
  Result<Attributes> attributes(NodeId node) const override;
  Status change(NodeId node, const AttributeChange& change) override;
  Result<NodeId> lookup(NodeId directory, std::string_view name) const override {
    return stable_->lookup(directory, name);
  }
  Result<NodeId> create(NodeId directory, std::string_view name, const NewNode& node) override {
    return stable_->create(directory, name, node);
  }
  Status remove(NodeId directory, std::string_view name) override;
  Status remove_directory(NodeId directory, std::string_view name) override {
    return stable_->remove_directory(directory, name);
  }
  Status rename(NodeId from_directory, std::string_view from_name, NodeId to_directory,
                std::string_view to_name) override;
  Status link(NodeId node, NodeId directory, std::string_view name) override {
    return stable_->link(node, directory, name);
  }
  Result<bool> list(NodeId directory, std::uint64_t cookie,
                    const std::function<bool(const DirectoryEntry&)>& visit) const override {
    return stable_->list(directory, cookie, visit);
  }
  Result<std::uint32_t> read(NodeId node, std::uint64_t offset, std::uint32_t count,
                             std::vector<Slice>& out) override;
  Result<Slice> read_link(NodeId node) const override { return stable_->read_link(node); }
  Status write(NodeId node, std::uint64_t offset, View data) override;
  Status commit(NodeId node) override;
  Status publish(NodeId node) override;
  std::uint64_t write_verifier() const override { return stable_->write_verifier() + losses_; }
  std::uint64_t cookie_verifier() const override { return stable_->cookie_verifier(); }
  SpaceUsage space() const override { return stable_->space(); }
  std::uint64_t largest_file_bytes() const override { return stable_->largest_file_bytes(); }
  bool superuser_owns_all() const override { return stable_->superuser_owns_all(); }
  void tend() override { stable_->tend(); }
  std::uint32_t largest_transfer_bytes() const override {
    return stable_->largest_transfer_bytes();
  }

 private:
  /// What is not in the storage yet.
  struct Unstable {
    std::map<std::uint64_t, Bytes> extents;  // by their offsets; none overlaps another
    std::uint64_t end = 0;                   // behind the last octet
    Time mtime;
  };
  const Unstable* find(NodeId node) const;
  /// Takes octets of this range out.
  void cut(Unstable& file, std::uint64_t from, std::uint64_t to);
  /// Gives up what a removed file has.
  void forget_if_gone(const Result<NodeId>& file);
  Status hand_over(const Handle& handle, Unstable file);
  /// The result is that of the file with this handle.
  Status hand_over_all(const Handle& own);

  std::unique_ptr<Backend> stable_;
  std::size_t most_bytes_;
  Clock clock_;
  // By handles: the number of a removed file may become that of another.
  std::map<Handle, Unstable> files_;
  std::size_t bytes_ = 0;  // that all extents cost
  mutable LruMap<NodeId, std::uint64_t> writes_{kMostUnstableFiles};
  std::uint64_t losses_ = 0;  // times that the storage refused octets
};

}  // namespace steertag::peer
