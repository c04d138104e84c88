// Sessions with data servers.
#include "client/v4/pnfs/data_server.h"

#include <algorithm>

namespace steertag::peer {

DataServer::DataServer(CallSchedule& metadata, const DataServerConnector& connect,
                       SessionOptions options, std::vector<DataServerPath> paths)
    : metadata_(metadata),
      connect_(connect),
      options_(std::move(options)),
      paths_(std::move(paths)),
      ways_(paths_.size()) {
  options_.roles = nfs4::EXCHGID4_FLAG_USE_PNFS_DS;
  options_.recall = nullptr;
}

DataServer::~DataServer() {
  for (Way& way : ways_) {
    if (way.calls.schedule) metadata_.leave(*way.calls.schedule);
  }
}

bool DataServer::open(std::size_t path) {
  Way& way = ways_[path];
  if (way.session) return true;
  auto calls = connect_(paths_[path]);
  if (!calls) return false;
  way.calls = std::move(*calls);
  way.session = std::make_unique<ClientSession>(*way.calls.schedule, options_);
  metadata_.join(*way.calls.schedule);
  return true;
}

ClientSession* DataServer::session() {
  if (metadata_.now() < next_try_) return nullptr;
  for (std::size_t tries = 0; tries < paths_.size(); ++tries) {
    if (open(current_)) return ways_[current_].session.get();
    next_path();
    if (current_ == 0) break;
  }
  return nullptr;
}

void DataServer::next_path() {
  if (++current_ < paths_.size() && options_.policy.data_servers.tries_all_addresses) return;
  current_ = 0;
  next_try_ = metadata_.now() + options_.policy.data_servers.pause;
}

void DataServer::failed(const ClientSession* session) {
  // Calls that failed together count once.
  if (ways_[current_].session.get() == session) next_path();
}

void DataServer::end() {
  // What is not ended here ends with its lease.
  for (Way& way : ways_) {
    if (way.session) (void)way.session->end();
  }
}

DataServer* DataServerSet::find(const nfs4::MultipathList& list) {
  std::vector<DataServerPath> paths;
  for (const nfs4::NetAddr& each : list.addresses)
    paths.push_back({std::string(each.na_r_netid), std::string(each.na_r_addr)});
  const auto found =
      std::ranges::find_if(servers_, [&](const auto& server) { return server->paths() == paths; });
  if (found != servers_.end()) return found->get();
  if (servers_.size() >= kMostDataServersOfClient || paths.empty()) return nullptr;
  servers_.push_back(std::make_unique<DataServer>(metadata_, connect_, options_, std::move(paths)));
  return servers_.back().get();
}

void DataServerSet::end() {
  for (const auto& server : servers_) server->end();
}

}  // namespace steertag::peer
