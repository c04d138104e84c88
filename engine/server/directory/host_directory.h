// Reading the entries of a directory of the host.
#pragma once

#include <functional>
#include <string_view>

#include "server/directory/descriptor.h"
#include "server/storage/backend.h"

namespace steertag::peer {

struct HostEntry {
  NodeId node = 0;
  std::string_view name;  // valid during the visit; never "." or ".."
  bool may_be_directory = false;
};

/// Visits all entries from the start, until the visitor returns false, in the host's order.
/// `directory` is open for reading.
Status each_entry(Descriptor directory, const std::function<bool(const HostEntry&)>& visit);

}  // namespace steertag::peer
