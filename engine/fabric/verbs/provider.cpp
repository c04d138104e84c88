// The provider object and its poll.
#include "fabric/verbs/provider.h"

#include <algorithm>
#include <utility>

#include "fabric/verbs/connection.h"
#include "fabric/verbs/listener.h"
#include "fabric/verbs/runtime.h"

namespace steertag::fabric::verbs {
namespace {

class VerbsProvider final : public Provider {
 public:
  explicit VerbsProvider(std::unique_ptr<Runtime> runtime) : runtime_(std::move(runtime)) {}

  Capabilities capabilities() const override {
    const Device& device = *runtime_->device;
    Capabilities capabilities;
    capabilities.windows = device.windows();
    capabilities.sees_remote_operations = false;
    capabilities.sees_reset = false;
    capabilities.sees_violations = !device.iwarp();
    capabilities.exact_private_data = device.iwarp();
    capabilities.chosen_base = !device.iwarp();
    capabilities.responder_waits = false;
    capabilities.largest_send = device.largest_message();
    capabilities.largest_private_data = device.most_private_data();
    return capabilities;
  }

  std::unique_ptr<Domain> make_domain() override {
    return std::make_unique<VerbsDomain>(*runtime_->device);
  }

  Expected<std::unique_ptr<Listener>, Error> listen(
      const Url& url, AcceptCallback on_request, RefusedCallback on_refused,
      const iwarp::StartupPolicy& /*startup*/) override {
    return VerbsListener::open(*runtime_, url, std::move(on_request), std::move(on_refused));
  }

  Expected<std::unique_ptr<Connection>, Error> connect(const Url& url, Domain& domain,
                                                       const ConnectionOptions& options,
                                                       Handler& handler, trace::EventSink* events,
                                                       trace::ByteSink* /*bytes*/) override {
    if (auto checked = check(options, runtime_->device->most_private_data()); !checked) {
      return tl::unexpected(checked.error());
    }
    auto* ours = dynamic_cast<VerbsDomain*>(&domain);
    if (ours == nullptr || &ours->device() != runtime_->device.get()) {
      return tl::unexpected(Error{Errc::bad_region, "the domain belongs to another provider"});
    }
    auto addresses = resolve(url, false);
    if (!addresses) {
      return tl::unexpected(addresses.error());
    }
    auto connection = std::make_unique<VerbsConnection>(*runtime_, *ours, trace::Role::client,
                                                        handler, events, options);
    connection->initiate(std::move(*addresses));
    return connection;
  }

  std::size_t poll(std::chrono::milliseconds timeout) override {
    // The timeout is real time with any clock: it limits the caller's wait.
    using std::chrono::steady_clock;
    Runtime& runtime = *runtime_;
    runtime.notices = 0;
    runtime.reactor.begin_round();
    const auto end = steady_clock::now() + timeout;
    std::chrono::milliseconds left = timeout;
    while (true) {
      settle();
      const bool busy = runtime.notices > 0 || !runtime.unsettled.empty();
      runtime.reactor.poll(busy ? std::chrono::milliseconds{0} : left);
      settle();
      retired_.clear();
      left = std::chrono::ceil<std::chrono::milliseconds>(end - steady_clock::now());
      if (runtime.reactor.take_woken() || runtime.notices > 0 || left.count() <= 0) {
        return runtime.notices;
      }
    }
  }

  void wake() override { runtime_->reactor.wake(); }
  int descriptor() const override { return runtime_->reactor.descriptor(); }
  std::chrono::milliseconds idle_for(std::chrono::milliseconds most) override {
    return runtime_->unsettled.empty() ? runtime_->reactor.idle_for(most)
                                       : std::chrono::milliseconds{0};
  }

  void retire(std::unique_ptr<Connection> connection) override {
    retired_.push_back(std::move(connection));
  }

 private:
  // One pass over what waits now. Later work has its turn after the next wait.
  void settle() {
    auto& unsettled = runtime_->unsettled;
    const std::size_t count = unsettled.size();
    for (std::size_t i = 0; i < count; ++i) {
      VerbsConnection* connection = std::exchange(unsettled[i], nullptr);
      if (connection != nullptr) {
        connection->settle();
      }
    }
    unsettled.erase(unsettled.begin(), unsettled.begin() + static_cast<std::ptrdiff_t>(count));
  }

  std::unique_ptr<Runtime> runtime_;
  std::vector<std::unique_ptr<Connection>> retired_;
};

}  // namespace

Expected<std::unique_ptr<Provider>, Error> make_provider(const Limits& limits, Clock clock) {
  auto reactor = Reactor::open(std::move(clock));
  if (!reactor) {
    return tl::unexpected(std::move(reactor.error()));
  }
  auto runtime = std::make_unique<Runtime>(limits, std::move(*reactor));
  auto device = Device::open(runtime->reactor);
  if (!device) {
    return tl::unexpected(std::move(device.error()));
  }
  runtime->device = std::move(*device);
  auto events = EventChannel::open(runtime->reactor);
  if (!events) {
    return tl::unexpected(std::move(events.error()));
  }
  runtime->events = std::move(*events);
  return std::make_unique<VerbsProvider>(std::move(runtime));
}

}  // namespace steertag::fabric::verbs
