// What a data server may let clients do, as its metadata server has said.
#pragma once

#include <map>
#include <string>

#include "server/v4/pnfs/layout_authority.h"

namespace steertag::peer::control {

/// Beyond it all are forgotten, and asked for again.
inline constexpr std::size_t kMostGrants = 16384;

class Grants {
 public:
  using Key = std::string;
  /// The file comes first in it.
  static Key key_of(const LayoutWish& wish);

  /// Whether the wish of this key is granted, in all of its range.
  bool allows(const Key& key, const LayoutWish& wish) const;
  void add(const Key& key, const ByteRange& range);
  void forget(const Handle& file);
  void forget_all() { granted_.clear(); }
  std::size_t size() const { return granted_.size(); }

 private:
  std::map<Key, ByteRange> granted_;
};

}  // namespace steertag::peer::control
