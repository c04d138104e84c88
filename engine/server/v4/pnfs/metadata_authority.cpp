// Layouts and opens of a metadata server.
#include "server/v4/pnfs/metadata_authority.h"

#include "server/v4/state/layouts.h"
#include "server/v4/state/stateids.h"

namespace steertag::peer {
namespace {

constexpr std::uint32_t kMinorVersion = 1;
constexpr ByteRange kWholeFile{0, ~std::uint64_t{0}};
constexpr ByteRange kNoOctet{1, 0};

}  // namespace

bool MetadataAuthority::is_over(TimePoint recalled) const {
  const StateTables& tables = state_.tables();
  return tables.now() - recalled >= policy_.patience * tables.options.lease;
}

LayoutRight MetadataAuthority::right_by_layout(const LayoutWish& wish, const Client& client) const {
  if (!policy_.checks_layout) return {nfs4::Status::NFS4_OK, kWholeFile};
  const File* file = state_.tables().find_file(wish.file);
  const LayoutState* layout = file ? layout_of(*file, client) : nullptr;
  if (!layout && !policy_.revocation_fences && !client.revoked.empty())
    return {nfs4::Status::NFS4_OK, kWholeFile};
  if (!layout) return {};
  if (layout->recalled && is_over(*layout->recalled)) return {};
  if (layout->recalled && !layout->recall_done && !policy_.spares_silent) return {};
  if (!wish.range) return {nfs4::Status::NFS4_OK, kWholeFile};
  const auto range = covering(*layout, *wish.range);
  if (!range) return {};
  return {nfs4::Status::NFS4_OK, *range};
}

nfs4::Status MetadataAuthority::check_stateid(const LayoutWish& wish, const Client& client) {
  const StateNumber number = number_in(state_.tables(), client, wish.stateid);
  const bool is_open = client.opens.contains(number);
  if (!is_open && !policy_.takes_every_stateid) return nfs4::Status::NFS4ERR_BAD_STATEID;
  const auto range = policy_.checks_locks ? wish.range : std::nullopt;
  const nfs4::Status status =
      state_.check_io(kMinorVersion, client.id, wish.stateid, wish.file, *wish.want, range);
  if (is_open || policy_.ends_stateids) return status;
  if (status == nfs4::Status::NFS4_OK) taken_.emplace(client.id, number);
  return taken_.contains({client.id, number}) ? nfs4::Status::NFS4_OK : status;
}

LayoutRight MetadataAuthority::decide(const LayoutWish& wish) {
  const LayoutRight right = present_right(wish);
  if (policy_.checks_when_executed) return right;
  const std::pair key(std::string(wish.owner), wish.file);
  if (right.status == nfs4::Status::NFS4_OK) {
    allowed_[key] = state_.tables().now();
    return right;
  }
  const auto found = allowed_.find(key);
  const bool was_allowed = found != allowed_.end() && wish.arrived <= found->second;
  return was_allowed ? LayoutRight{nfs4::Status::NFS4_OK, kWholeFile} : right;
}

LayoutRight MetadataAuthority::present_right(const LayoutWish& wish) {
  if (!wish.want && !policy_.checks_commit) return {nfs4::Status::NFS4_OK, kWholeFile};
  const Client* client = state_.tables().find_client(kMinorVersion, wish.owner, true);
  if (!client && !wish.want) return {};
  if (!client && unfenced_.contains({std::string(wish.owner), wish.file}))
    return {nfs4::Status::NFS4_OK, kWholeFile};
  if (!client) return {nfs4::Status::NFS4ERR_BAD_STATEID, {}};
  LayoutRight right = right_by_layout(wish, *client);
  if (right.status != nfs4::Status::NFS4_OK || !wish.want || !policy_.checks_open) return right;
  right.status = check_stateid(wish, *client);
  // Another part may be locked.
  if (state_.has_mandatory_locks(wish.file)) right.range = wish.range.value_or(kNoOctet);
  if (right.status == nfs4::Status::NFS4_OK && !policy_.lease_end_fences)
    unfenced_.emplace(wish.owner, wish.file);
  return right;
}

}  // namespace steertag::peer
