// The memory file system's tree: handles, attributes, names and links.
#include "server/storage/memory_backend.h"

#include <algorithm>
#include <limits>

#include "server/storage/entry_name.h"
#include "server/storage/filehandle_mac.h"
#include "wire/xdr.h"

namespace steertag::peer {
namespace {

constexpr std::uint32_t kModeBits = 07777;
constexpr std::uint32_t kNanosecondsPerSecond = 1'000'000'000;
// An ancestor walk can be no longer than the number of objects; this keeps it finite whatever
// happens.
constexpr std::size_t kDeepestTree = 65536;

bool is_time(const TimeChange& change) {
  return !change.to || change.to->nanoseconds < kNanosecondsPerSecond;
}

}  // namespace

MemoryBackend::MemoryBackend(Clock clock, const std::function<std::uint64_t()>& random,
                             const MemoryLimits& limits)
    : clock_(std::move(clock)),
      limits_(limits),
      key_{random(), random()},
      verifier_(random()),
      filesystem_id_(random()) {
  Node node;
  node.attributes.type = FileType::directory;
  node.attributes.mode = 0777;  // callers without credentials can use the export too
  node.attributes.link_count = 2;
  node.attributes.filesystem_id = filesystem_id_;
  node.attributes.file_id = kRoot;
  node.attributes.atime = node.attributes.mtime = node.attributes.ctime = clock_();
  nodes_.emplace(kRoot, std::move(node));
}

MemoryBackend::Node* MemoryBackend::find(NodeId id) {
  const auto found = nodes_.find(id);
  return found == nodes_.end() ? nullptr : &found->second;
}

const MemoryBackend::Node* MemoryBackend::find(NodeId id) const {
  const auto found = nodes_.find(id);
  return found == nodes_.end() ? nullptr : &found->second;
}

Result<MemoryBackend::Node*> MemoryBackend::directory(NodeId id) {
  Node* node = find(id);
  if (!node) return tl::unexpected(Status::stale);
  if (node->attributes.type != FileType::directory) return tl::unexpected(Status::not_directory);
  return node;
}

Result<const MemoryBackend::Node*> MemoryBackend::directory(NodeId id) const {
  const Node* node = find(id);
  if (!node) return tl::unexpected(Status::stale);
  if (node->attributes.type != FileType::directory) return tl::unexpected(Status::not_directory);
  return node;
}

std::uint64_t MemoryBackend::filehandle_mac(NodeId id, std::uint64_t generation) const {
  const std::uint64_t words[] = {filesystem_id_, id, generation};
  return peer::filehandle_mac(key_, words);
}

Handle MemoryBackend::handle(NodeId id) const {
  const Node* node = find(id);
  const std::uint64_t generation = node ? node->generation : 0;
  Handle handle;
  wire::store_u64(handle.data(), filesystem_id_);
  wire::store_u64(handle.data() + 8, id);
  wire::store_u64(handle.data() + 16, generation);
  wire::store_u64(handle.data() + 24, filehandle_mac(id, generation));
  return handle;
}

Result<NodeId> MemoryBackend::resolve(View handle) const {
  if (handle.size() != kHandleBytes) return tl::unexpected(Status::bad_handle);
  const NodeId id = wire::load_u64(handle.data() + 8);
  const std::uint64_t generation = wire::load_u64(handle.data() + 16);
  if (wire::load_u64(handle.data()) != filesystem_id_ ||
      wire::load_u64(handle.data() + 24) != filehandle_mac(id, generation))
    return tl::unexpected(Status::bad_handle);
  const Node* node = find(id);
  if (!node || node->generation != generation) return tl::unexpected(Status::stale);
  return id;
}

Result<Attributes> MemoryBackend::attributes(NodeId id) const {
  const Node* node = find(id);
  if (!node) return tl::unexpected(Status::stale);
  return node->attributes;
}

Status MemoryBackend::change(NodeId id, const AttributeChange& change) {
  Node* node = find(id);
  if (!node) return Status::stale;
  Attributes& attributes = node->attributes;
  if (!is_time(change.atime) || !is_time(change.mtime)) return Status::invalid;
  if (change.size_bytes) {
    if (attributes.type == FileType::directory) return Status::is_directory;
    if (attributes.type != FileType::regular) return Status::invalid;
    const std::uint64_t size = attributes.size_bytes;
    if (*change.size_bytes != size)
      tell_of_change(id, std::min(size, *change.size_bytes), std::max(size, *change.size_bytes),
                     ContentChange::size);
    if (const Status status = resize(*node, *change.size_bytes); status != Status::ok)
      return status;
  }
  if (change.mode || change.uid || change.gid) tell_of_change(id, ContentChange::readers);
  const Time now = clock_();
  if (change.mode) attributes.mode = *change.mode & kModeBits;
  if (change.uid) attributes.uid = *change.uid;
  if (change.gid) attributes.gid = *change.gid;
  if (change.size_bytes) attributes.mtime = now;
  if (change.atime.to_server_time) attributes.atime = now;
  if (change.atime.to) attributes.atime = *change.atime.to;
  if (change.mtime.to_server_time) attributes.mtime = now;
  if (change.mtime.to) attributes.mtime = *change.mtime.to;
  mark_changed(*node, now);
  return Status::ok;
}

const MemoryBackend::Entry* MemoryBackend::entry(const Node& directory,
                                                 std::string_view name) const {
  const auto cookie = directory.cookies.find(name);
  return cookie == directory.cookies.end() ? nullptr : &directory.entries.at(cookie->second);
}

void MemoryBackend::touch(Node& node) {
  node.attributes.mtime = clock_();
  mark_changed(node, node.attributes.mtime);
}

void MemoryBackend::mark_changed(Node& node, const Time& now) {
  node.attributes.ctime = now;
  ++node.attributes.change;
}

bool MemoryBackend::has_room(std::size_t name_bytes, std::size_t gone_entries,
                             std::size_t gone_bytes) const {
  return entries_ - gone_entries < limits_.total_entries &&
         name_bytes_ - gone_bytes + name_bytes <= limits_.total_name_bytes;
}

void MemoryBackend::insert(Node& directory, std::string_view name, NodeId id) {
  const std::uint64_t cookie = directory.next_cookie++;
  const auto made = directory.entries.emplace(cookie, Entry{std::string(name), id}).first;
  directory.cookies.emplace(made->second.name, cookie);
  ++entries_;
  name_bytes_ += name.size();
  directory.attributes.size_bytes = directory.entries.size();
  touch(directory);
}

void MemoryBackend::erase(Node& directory, std::string_view name) {
  const auto found = directory.cookies.find(name);
  const std::uint64_t cookie = found->second;
  --entries_;
  name_bytes_ -= name.size();
  directory.cookies.erase(found);
  directory.entries.erase(cookie);
  directory.attributes.size_bytes = directory.entries.size();
  touch(directory);
}

Result<NodeId> MemoryBackend::lookup(NodeId id, std::string_view name) const {
  const auto parent = directory(id);
  if (!parent) return tl::unexpected(parent.error());
  if (name == ".") return id;
  if (name == "..") return (*parent)->parent;
  if (const Status status = check_name(name); status != Status::ok)
    return tl::unexpected(status == Status::invalid ? Status::access : status);
  const Entry* found = entry(**parent, name);
  if (!found) return tl::unexpected(Status::no_entry);
  return found->node;
}

Result<NodeId> MemoryBackend::create(NodeId id, std::string_view name, const NewNode& what) {
  const auto parent = directory(id);
  if (!parent) return tl::unexpected(parent.error());
  if (is_dots(name)) return tl::unexpected(Status::exists);
  if (const Status status = check_name(name); status != Status::ok) return tl::unexpected(status);
  if (entry(**parent, name)) return tl::unexpected(Status::exists);
  if (nodes_.size() >= limits_.total_files || !has_room(name.size()))
    return tl::unexpected(Status::no_space);
  if (what.type == FileType::link) {
    if (what.link_text.size() > kLongestLinkText) return tl::unexpected(Status::name_too_long);
    if (what.link_text.size() > limits_.total_bytes - used_bytes_)
      return tl::unexpected(Status::no_space);
  }

  Node node;
  Attributes& attributes = node.attributes;
  attributes.type = what.type;
  attributes.mode = what.type == FileType::link ? 0777 : 0;
  attributes.link_count = what.type == FileType::directory ? 2 : 1;
  attributes.uid = what.uid;
  attributes.gid = what.gid;
  attributes.device = what.device;
  attributes.filesystem_id = filesystem_id_;
  attributes.file_id = next_id_;
  attributes.atime = attributes.mtime = attributes.ctime = clock_();
  node.parent = id;
  node.generation = next_id_;
  if (what.type == FileType::link) {
    const auto* text = reinterpret_cast<const std::byte*>(what.link_text.data());
    node.link_text = std::make_shared<const Bytes>(text, text + what.link_text.size());
    attributes.size_bytes = what.link_text.size();
  }
  const NodeId created = next_id_++;
  nodes_.emplace(created, std::move(node));
  AttributeChange changes = what.change;
  if (what.type != FileType::regular) changes.size_bytes.reset();
  if (const Status status = change(created, changes); status != Status::ok) {
    nodes_.erase(created);
    return tl::unexpected(status);
  }
  if (what.type == FileType::directory) ++(*parent)->attributes.link_count;
  used_bytes_ += what.type == FileType::link ? what.link_text.size() : 0;
  insert(**parent, name, created);
  return created;
}

void MemoryBackend::tell_of_change(NodeId id, std::uint64_t from, std::uint64_t to,
                                   ContentChange what) {
  if (observer_) observer_->before_change(id, from, to, what);
}

void MemoryBackend::tell_of_change(NodeId id, ContentChange what) {
  tell_of_change(id, 0, std::numeric_limits<std::uint64_t>::max(), what);
}

void MemoryBackend::drop_link(NodeId id) {
  Node* node = find(id);
  if (!node) return;
  mark_changed(*node, clock_());
  if (--node->attributes.link_count > 0 && node->attributes.type != FileType::directory) return;
  tell_of_change(id, ContentChange::removal);
  if (node->link_text) used_bytes_ -= node->link_text->size();
  while (!node->blocks.empty()) release_block(*node, node->blocks.begin()->first);
  nodes_.erase(id);
}

Status MemoryBackend::unlink(NodeId id, std::string_view name, bool is_directory) {
  const auto parent = directory(id);
  if (!parent) return parent.error();
  if (name == ".") return Status::invalid;
  if (name == "..") return is_directory ? Status::exists : Status::invalid;
  if (const Status status = check_name(name); status != Status::ok) return status;
  const Entry* found = entry(**parent, name);
  if (!found) return Status::no_entry;
  const NodeId victim_id = found->node;
  const Node& victim = *find(victim_id);
  const bool victim_is_directory = victim.attributes.type == FileType::directory;
  if (is_directory && !victim_is_directory) return Status::not_directory;
  if (!is_directory && victim_is_directory) return Status::is_directory;
  if (is_directory && !victim.entries.empty()) return Status::not_empty;
  erase(**parent, name);
  if (is_directory) --(*parent)->attributes.link_count;
  drop_link(victim_id);
  return Status::ok;
}

Status MemoryBackend::remove(NodeId directory, std::string_view name) {
  return unlink(directory, name, false);
}

Status MemoryBackend::remove_directory(NodeId directory, std::string_view name) {
  return unlink(directory, name, true);
}

bool MemoryBackend::is_ancestor(NodeId ancestor, NodeId of) const {
  for (std::size_t depth = 0; depth < kDeepestTree; ++depth) {
    if (of == ancestor) return true;
    const Node* node = find(of);
    if (!node || of == kRoot) return false;
    of = node->parent;
  }
  return true;
}

Status MemoryBackend::check_replace(const Node& moved, const Entry& victim) const {
  const Node& target = *find(victim.node);
  const bool moves_directory = moved.attributes.type == FileType::directory;
  const bool hits_directory = target.attributes.type == FileType::directory;
  if (moves_directory != hits_directory) return Status::exists;  // RFC 1813 3.3.14
  if (hits_directory && !target.entries.empty()) return Status::not_empty;
  return Status::ok;
}

Status MemoryBackend::rename(NodeId from_id, std::string_view from_name, NodeId to_id,
                             std::string_view to_name) {
  const auto from = directory(from_id);
  if (!from) return from.error();
  const auto to = directory(to_id);
  if (!to) return to.error();
  if (is_dots(from_name) || is_dots(to_name)) return Status::invalid;
  for (const std::string_view name : {from_name, to_name}) {
    if (const Status status = check_name(name); status != Status::ok) return status;
  }
  const Entry* source = entry(**from, from_name);
  if (!source) return Status::no_entry;
  const NodeId moved_id = source->node;
  Node& moved = *find(moved_id);
  const bool is_directory = moved.attributes.type == FileType::directory;
  if (is_directory && is_ancestor(moved_id, to_id)) return Status::invalid;
  const Entry* victim = entry(**to, to_name);
  if (!victim && !has_room(to_name.size(), 1, from_name.size())) return Status::no_space;
  if (victim) {
    const NodeId victim_id = victim->node;
    if (victim_id == moved_id) return Status::ok;  // RFC 1813 3.3.14: same object, nothing happens
    if (const Status status = check_replace(moved, *victim); status != Status::ok) return status;
    erase(**to, to_name);
    if (is_directory) --(*to)->attributes.link_count;
    drop_link(victim_id);
  }
  erase(**from, from_name);
  insert(**to, to_name, moved_id);
  if (is_directory) {
    --(*from)->attributes.link_count;
    ++(*to)->attributes.link_count;
    moved.parent = to_id;
  }
  mark_changed(moved, clock_());
  return Status::ok;
}

Status MemoryBackend::link(NodeId id, NodeId directory_id, std::string_view name) {
  Node* node = find(id);
  if (!node) return Status::stale;
  const auto parent = directory(directory_id);
  if (!parent) return parent.error();
  if (node->attributes.type == FileType::directory) return Status::is_directory;
  if (is_dots(name)) return Status::exists;
  if (const Status status = check_name(name); status != Status::ok) return status;
  if (entry(**parent, name)) return Status::exists;
  if (node->attributes.link_count >= kMostLinks) return Status::too_many_links;
  if (!has_room(name.size())) return Status::no_space;
  ++node->attributes.link_count;
  mark_changed(*node, clock_());
  insert(**parent, name, id);
  return Status::ok;
}

Result<bool> MemoryBackend::list(NodeId id, std::uint64_t cookie,
                                 const std::function<bool(const DirectoryEntry&)>& visit) const {
  const auto node = directory(id);
  if (!node) return tl::unexpected(node.error());
  if (cookie < 1 && !visit({1, ".", id})) return false;
  if (cookie < 2 && !visit({2, "..", (*node)->parent})) return false;
  for (auto at = (*node)->entries.upper_bound(cookie); at != (*node)->entries.end(); ++at) {
    if (!visit({at->first, at->second.name, at->second.node})) return false;
  }
  return true;
}

}  // namespace steertag::peer
