// The pseudo file system of NFS version 4 (RFC 7530 7.3, RFC 8881 7.3).
// It is a read-only root directory above the export, so that a client can find the export by its
// path.
#pragma once

#include "server/storage/backend.h"

namespace steertag::peer {

/// The storage with one directory above its root, that holds nothing but the export. Everything
/// else is the storage's, handles included.
class PseudoRoot final : public Backend {
 public:
  /// `name` is the export's one path component. Both must outlive this.
  PseudoRoot(Backend& storage, std::string_view name);

  /// The pseudo file system's directory.
  NodeId root() const override { return kNode; }
  bool read_only(NodeId node) const override { return node == kNode || storage_.read_only(node); }
  bool superuser_owns_all() const override { return storage_.superuser_owns_all(); }
  NodeId export_root() const { return storage_.root(); }
  /// mounted_on_fileid: the number of the directory in the pseudo file system that the export
  /// covers, for the export's root; its own for any other object.
  std::uint64_t mounted_on(NodeId node, const Attributes& attributes) const;

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
  void announce(NodeId file, ContentChange what) override { storage_.announce(file, what); }
  Status commit(NodeId node) override;
  Status publish(NodeId node) override { return storage_.publish(node); }
  std::uint64_t write_verifier() const override { return storage_.write_verifier(); }
  std::uint64_t cookie_verifier() const override { return storage_.cookie_verifier(); }
  SpaceUsage space() const override { return storage_.space(); }
  std::uint64_t largest_file_bytes() const override { return storage_.largest_file_bytes(); }
  std::uint32_t largest_transfer_bytes() const override {
    return storage_.largest_transfer_bytes();
  }

 private:
  // No storage has an object of this number: inode numbers and counters start from 1.
  static constexpr NodeId kNode = ~NodeId{0};

  Backend& storage_;
  std::string_view name_;
  Attributes attributes_;
};

}  // namespace steertag::peer
