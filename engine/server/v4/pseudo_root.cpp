// The pseudo file system of NFS version 4.
#include "server/v4/pseudo_root.h"

#include <algorithm>

namespace steertag::peer {
namespace {

// fileid of the root, and of the directory that the export covers.
constexpr std::uint64_t kRootFile = 1;
constexpr std::uint64_t kExportFile = 2;
constexpr std::uint64_t kExportCookie = 3;  // behind "." and ".."
constexpr std::string_view kHandleText = "the root of the pseudo file sys.";
static_assert(kHandleText.size() == kHandleBytes);

}  // namespace

PseudoRoot::PseudoRoot(Backend& storage, std::string_view name) : storage_(storage), name_(name) {
  const auto covered = storage.attributes(storage.root());
  if (covered) attributes_ = *covered;  // for its times
  attributes_.type = FileType::directory;
  attributes_.mode = 0555;
  attributes_.link_count = 3;
  attributes_.uid = attributes_.gid = 0;
  attributes_.size_bytes = 1;
  attributes_.used_bytes = 0;
  // RFC 8881 5.8.1.9: another file system than the export's.
  attributes_.filesystem_id = covered && covered->filesystem_id == 0 ? 1 : 0;
  attributes_.file_id = kRootFile;
}

std::uint64_t PseudoRoot::mounted_on(NodeId node, const Attributes& attributes) const {
  return node == storage_.root() ? kExportFile : attributes.file_id;
}

Handle PseudoRoot::handle(NodeId node) const {
  if (node != kNode) return storage_.handle(node);
  Handle handle;
  std::ranges::copy(std::as_bytes(std::span(kHandleText)), handle.begin());
  return handle;
}

Result<NodeId> PseudoRoot::resolve(View handle) const {
  if (std::ranges::equal(handle, std::as_bytes(std::span(kHandleText)))) return kNode;
  return storage_.resolve(handle);
}

Result<Attributes> PseudoRoot::attributes(NodeId node) const {
  if (node == kNode) return attributes_;
  return storage_.attributes(node);
}

Status PseudoRoot::change(NodeId node, const AttributeChange& change) {
  return node == kNode ? Status::read_only : storage_.change(node, change);
}

Result<NodeId> PseudoRoot::lookup(NodeId directory, std::string_view name) const {
  if (directory == kNode) {
    if (name == name_) return storage_.root();
    if (name == "." || name == "..") return kNode;
    return tl::unexpected(Status::no_entry);
  }
  if (directory == storage_.root() && name == "..") return kNode;
  return storage_.lookup(directory, name);
}

Result<NodeId> PseudoRoot::create(NodeId directory, std::string_view name, const NewNode& node) {
  if (directory != kNode) return storage_.create(directory, name, node);
  return tl::unexpected(name == name_ ? Status::exists : Status::read_only);
}

Status PseudoRoot::remove(NodeId directory, std::string_view name) {
  return directory == kNode ? Status::read_only : storage_.remove(directory, name);
}

Status PseudoRoot::remove_directory(NodeId directory, std::string_view name) {
  return directory == kNode ? Status::read_only : storage_.remove_directory(directory, name);
}

Status PseudoRoot::rename(NodeId from_directory, std::string_view from_name, NodeId to_directory,
                          std::string_view to_name) {
  if (from_directory == kNode && to_directory == kNode) return Status::read_only;
  if (from_directory == kNode || to_directory == kNode) return Status::cross_device;
  return storage_.rename(from_directory, from_name, to_directory, to_name);
}

Status PseudoRoot::link(NodeId node, NodeId directory, std::string_view name) {
  if (node == kNode) return Status::is_directory;
  if (directory == kNode) return Status::cross_device;
  return storage_.link(node, directory, name);
}

Result<bool> PseudoRoot::list(NodeId directory, std::uint64_t cookie,
                              const std::function<bool(const DirectoryEntry&)>& visit) const {
  if (directory != kNode) return storage_.list(directory, cookie, visit);
  const DirectoryEntry entries[] = {
      {1, ".", kNode}, {2, "..", kNode}, {kExportCookie, name_, storage_.root()}};
  for (const DirectoryEntry& entry : entries) {
    if (entry.cookie > cookie && !visit(entry)) return false;
  }
  return true;
}

Result<std::uint32_t> PseudoRoot::read(NodeId node, std::uint64_t offset, std::uint32_t count,
                                       std::vector<Slice>& out) {
  if (node == kNode) return tl::unexpected(Status::is_directory);
  return storage_.read(node, offset, count, out);
}

Result<Slice> PseudoRoot::read_link(NodeId node) const {
  if (node == kNode) return tl::unexpected(Status::invalid);
  return storage_.read_link(node);
}

Status PseudoRoot::write(NodeId node, std::uint64_t offset, View data) {
  return node == kNode ? Status::is_directory : storage_.write(node, offset, data);
}

Status PseudoRoot::commit(NodeId node) {
  return node == kNode ? Status::is_directory : storage_.commit(node);
}

}  // namespace steertag::peer
