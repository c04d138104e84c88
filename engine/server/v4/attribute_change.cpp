// fattr4 as something to do.
#include "server/v4/attribute_change.h"

#include <charconv>

#include "nfs/v4/attribute_codec.h"
#include "server/storage/permission.h"
#include "server/v4/attribute_values.h"
#include "server/v4/utf8.h"

namespace steertag::peer {
namespace {

constexpr std::uint32_t kModeBits = 07777;
constexpr std::uint32_t kNanosecondsPerSecond = 1'000'000'000;

nfs4::Status check_mask(const nfs4::Bitmap& mask, const CompoundCall& call) {
  if (mask.has_beyond()) return nfs4::Status::NFS4ERR_ATTRNOTSUPP;
  nfs4::Status status = nfs4::Status::NFS4_OK;
  const nfs4::Bitmap readable = supported_attributes(call);
  const nfs4::Bitmap writable = settable_attributes();
  mask.for_each([&](std::uint32_t number) {
    if (writable.test(number)) return;
    const bool read_only = readable.test(number);
    if (status != nfs4::Status::NFS4ERR_ATTRNOTSUPP)
      status = read_only ? nfs4::Status::NFS4ERR_INVAL : nfs4::Status::NFS4ERR_ATTRNOTSUPP;
  });
  return status;
}

/// False for a time that is none.
bool set_time(const std::optional<nfs4::SetTime>& wanted, TimeChange& change) {
  if (!wanted) return true;
  if (wanted->set_it == nfs4::TimeHow::SET_TO_SERVER_TIME4) {
    change.to_server_time = true;
    return true;
  }
  change.to = Time{wanted->time.seconds, wanted->time.nseconds};
  return wanted->time.nseconds < kNanosecondsPerSecond;
}

nfs4::Status set_owner(const std::optional<std::string_view>& text,
                       std::optional<std::uint32_t>& id) {
  if (!text) return nfs4::Status::NFS4_OK;
  const auto number = owner_number(*text);
  if (!number) return number.error();
  id = *number;
  return nfs4::Status::NFS4_OK;
}

}  // namespace

Expected<AttributeChange, nfs4::Status> requested_change(const nfs4::Fattr& fattr,
                                                         const CompoundCall& call) {
  nfs4::Status status = check_mask(fattr.attrmask, call);
  if (status != nfs4::Status::NFS4_OK) return tl::unexpected(status);
  const auto decoded = nfs4::decode_attributes(fattr);
  if (!decoded) return tl::unexpected(nfs4::Status::NFS4ERR_BADXDR);
  const nfs4::Attributes& wanted = decoded->known;
  AttributeChange change;
  change.mode = wanted.mode;
  change.size_bytes = wanted.size;
  if ((change.mode && (*change.mode & ~kModeBits) != 0) ||
      !set_time(wanted.time_access_set, change.atime) ||
      !set_time(wanted.time_modify_set, change.mtime))
    return tl::unexpected(nfs4::Status::NFS4ERR_INVAL);
  status = set_owner(wanted.owner, change.uid);
  if (status == nfs4::Status::NFS4_OK) status = set_owner(wanted.owner_group, change.gid);
  if (status != nfs4::Status::NFS4_OK) return tl::unexpected(status);
  return change;
}

NewNode new_node(FileType type, const AttributeChange& change, const Caller& caller) {
  NewNode node;
  node.type = type;
  node.uid = caller.uid;
  node.gid = caller.gid;
  node.change = change;
  if (!is_superuser(caller)) {
    node.change.uid.reset();
    if (node.change.gid && !in_group(caller, *node.change.gid)) node.change.gid.reset();
  }
  return node;
}

std::string owner_text(std::uint32_t id) {
  return std::to_string(id);
}

Expected<std::uint32_t, nfs4::Status> owner_number(std::string_view text) {
  if (text.empty() || !is_utf8(text)) return tl::unexpected(nfs4::Status::NFS4ERR_INVAL);
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  // RFC 8881 5.9: no leading zeros. The highest number means "leave it" to hosts.
  const bool canonical = text.size() == 1 || text.front() != '0';
  if (error == std::errc{} && end == text.data() + text.size() && canonical && number != ~0U)
    return number;
  const std::size_t at = text.find('@');
  if (at != std::string_view::npos && text.substr(0, at) == "root") return 0;
  if (at != std::string_view::npos && text.substr(0, at) == "nobody") return Caller::kAnonymous;
  return tl::unexpected(nfs4::Status::NFS4ERR_BADOWNER);
}

}  // namespace steertag::peer
