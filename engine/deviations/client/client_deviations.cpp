// The deviations that one client shall have.
#include "deviations/client/client_deviations.h"

#include <algorithm>

#include "deviations/catalogue.h"
#include "deviations/client/client_interposer.h"

namespace steertag::deviations {

Expected<void, std::string> ClientDeviations::add(std::string_view name) {
  const auto found = find_or_propose(name, trace::Role::client);
  if (!found) return tl::unexpected(found.error());
  if (std::ranges::find(chosen_, *found) == chosen_.end()) chosen_.push_back(*found);
  return {};
}

void ClientDeviations::install(peer::FileClientOptions& options) const {
  std::vector<ClientChange> changes;
  std::vector<ClientChange> at_data_servers;
  for (const Deviation* each : chosen_) {
    if (each->client.options) each->client.options(options);
    if (each->client.needs_interposer()) changes.push_back(each->client);
    if (each->client.data_request) at_data_servers.push_back(each->client);
  }
  if (!at_data_servers.empty())
    options.at_data_servers = std::make_shared<DataServerInterposer>(std::move(at_data_servers));
  if (!changes.empty()) options.interposer = std::make_shared<ClientInterposer>(std::move(changes));
}

}  // namespace steertag::deviations
