// The provider object.
#include "fabric/iwarp/provider.h"

#include "fabric/iwarp/connection.h"
#include "fabric/iwarp/listener.h"
#include "fabric/iwarp/runtime.h"
#include "fabric/provider/reactor_provider.h"

namespace steertag::fabric::iwarp {
namespace {

class IwarpProvider final : public ReactorProvider {
 public:
  explicit IwarpProvider(std::unique_ptr<Runtime> runtime) : ReactorProvider(std::move(runtime)) {}

  Capabilities capabilities() const override {
    Capabilities capabilities;
    capabilities.remote_invalidation = true;
    capabilities.windows = true;
    capabilities.windows_at_once = true;
    capabilities.fault_hooks = true;
    capabilities.byte_capture = true;
    capabilities.sees_remote_operations = true;
    capabilities.sees_reset = true;
    capabilities.sees_violations = true;
    capabilities.exact_private_data = true;
    capabilities.chosen_port = true;
    capabilities.chosen_host = true;
    capabilities.chosen_base = true;
    capabilities.responder_waits = true;
    capabilities.splits_sends = true;
    capabilities.recoverable_read_faults = true;
    capabilities.write_parts = SIZE_MAX;
    capabilities.largest_send = 0xffffffff;
    capabilities.largest_private_data = kMostPrivateData - kEnhancedBytes;
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
    return IwarpListener::open(runtime(), url, std::move(on_request), std::move(on_refused),
                               policy.iwarp);
  }

  Expected<std::unique_ptr<Connection>, Error> connect(const Url& url, Domain& domain,
                                                       const ConnectionOptions& options,
                                                       Handler& handler, trace::EventSink* events,
                                                       trace::ByteSink* bytes) override {
    if (auto checked = check(options); !checked) {
      return tl::unexpected(checked.error());
    }
    auto ours = domain_of(runtime().stags, domain);
    if (!ours) {
      return tl::unexpected(std::move(ours.error()));
    }
    auto addresses = resolve(url, false);
    if (!addresses) {
      return tl::unexpected(addresses.error());
    }
    auto connection = std::make_unique<IwarpConnection>(runtime(), **ours, trace::Role::client,
                                                        options, handler, events, bytes);
    connection->initiate(std::move(*addresses), options);
    return connection;
  }

 private:
  Runtime& runtime() { return static_cast<Runtime&>(core()); }
};

}  // namespace

Expected<std::unique_ptr<Provider>, Error> make_provider(RandomSource random, const Limits& limits,
                                                         Clock clock) {
  auto reactor = Reactor::open(std::move(clock));
  if (!reactor) {
    return tl::unexpected(std::move(reactor.error()));
  }
  return std::make_unique<IwarpProvider>(
      std::make_unique<Runtime>(std::move(random), limits, std::move(*reactor)));
}

}  // namespace steertag::fabric::iwarp
