// Starts what the options ask for.
#include "serve/serving.h"

#include <algorithm>

#include "server/rpc/programs.h"

namespace steertag::serve {
namespace {

using Failure = Unexpected<std::string>;

void add_port_mapper(const Options& options, peer::ListenAddresses& addresses) {
  if (!options.portmap) return;
  const auto first = std::ranges::find(options.listen, net::kStreamProvider, &net::Url::provider);
  net::Url url = *first;
  url.port = *options.portmap;
  addresses.addresses.push_back({url, nullptr, true});
}

std::string counts_of(const std::string& name, const peer::ServerStatistics& counts) {
  return name + ": " + std::to_string(counts.messages) + " messages, " +
         std::to_string(counts.pulled_bytes) + " octets pulled, " +
         std::to_string(counts.pushed_bytes) + " octets pushed\n";
}

}  // namespace

Expected<Serving, std::string> Serving::start(const Options& options, peer::Backend& storage,
                                              const peer::Nfs4StateOptions& state,
                                              const peer::ServerOptions& how, TroubleLog& troubles,
                                              std::function<void(const std::string&)> tell) {
  const auto on_trouble = [&](const std::string& peer, const net::Error& error) {
    troubles.tell(peer, error);
  };
  Serving serving;
  const bool separate = !options.control.empty();
  if (options.stripes && !separate) {
    auto striped = peer::StripedServer::start(options.listen, storage, state, *options.stripes, how,
                                              on_trouble);
    if (!striped) return Failure(striped.error().message());
    serving.striped_ = std::move(*striped);
    return serving;
  }
  auto addresses = peer::make_listen_addresses(options.listen, state.random);
  if (!addresses) return Failure(addresses.error().message());
  add_port_mapper(options, *addresses);
  peer::ServerOptions its_options = how;
  peer::Programs programs;
  if (separate && options.data_server) {
    auto data_servers = std::make_shared<peer::DataServers>(how.pnfs_policy);
    auto control = peer::control::DataControl::open(
        {options.control, *options.data_server, how.clock, std::move(tell)}, data_servers);
    if (!control) return Failure(control.error());
    serving.data_control_ = std::move(*control);
    programs.all = peer::make_data_server(storage, state, data_servers, *options.data_server,
                                          serving.data_control_);
  } else if (separate) {
    auto data_servers =
        std::make_shared<peer::DataServers>(*options.stripes, state.random, how.pnfs_policy);
    auto control = peer::control::MetadataControl::open(
        {options.control, state.lease, how.clock, state.random, std::move(tell)}, data_servers);
    if (!control) return Failure(control.error());
    serving.metadata_control_ = std::move(*control);
    peer::Nfs4StateOptions fenced = state;
    fenced.fence = serving.metadata_control_;
    its_options.gate = serving.metadata_control_;
    programs = peer::make_metadata_server(storage, fenced, data_servers, how.direct);
    serving.metadata_control_->serve(*programs.state, storage);
  } else {
    programs.all = peer::make_programs(storage, state, how.direct);
  }
  auto plain =
      peer::Server::start(addresses->addresses, std::move(programs.all), its_options, on_trouble);
  if (!plain) return Failure(plain.error().message());
  serving.providers_ = std::move(addresses->providers);
  serving.plain_ = std::move(*plain);
  if (serving.metadata_control_) serving.plain_->attend(*serving.metadata_control_);
  if (serving.data_control_) {
    auto ways = peer::data_server_addresses(serving.plain_->listening(), how.data_server_host);
    if (!ways) return Failure(ways.error().message());
    serving.data_control_->join(std::move(*ways));
    serving.plain_->attend(*serving.data_control_);
  }
  return serving;
}

void Serving::recall_layouts() {
  auto& administration =
      striped_ ? striped_->administration() : metadata_control_->administration();
  administration.recall_file_system();
}

void Serving::replace_device() {
  striped_ ? striped_->administration().replace_device() : metadata_control_->replace_device();
}

Expected<void, std::string> Serving::move_data_server() {
  if (!striped_) return Failure("data servers that are processes of their own move by themselves");
  if (const auto moved = striped_->move_data_server(); !moved)
    return Failure(moved.error().message());
  return {};
}

std::string Serving::places() const {
  std::string lines;
  for (const net::Url& url : server().listening()) lines += "listening at " + url.text() + '\n';
  for (std::size_t i = 0; striped_ && i < striped_->data_server_count(); ++i) {
    for (const net::Url& url : striped_->data_server(i).listening())
      lines += "data server " + std::to_string(i + 1) + " at " + url.text() + '\n';
  }
  return lines;
}

std::string Serving::counts() const {
  std::string lines = counts_of("server", server().statistics());
  for (std::size_t i = 0; striped_ && i < striped_->data_server_count(); ++i)
    lines +=
        counts_of("data server " + std::to_string(i + 1), striped_->data_server(i).statistics());
  return lines;
}

}  // namespace steertag::serve
