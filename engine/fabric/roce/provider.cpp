// The provider object.
#include "fabric/roce/provider.h"

#include "fabric/provider/reactor_provider.h"
#include "fabric/roce/connection.h"
#include "fabric/roce/listener.h"
#include "fabric/roce/network/fault_setting.h"
#include "fabric/roce/network/faulty_datagrams.h"
#include "fabric/roce/network/udp_datagrams.h"
#include "fabric/roce/runtime.h"

namespace steertag::fabric::roce {
namespace {

class RoceProvider final : public ReactorProvider {
 public:
  RoceProvider(std::unique_ptr<Runtime> runtime, bool alters_packets)
      : ReactorProvider(std::move(runtime)), alters_packets_(alters_packets) {}

  Capabilities capabilities() const override {
    Capabilities capabilities;
    capabilities.remote_invalidation = true;
    capabilities.windows = true;
    capabilities.windows_at_once = true;
    capabilities.byte_capture = true;
    capabilities.bent_packets = !alters_packets_;
    capabilities.sees_remote_operations = true;
    capabilities.sees_violations = true;
    capabilities.chosen_base = true;
    capabilities.chosen_port = true;
    capabilities.splits_sends = true;
    capabilities.write_parts = SIZE_MAX;
    capabilities.largest_send = std::size_t{1} << 31;
    capabilities.largest_private_data = kMostPrivateData;
    return capabilities;
  }

  std::unique_ptr<Domain> make_domain() override {
    return std::make_unique<SoftwareDomain>(runtime().stags);
  }
  Expected<std::unique_ptr<ReceiveQueue>, Error> make_receive_queue(Domain& /*domain*/) override {
    return std::make_unique<software::SharedReceives>();
  }

  Expected<std::unique_ptr<Listener>, Error> listen(const Url& url, AcceptCallback on_request,
                                                    RefusedCallback on_refused,
                                                    const ListenPolicy& policy) override {
    return RoceListener::open(runtime(), url, std::move(on_request), std::move(on_refused),
                              policy.roce);
  }

  Expected<std::unique_ptr<Connection>, Error> connect(const Url& url, Domain& domain,
                                                       const ConnectionOptions& options,
                                                       Handler& handler, trace::EventSink* events,
                                                       trace::ByteSink* bytes) override {
    if (auto checked = check(options, kMostPrivateData); !checked) {
      return tl::unexpected(std::move(checked.error()));
    }
    auto ours = domain_of(runtime().stags, domain);
    if (!ours) {
      return tl::unexpected(std::move(ours.error()));
    }
    auto addresses = resolve_hosts(url, false);
    if (!addresses) {
      return tl::unexpected(std::move(addresses.error()));
    }
    auto connection = std::make_unique<RoceConnection>(runtime(), **ours, trace::Role::client,
                                                       options, handler, events, bytes);
    connection->initiate(std::move(*addresses));
    runtime().ports.flush();
    return connection;
  }

 private:
  Runtime& runtime() { return static_cast<Runtime&>(core()); }

  bool alters_packets_;  // the network does
};

Expected<std::unique_ptr<Provider>, Error> make(RandomSource random, const fabric::Limits& limits,
                                                Clock clock, OpenDatagrams open,
                                                FindRoute find_route, bool alters_packets) {
  auto reactor = Reactor::open(std::move(clock));
  if (!reactor) {
    return tl::unexpected(std::move(reactor.error()));
  }
  return std::make_unique<RoceProvider>(
      std::make_unique<Runtime>(std::move(random), limits, std::move(open), std::move(find_route),
                                std::move(*reactor)),
      alters_packets);
}

}  // namespace

Expected<std::unique_ptr<Provider>, Error> make_provider(RandomSource random,
                                                         const fabric::Limits& limits, Clock clock,
                                                         OpenDatagrams open, FindRoute find_route) {
  return make(std::move(random), limits, std::move(clock), std::move(open), std::move(find_route),
              false);
}

Expected<std::unique_ptr<Provider>, Error> make_provider(RandomSource random,
                                                         const fabric::Limits& limits,
                                                         Clock clock) {
  const auto faults = fault_setting();
  if (!faults) {
    return tl::unexpected(faults.error());
  }
  if (!*faults) {
    return make(std::move(random), limits, std::move(clock), UdpDatagrams::open, system_route,
                false);
  }
  const std::uint64_t seed = (*faults)->seed ? *(*faults)->seed : random();
  const unsigned percent = (*faults)->percent;
  return make(std::move(random), limits, std::move(clock),
              faulty_udp({percent, percent, percent, percent}, seed), system_route, true);
}

}  // namespace steertag::fabric::roce
