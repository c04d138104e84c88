// Test support: a provider that does what another one does, so that a test alters a part of it.
#pragma once

#include <utility>

#include "fabric/fabric.h"

namespace steertag::fabric::testing {

class ForwardingProvider : public Provider {
 public:
  /// `real` must outlive it.
  explicit ForwardingProvider(Provider& real) : real_(real) {}
  Capabilities capabilities() const override { return real_.capabilities(); }
  std::unique_ptr<Domain> make_domain() override { return real_.make_domain(); }
  Expected<std::unique_ptr<ReceiveQueue>, Error> make_receive_queue(Domain& domain) override {
    return real_.make_receive_queue(domain);
  }
  Expected<std::unique_ptr<Listener>, Error> listen(const Url& url, AcceptCallback on_request,
                                                    RefusedCallback on_refused,
                                                    const ListenPolicy& policy) override {
    return real_.listen(url, std::move(on_request), std::move(on_refused), policy);
  }
  Expected<std::unique_ptr<Connection>, Error> connect(const Url& url, Domain& domain,
                                                       const ConnectionOptions& options,
                                                       Handler& handler, trace::EventSink* events,
                                                       trace::ByteSink* bytes) override {
    return real_.connect(url, domain, options, handler, events, bytes);
  }
  void retire(std::unique_ptr<Connection> connection) override {
    real_.retire(std::move(connection));
  }
  std::size_t poll(std::chrono::milliseconds timeout) override { return real_.poll(timeout); }
  void wake() override { real_.wake(); }
  int descriptor() const override { return real_.descriptor(); }
  std::chrono::milliseconds idle_for(std::chrono::milliseconds most) override {
    return real_.idle_for(most);
  }

 private:
  Provider& real_;
};

}  // namespace steertag::fabric::testing
