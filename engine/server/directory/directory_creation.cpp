// Making objects in a directory export.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "server/directory/directory_backend.h"
#include "server/directory/host_error.h"
#include "server/storage/entry_name.h"

namespace steertag::peer {
namespace {

// Until its owner and mode are set no other user may access an object.
constexpr mode_t kPrivateFile = 0600;
constexpr mode_t kPrivateDirectory = 0700;

mode_t type_bits(FileType type) {
  switch (type) {
    case FileType::block:
      return S_IFBLK;
    case FileType::character:
      return S_IFCHR;
    case FileType::socket:
      return S_IFSOCK;
    default:
      return S_IFIFO;
  }
}

int make_special(int directory, const char* name, const NewNode& what) {
  if (what.type == FileType::directory) return ::mkdirat(directory, name, kPrivateDirectory);
  if (what.type == FileType::link)
    return ::symlinkat(std::string(what.link_text).c_str(), directory, name);
  return ::mknodat(directory, name, type_bits(what.type) | kPrivateFile,
                   ::makedev(what.device.major, what.device.minor));
}

/// File systems keep times in steps of up to two seconds.
constexpr std::int64_t kCoarsestTimeS = 2;

/// The host's clock, as objects get their time of birth from it.
std::int64_t host_time_s() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return now.tv_sec;
}

/// Whether this is what was made since then, not what a process of the host put in its place. The
/// owner of the latter must not change.
bool is_newborn(const HostObject& object, FileType type, std::int64_t since_s) {
  const struct statx& status = object.status;
  if (object.type() != type || status.stx_uid != ::geteuid()) return false;
  if (type != FileType::directory && status.stx_nlink != 1) return false;
  if (!(status.stx_mask & STATX_BTIME)) return true;
  return status.stx_btime.tv_sec >= since_s - kCoarsestTimeS;
}

Status check_new(std::string_view name, const NewNode& what) {
  if (is_dots(name)) return Status::exists;
  if (what.type == FileType::link &&
      (what.link_text.empty() || what.link_text.find('\0') != std::string_view::npos))
    return Status::invalid;
  return check_name(name);
}

}  // namespace

Result<HostObject> DirectoryBackend::make_regular(const HostObject& parent,
                                                  const std::string& name) {
  auto made = host_->tree.root().make_file(parent, name);
  if (!made) return tl::unexpected(made.error());
  return host_->tree.root().adopt(std::move(*made));
}

Result<HostObject> DirectoryBackend::make(const HostObject& parent, const std::string& name,
                                          const NewNode& what) {
  if (what.type == FileType::regular) return make_regular(parent, name);
  const std::int64_t since_s = host_time_s();
  if (make_special(parent.descriptor.get(), name.c_str(), what) != 0)
    return tl::unexpected(from_errno(errno));
  auto made = host_->tree.root().child(parent, name);
  if (made && gives_away_ && !is_newborn(*made, what.type, since_s))
    return tl::unexpected(Status::io);
  return made;
}

/// Owner, mode, size and times of a new object.
Status DirectoryBackend::dress(const HostObject& object, const HostObject& parent,
                               const NewNode& what) {
  const AttributeChange& change = what.change;
  const bool inherits_group = (parent.status.stx_mode & S_ISGID) != 0;
  const std::uint32_t group = inherits_group ? object.status.stx_gid : what.gid;
  std::uint32_t mode = change.mode.value_or(0);
  Status status = Status::ok;
  if (gives_away_)
    status = set_owner(object, change.uid.value_or(what.uid), change.gid.value_or(group));
  if (inherits_group && !change.gid && object.is_directory()) mode |= S_ISGID;
  // A program must gain no rights because the object belongs to the server's user. It must not run
  // as the user of a server that is not root. Nor may it run with a group that its maker is not
  // known to be in.
  const std::uint32_t its_group = gives_away_ ? change.gid.value_or(group) : object.status.stx_gid;
  const bool made_for_caller = gives_away_ || object.status.stx_uid == what.uid;
  if (!object.is_directory() && !made_for_caller) mode &= ~std::uint32_t{S_ISUID};
  // The upper layer lets the superuser name any group, here without being root.
  const bool named = its_group == change.gid && (gives_away_ || what.uid != 0);
  if (!object.is_directory() && its_group != what.gid && !named) mode &= ~std::uint32_t{S_ISGID};
  if (status == Status::ok && change.size_bytes && object.type() == FileType::regular)
    status = resize(object, *change.size_bytes);
  if (status == Status::ok) status = set_mode(object, mode);
  if (status == Status::ok) status = set_times(object, change);
  return status;
}

Result<NodeId> DirectoryBackend::create(NodeId directory, std::string_view name,
                                        const NewNode& what) {
  const auto parent = writable_directory(directory);
  if (!parent) return tl::unexpected(parent.error());
  if (const Status status = check_new(name, what); status != Status::ok)
    return tl::unexpected(status);
  const std::string its_name(name);
  auto made = make(*parent, its_name, what);
  if (!made) return tl::unexpected(made.error());
  const NodeId node = made->node();
  mark_changed(directory);
  Status status = dress(*made, *parent, what);
  if (status == Status::ok) status = persist(*made);
  if (status == Status::ok) status = persist(*parent);
  if (status != Status::ok) {
    const auto there = host_->tree.root().child(*parent, name);
    if (there && there->node() == node)
      ::unlinkat(parent->descriptor.get(), its_name.c_str(),
                 what.type == FileType::directory ? AT_REMOVEDIR : 0);
    host_->files.forget(node);
    return tl::unexpected(status);
  }
  host_->tree.learn(node, directory, name);
  // Its maker may write to it whatever its mode says (RFC 1813 4.4).
  if (what.type == FileType::regular) host_->files.keep(node, std::move(made->descriptor));
  return node;
}

}  // namespace steertag::peer
