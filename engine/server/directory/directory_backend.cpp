// The directory export's handles, attributes, names and listings.
#include "server/directory/directory_backend.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <limits>

#include "server/storage/entry_name.h"
#include "server/storage/filehandle_mac.h"
#include "wire/xdr.h"

namespace steertag::peer {
namespace {

constexpr std::uint64_t kLargestOffset = std::numeric_limits<off_t>::max();

/// The largest size that the file system takes, tried on a file without a name; what off_t can
/// say if there are no such files.
std::uint64_t probe_largest_file(int directory) {
  const Descriptor file(::openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file) return kLargestOffset;
  std::uint64_t fits = 0;
  for (std::uint64_t bit = std::uint64_t{1} << 62; bit > 0; bit >>= 1) {
    if (::ftruncate(file.get(), static_cast<off_t>(fits | bit)) == 0) fits |= bit;
  }
  return fits == 0 ? kLargestOffset : fits;
}

}  // namespace

bool runs_as_root() {
  return ::geteuid() == 0;
}

DirectoryBackend::DirectoryBackend(HostRoot root, const DirectoryOptions& options, Clock clock,
                                   std::function<std::uint64_t()> random)
    : host_(new Host{
          HostTree(std::move(root), clock, options.most_placed_objects, options.shares_handles),
          OpenFiles(clock, options.most_open_files),
          ReaddirCookies(options.key, std::move(clock), options.listing_window_entries)}),
      key_(options.key),
      read_only_(options.read_only),
      gives_away_(runs_as_root()),
      random_(std::move(random)),
      verifier_(random_()),
      root_(host_->tree.root().node()) {
  HostRoot& place = host_->tree.root();
  place.set_relief([raw = host_.get()] { raw->files.clear(); });
  largest_file_bytes_ = read_only_ ? kLargestOffset : probe_largest_file(place.descriptor());
}

Expected<std::unique_ptr<DirectoryBackend>, std::string> DirectoryBackend::open(
    const DirectoryOptions& options, Clock clock, std::function<std::uint64_t()> random) {
  auto root = HostRoot::open(options.path, options.means);
  if (!root) return Unexpected<std::string>(std::move(root.error()));
  const auto object = root->object("");
  if (!object) return Unexpected<std::string>("cannot export " + options.path);
  // Follows from the key and the directory: the same after a restart, another for another export.
  const std::uint64_t words[] = {fingerprint(*object, options.key)};
  const std::uint64_t filesystem_id = filehandle_mac(options.key, words);
  std::unique_ptr<DirectoryBackend> made(
      new DirectoryBackend(std::move(*root), options, std::move(clock), std::move(random)));
  made->filesystem_id_ = filesystem_id;
  return made;
}

Result<HostObject> DirectoryBackend::object(NodeId node) const {
  auto opened = host_->tree.object(node);
  if (!opened && opened.error() == Status::stale) host_->files.forget(node);
  return opened;
}

Result<HostObject> DirectoryBackend::regular(NodeId node) const {
  auto opened = object(node);
  if (!opened) return opened;
  if (opened->is_directory()) return tl::unexpected(Status::is_directory);
  if (opened->type() != FileType::regular) return tl::unexpected(Status::invalid);
  return opened;
}

Result<HostObject> DirectoryBackend::writable_directory(NodeId node) const {
  if (read_only_) return tl::unexpected(Status::read_only);
  return host_->tree.directory(node);
}

Handle DirectoryBackend::make_handle(NodeId node, std::uint64_t fingerprint) const {
  const std::uint64_t words[] = {filesystem_id_, node, fingerprint};
  Handle handle;
  for (std::size_t i = 0; i < std::size(words); ++i)
    wire::store_u64(handle.data() + 8 * i, words[i]);
  wire::store_u64(handle.data() + 24, filehandle_mac(key_, words));
  return handle;
}

Handle DirectoryBackend::handle(NodeId node) const {
  // The object may go between the operation that found it and this. No object has the fingerprint
  // 0, so that such a handle is stale (RFC 1813 2.6), and not one that was never made.
  constexpr std::uint64_t kGone = 0;
  const auto opened = object(node);
  return make_handle(node, opened ? fingerprint(*opened, key_) : kGone);
}

Result<NodeId> DirectoryBackend::resolve(View handle) const {
  if (handle.size() != kHandleBytes) return tl::unexpected(Status::bad_handle);
  std::uint64_t words[3];
  for (std::size_t i = 0; i < std::size(words); ++i)
    words[i] = wire::load_u64(handle.data() + 8 * i);
  if (words[0] != filesystem_id_ ||
      wire::load_u64(handle.data() + 24) != filehandle_mac(key_, words))
    return tl::unexpected(Status::bad_handle);
  const NodeId node = words[1];
  const auto opened = object(node);
  if (!opened) return tl::unexpected(opened.error());
  if (fingerprint(*opened, key_) != words[2]) return tl::unexpected(Status::stale);
  return node;
}

Result<Attributes> DirectoryBackend::attributes(NodeId node) const {
  const auto opened = object(node);
  if (!opened) return tl::unexpected(opened.error());
  Attributes attributes = to_attributes(*opened, filesystem_id_);
  if (const std::uint64_t* count = host_->changes.find(node)) attributes.change += *count;
  return attributes;
}

Result<NodeId> DirectoryBackend::lookup(NodeId directory, std::string_view name) const {
  const auto parent = host_->tree.directory(directory);
  if (!parent) return tl::unexpected(parent.error());
  if (name == ".") return directory;
  if (name == "..") return host_->tree.parent(directory);
  if (const Status status = check_name(name); status != Status::ok)
    return tl::unexpected(status == Status::invalid ? Status::access : status);
  const auto found = host_->tree.root().child(*parent, name);
  // What is mounted below the export is not part of it.
  if (!found)
    return tl::unexpected(found.error() == Status::cross_device ? Status::access : found.error());
  host_->tree.learn(found->node(), directory, name);
  return found->node();
}

Result<bool> DirectoryBackend::list(NodeId directory, std::uint64_t cookie,
                                    const std::function<bool(const DirectoryEntry&)>& visit) const {
  constexpr std::uint64_t kDot = 1;
  constexpr std::uint64_t kDotDot = ReaddirCookies::kDotDotCookie;
  const auto opened = host_->tree.directory(directory);
  if (!opened) return tl::unexpected(opened.error());
  if (cookie < kDotDot) {
    const auto parent = host_->tree.parent(directory);
    if (cookie < kDot && !visit({kDot, ".", directory})) return false;
    if (!visit({kDotDot, "..", parent.value_or(directory)})) return false;
  }
  bool fresh = cookie == 0;
  std::uint64_t after = std::max(cookie, kDotDot);
  for (;;) {  // every round goes on behind the last window, and cookies end
    const auto window = host_->windows.window(host_->tree.root(), *opened, after, fresh);
    if (!window) return tl::unexpected(window.error());
    fresh = false;
    const auto& entries = (*window)->entries;
    const bool to_the_end = (*window)->to_the_end;
    auto at = std::upper_bound(
        entries.begin(), entries.end(), after,
        [](std::uint64_t value, const ListedEntry& entry) { return value < entry.cookie; });
    for (; at != entries.end(); ++at) {
      host_->tree.learn(at->node, directory, at->name);
      if (!visit({at->cookie, at->name, at->node})) return false;
      after = at->cookie;
    }
    if (to_the_end) return true;
  }
}

SpaceUsage DirectoryBackend::space() const {
  struct statvfs usage {};
  if (::fstatvfs(host_->tree.root().descriptor(), &usage) != 0) return {};
  return {usage.f_blocks * usage.f_frsize, usage.f_bavail * usage.f_frsize, usage.f_files,
          usage.f_favail};
}

}  // namespace steertag::peer
