// The provider object and its poll.
#include "fabric/iwarp/provider.h"

#include <algorithm>
#include <chrono>

#include "fabric/iwarp/connection.h"
#include "fabric/iwarp/listener.h"
#include "fabric/iwarp/runtime.h"

namespace steertag::fabric::iwarp {
namespace {

class IwarpProvider final : public Provider {
 public:
  IwarpProvider(RandomSource random, const Limits& limits, Reactor reactor)
      : runtime_(std::move(random), limits, std::move(reactor)) {}

  Capabilities capabilities() const override {
    Capabilities capabilities;
    capabilities.remote_invalidation = true;
    capabilities.windows = true;
    capabilities.fault_hooks = true;
    capabilities.byte_capture = true;
    capabilities.sees_remote_operations = true;
    capabilities.sees_reset = true;
    capabilities.sees_violations = true;
    capabilities.exact_private_data = true;
    capabilities.chosen_port = true;
    capabilities.chosen_base = true;
    capabilities.responder_waits = true;
    capabilities.largest_send = 0xffffffff;
    capabilities.largest_private_data = kMostPrivateData - kEnhancedBytes;
    return capabilities;
  }

  std::unique_ptr<Domain> make_domain() override {
    return std::make_unique<SoftwareDomain>(runtime_.stags);
  }

  Expected<std::unique_ptr<Listener>, Error> listen(const Url& url, AcceptCallback on_request,
                                                    RefusedCallback on_refused,
                                                    const StartupPolicy& startup) override {
    return IwarpListener::open(runtime_, url, std::move(on_request), std::move(on_refused),
                               startup);
  }

  Expected<std::unique_ptr<Connection>, Error> connect(const Url& url, Domain& domain,
                                                       const ConnectionOptions& options,
                                                       Handler& handler, trace::EventSink* events,
                                                       trace::ByteSink* bytes) override {
    if (auto checked = check(options); !checked) {
      return tl::unexpected(checked.error());
    }
    auto ours = domain_of(runtime_.stags, domain);
    if (!ours) {
      return tl::unexpected(std::move(ours.error()));
    }
    auto addresses = resolve(url, false);
    if (!addresses) {
      return tl::unexpected(addresses.error());
    }
    auto connection = std::make_unique<IwarpConnection>(runtime_, **ours, trace::Role::client,
                                                        options, handler, events, bytes);
    connection->initiate(std::move(*addresses), options);
    return connection;
  }

  std::size_t poll(std::chrono::milliseconds timeout) override {
    // The timeout is real time with any clock. It limits the caller's wait, and a test's stopped
    // clock would make it endless.
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
      runtime_.lingering.sweep();
      runtime_.ended.clear();
      retired_.clear();
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
      IwarpConnection* connection = std::exchange(unsettled[i], nullptr);
      if (connection != nullptr) {
        connection->settle();
      }
    }
    unsettled.erase(unsettled.begin(), unsettled.begin() + static_cast<std::ptrdiff_t>(count));
  }

  Runtime runtime_;
  std::vector<std::unique_ptr<Connection>> retired_;
};

}  // namespace

Expected<std::unique_ptr<Provider>, Error> make_provider(RandomSource random, const Limits& limits,
                                                         Clock clock) {
  auto reactor = Reactor::open(std::move(clock));
  if (!reactor) {
    return tl::unexpected(std::move(reactor.error()));
  }
  return std::make_unique<IwarpProvider>(std::move(random), limits, std::move(*reactor));
}

}  // namespace steertag::fabric::iwarp
