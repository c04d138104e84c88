// A directory of the host as the storage of the reference server.
#pragma once

#include "server/directory/host_tree.h"
#include "server/directory/open_files.h"
#include "server/directory/readdir_cookies.h"
#include "server/storage/backend.h"
#include "support/lru_map.h"

namespace steertag::peer {

struct DirectoryOptions {
  std::string path;
  bool read_only = false;
  std::optional<ConfinedOpen::Means> means;  // none: those that the host allows
  HandleKey key{};                           // handles and cookies stay valid as long as it does
  /// Other servers make objects in it whose handles come here. Each is searched for at once,
  /// however recent the last search is.
  bool shares_handles = false;
  std::size_t most_open_files = kMostOpenFiles;
  std::size_t most_placed_objects = kMostPlacedObjects;
  std::size_t listing_window_entries = kListingWindowEntries;
};

/// Whether the host refuses this process nothing: then what a caller may do is the upper layer's
/// decision alone.
bool runs_as_root();

/// An object's NodeId is its inode number, and a handle is that number and the object's fingerprint
/// under a keyed code. Handles of the host (open_by_handle_at) are not used. They need root, do not
/// exist on every file system, and lead to objects outside of the export.
///
/// A server that runs as root gives new objects to the caller. Any other owns all objects itself
/// and ignores the owners requested at creation. The host checks the server's user; the upper layer
/// checks the caller.
///
/// Everything but UNSTABLE writes is on the disk when the call returns.
class DirectoryBackend final : public Backend {
 public:
  /// `clock` is the host's own, see ReaddirCookies; `random` gives the write verifier. The error is
  /// one sentence without its end.
  static Expected<std::unique_ptr<DirectoryBackend>, std::string> open(
      const DirectoryOptions& options, Clock clock, std::function<std::uint64_t()> random);

  NodeId root() const override { return root_; }
  bool read_only(NodeId /*node*/) const override { return read_only_; }
  bool superuser_owns_all() const override { return gives_away_; }
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
  /// Cookies are codes of names under the key, so that they are good as long as handles are.
  std::uint64_t cookie_verifier() const override { return filesystem_id_; }
  SpaceUsage space() const override;
  std::uint64_t largest_file_bytes() const override { return largest_file_bytes_; }
  void tend() override { host_->files.close_idle(); }

 private:
  /// What the host is asked through; reading changes what is remembered, never what is served.
  struct Host {
    HostTree tree;
    OpenFiles files;
    ReaddirCookies windows;
    // Changes made through this storage since the object was first changed.
    LruMap<NodeId, std::uint64_t> changes{kMostCountedObjects};
  };

  DirectoryBackend(HostRoot root, const DirectoryOptions& options, Clock clock,
                   std::function<std::uint64_t()> random);
  Handle make_handle(NodeId node, std::uint64_t fingerprint) const;
  Result<HostObject> object(NodeId node) const;
  /// A regular file; the status says what else it is.
  Result<HostObject> regular(NodeId node) const;
  Result<HostObject> writable_directory(NodeId node) const;
  /// Makes the next `Attributes::change` of the object another one.
  void mark_changed(NodeId node) { ++host_->changes.put(node); }

  // directory_attributes.cpp
  Status resize(const HostObject& object, std::uint64_t size_bytes);
  Status set_owner(const HostObject& object, std::optional<std::uint32_t> uid,
                   std::optional<std::uint32_t> gid);
  Status set_mode(const HostObject& object, std::uint32_t mode);
  Status set_times(const HostObject& object, const AttributeChange& change);
  /// Clears the set-id bits, as writing by another user does.
  Status drop_set_id(const HostObject& object);
  /// Makes the object's attributes, or a directory's entries, permanent.
  Status persist(const HostObject& object);

  // directory_creation.cpp
  Result<HostObject> make(const HostObject& parent, const std::string& name, const NewNode& what);
  Result<HostObject> make_regular(const HostObject& parent, const std::string& name);
  Status dress(const HostObject& object, const HostObject& parent, const NewNode& what);

  // directory_names.cpp
  Status unlink(NodeId directory, std::string_view name, int flags);
  /// After a name was taken from an object.
  void after_unlink(Result<HostObject>& victim, NodeId directory, std::string_view name);

  std::unique_ptr<Host> host_;
  HandleKey key_;
  bool read_only_;
  bool gives_away_;  // runs as root, so new objects can belong to the caller
  std::function<std::uint64_t()> random_;
  std::uint64_t verifier_;
  NodeId root_;
  std::uint64_t filesystem_id_;
  std::uint64_t largest_file_bytes_;
};

}  // namespace steertag::peer
