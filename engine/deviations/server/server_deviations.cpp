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
  std::vector<ServerChange> at_data_servers;
  for (const Deviation* each : chosen_) {
    if (each->server.options) each->server.options(options);
    if (each->server.needs_interposer())
      (each->at_data_servers ? at_data_servers : changes).push_back(each->server);
  }
  if (!changes.empty()) options.interposer = std::make_shared<ServerInterposer>(std::move(changes));
  if (at_data_servers.empty()) return;
  // Connections of two data servers may have one number.
  options.data_server_interposer = [changes_there = std::move(at_data_servers)] {
    return std::make_shared<ServerInterposer>(changes_there);
  };
}

}  // namespace steertag::deviations
