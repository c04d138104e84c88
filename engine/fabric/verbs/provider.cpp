// The provider object.
#include "fabric/verbs/provider.h"

#include <utility>

#include "fabric/provider/reactor_provider.h"
#include "fabric/verbs/connection.h"
#include "fabric/verbs/listener.h"
#include "fabric/verbs/runtime.h"

namespace steertag::fabric::verbs {
namespace {

class VerbsProvider final : public ReactorProvider {
 public:
  explicit VerbsProvider(std::unique_ptr<Runtime> runtime) : ReactorProvider(std::move(runtime)) {}

  Capabilities capabilities() const override {
    const Device& device = *runtime().device;
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
    return std::make_unique<VerbsDomain>(*runtime().device);
  }

  Expected<std::unique_ptr<Listener>, Error> listen(const Url& url, AcceptCallback on_request,
                                                    RefusedCallback on_refused,
                                                    const ListenPolicy& /*policy*/) override {
    return VerbsListener::open(runtime(), url, std::move(on_request), std::move(on_refused));
  }

  Expected<std::unique_ptr<Connection>, Error> connect(const Url& url, Domain& domain,
                                                       const ConnectionOptions& options,
                                                       Handler& handler, trace::EventSink* events,
                                                       trace::ByteSink* /*bytes*/) override {
    if (auto checked = check(options, runtime().device->most_private_data()); !checked) {
      return tl::unexpected(checked.error());
    }
    auto* ours = dynamic_cast<VerbsDomain*>(&domain);
    if (ours == nullptr || &ours->device() != runtime().device.get()) {
      return tl::unexpected(Error{Errc::bad_region, "the domain belongs to another provider"});
    }
    auto addresses = resolve(url, false);
    if (!addresses) {
      return tl::unexpected(addresses.error());
    }
    auto connection = std::make_unique<VerbsConnection>(runtime(), *ours, trace::Role::client,
                                                        handler, events, options);
    connection->initiate(std::move(*addresses));
    return connection;
  }

 private:
  Runtime& runtime() const { return static_cast<Runtime&>(core()); }
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
