// Grants by file, client, deed and stateid.
#include "server/v4/pnfs/control/grants.h"

#include "wire/xdr.h"

namespace steertag::peer::control {
namespace {

std::string_view text_of(View octets) {
  return {reinterpret_cast<const char*>(octets.data()), octets.size()};
}

}  // namespace

Grants::Key Grants::key_of(const LayoutWish& wish) {
  Key key(text_of(wish.file));
  key += wish.want ? (*wish.want == AccessMode::write ? 'w' : 'r') : 'c';
  std::array<std::byte, 4> seqid{};
  wire::store_u32(seqid.data(), wish.stateid.seqid);
  key += text_of(seqid);
  key += text_of(wish.stateid.other);
  key += wish.owner;
  return key;
}

bool Grants::allows(const Key& key, const LayoutWish& wish) const {
  const auto found = granted_.find(key);
  if (found == granted_.end()) return false;
  const ByteRange& range = found->second;
  return !wish.range || (wish.range->first >= range.first && wish.range->last <= range.last);
}

void Grants::add(const Key& key, const ByteRange& range) {
  if (granted_.size() >= kMostGrants) forget_all();
  granted_[key] = range;
}

void Grants::forget(const Handle& file) {
  const std::string_view prefix = text_of(file);
  auto first = granted_.lower_bound(Key(prefix));
  while (first != granted_.end() && first->first.starts_with(prefix)) first = granted_.erase(first);
}

}  // namespace steertag::peer::control
