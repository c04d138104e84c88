// The deviations that one client shall have.
#include "deviations/client_deviations.h"

#include <algorithm>

#include "deviations/catalogue.h"

namespace steertag::deviations {

Expected<void, std::string> ClientDeviations::add(std::string_view name) {
  const auto found = find_or_propose(name, trace::Role::client);
  if (!found) return tl::unexpected(found.error());
  if (std::ranges::find(chosen_, *found) == chosen_.end()) chosen_.push_back(*found);
  return {};
}

void ClientDeviations::install(peer::FileClientOptions& options) const {
  for (const Deviation* each : chosen_) {
    if (each->pending) options.deviations.add(*each->pending);
  }
}

}  // namespace steertag::deviations
