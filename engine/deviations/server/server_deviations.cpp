// The deviations that one server shall have.
#include "deviations/server/server_deviations.h"

#include <algorithm>

#include "deviations/catalogue.h"
#include "deviations/server/server_interposer.h"

namespace steertag::deviations {

Expected<void, std::string> ServerDeviations::add(std::string_view name) {
  const auto found = find_or_propose(name, trace::Role::server);
  if (!found) return tl::unexpected(found.error());
  if (std::ranges::find(chosen_, *found) == chosen_.end()) chosen_.push_back(*found);
  return {};
}

void ServerDeviations::install(peer::ServerOptions& options) const {
  std::vector<ServerChange> changes;
  for (const Deviation* each : chosen_) {
    if (each->server.options) each->server.options(options);
    if (each->server.needs_interposer()) changes.push_back(each->server);
  }
  if (!changes.empty()) options.interposer = std::make_shared<ServerInterposer>(std::move(changes));
}

}  // namespace steertag::deviations
