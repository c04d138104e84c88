// A walk over a payload stream to its DDP-eligible items, of those that were reduced too.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "nfs/binding.h"
#include "wire/fault.h"
#include "wire/xdr.h"

namespace steertag::nfs {

/// A list of items, and what stopped the walk before its end: the items are then those before that.
/// An operation without a name stops it as `bad_enum`, because its arguments have no known end.
struct ItemWalk {
  std::vector<EligibleItem> items;
  wire::Fault fault;
};

/// Steps over items and counts how many octets were taken out of the stream so far.
class ItemWalker {
 public:
  explicit ItemWalker(wire::Reader& reader) : reader_(reader) {}

  wire::Reader& reader() { return reader_; }

  /// Reads the item's count word, asks `is_reduced(item)`, and steps over the data if it is here.
  template <class IsReduced>
  void take_item(std::string_view name, IsReduced&& is_reduced) {
    EligibleItem item;
    item.length = reader_.u32(name);
    if (!reader_.ok()) return;
    item.position = reader_.offset() + removed_;
    item.reduced = item.length != 0 && is_reduced(item);
    walk_.items.push_back(item);
    if (item.reduced) {
      // RFC 8166 3.4.5: data and roundup leave the stream, the count word stays.
      removed_ += wire::roundup4(item.length);
    } else {
      reader_.opaque_fixed(item.length, name);
    }
  }
  void take_absent() {
    EligibleItem item;
    item.position = reader_.offset() + removed_;
    item.absent = true;
    walk_.items.push_back(item);
  }
  std::size_t items() const { return walk_.items.size(); }

  ItemWalk finish() {
    walk_.fault = reader_.fault();
    return std::move(walk_);
  }

 private:
  wire::Reader& reader_;
  std::size_t removed_ = 0;
  ItemWalk walk_;
};

}  // namespace steertag::nfs
