// The provider object and its poll.
#include "fabric/roce/provider.h"

#include <chrono>

#include "fabric/roce/connection.h"
#include "fabric/roce/listener.h"
#include "fabric/roce/runtime.h"
#include "fabric/roce/udp_datagrams.h"

namespace steertag::fabric::roce {
namespace {

class RoceProvider final : public Provider {
 public:
  RoceProvider(RandomSource random, const fabric::Limits& limits, OpenDatagrams open,
               Reactor reactor)
      : runtime_(std::move(random), limits, std::move(open), std::move(reactor)) {}

  Capabilities capabilities() const override {
    Capabilities capabilities;
    capabilities.remote_invalidation = true;
    capabilities.windows = true;
    capabilities.byte_capture = true;
    capabilities.sees_remote_operations = true;
    capabilities.sees_violations = true;
    capabilities.chosen_base = true;
    capabilities.largest_send = std::size_t{1} << 31;
    capabilities.largest_private_data = kMostPrivateData;
    return capabilities;
  }

  std::unique_ptr<Domain> make_domain() override {
    return std::make_unique<SoftwareDomain>(runtime_.stags);
  }

  Expected<std::unique_ptr<Listener>, Error> listen(
      const Url& url, AcceptCallback on_request, RefusedCallback /*on_refused*/,
      const iwarp::StartupPolicy& /*startup*/) override {
    return RoceListener::open(runtime_, url, std::move(on_request));
  }

  Expected<std::unique_ptr<Connection>, Error> connect(const Url& url, Domain& domain,
                                                       const ConnectionOptions& options,
                                                       Handler& handler, trace::EventSink* events,
                                                       trace::ByteSink* bytes) override {
    if (auto checked = check(options, kMostPrivateData); !checked) {
      return tl::unexpected(std::move(checked.error()));
    }
    auto ours = domain_of(runtime_.stags, domain);
    if (!ours) {
      return tl::unexpected(std::move(ours.error()));
    }
    auto addresses = resolve(url, false);
    if (!addresses) {
      return tl::unexpected(std::move(addresses.error()));
    }
    auto connection = std::make_unique<RoceConnection>(runtime_, **ours, trace::Role::client,
                                                       options, handler, events, bytes);
    connection->initiate(std::move(*addresses));
    runtime_.ports.flush();
    return connection;
  }

  std::size_t poll(std::chrono::milliseconds timeout) override {
    // The timeout is real time with any clock, as in iwarp.
    using std::chrono::steady_clock;
    runtime_.notices = 0;
    runtime_.reactor.begin_round();
    const auto end = steady_clock::now() + timeout;
    std::chrono::milliseconds left = timeout;
    while (true) {
      settle();
      const bool busy = runtime_.notices > 0 || !runtime_.unsettled.empty();
      runtime_.reactor.poll(busy ? std::chrono::milliseconds{0} : left);
      settle();
      runtime_.ended.clear();
      retired_.clear();
      runtime_.ports.flush();
      runtime_.ports.sweep();
      left = std::chrono::ceil<std::chrono::milliseconds>(end - steady_clock::now());
      if (runtime_.reactor.take_woken() || runtime_.notices > 0 || left.count() <= 0) {
        return runtime_.notices;
      }
    }
  }

  void wake() override { runtime_.reactor.wake(); }
  int descriptor() const override { return runtime_.reactor.descriptor(); }
  std::chrono::milliseconds idle_for(std::chrono::milliseconds most) override {
    return runtime_.unsettled.empty() ? runtime_.reactor.idle_for(most)
                                      : std::chrono::milliseconds{0};
  }

  void retire(std::unique_ptr<Connection> connection) override {
    retired_.push_back(std::move(connection));
  }

 private:
  // One pass over what waits now. Later work has its turn after the next wait.
  void settle() {
    auto& unsettled = runtime_.unsettled;
    const std::size_t count = unsettled.size();
    for (std::size_t i = 0; i < count; ++i) {
      RoceConnection* connection = std::exchange(unsettled[i], nullptr);
      if (connection != nullptr) {
        connection->settle();
      }
    }
    unsettled.erase(unsettled.begin(), unsettled.begin() + static_cast<std::ptrdiff_t>(count));
    runtime_.ports.flush();
  }

  Runtime runtime_;
  std::vector<std::unique_ptr<Connection>> retired_;
};

}  // namespace

Expected<std::unique_ptr<Provider>, Error> make_provider(RandomSource random,
                                                         const fabric::Limits& limits, Clock clock,
                                                         OpenDatagrams open) {
  auto reactor = Reactor::open(std::move(clock));
  if (!reactor) {
    return tl::unexpected(std::move(reactor.error()));
  }
  return std::make_unique<RoceProvider>(std::move(random), limits, std::move(open),
                                        std::move(*reactor));
}

Expected<std::unique_ptr<Provider>, Error> make_provider(RandomSource random,
                                                         const fabric::Limits& limits,
                                                         Clock clock) {
  return make_provider(std::move(random), limits, std::move(clock), UdpDatagrams::open);
}

}  // namespace steertag::fabric::roce
