// Binds, and keeps requests that wait for an answer.
#include "fabric/verbs/listener.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "fabric/verbs/connection.h"

namespace steertag::fabric::verbs {
namespace {

constexpr int kBacklog = 1024;
// Of a CM REP and a CM REJ (InfiniBand specification 12.6).
constexpr std::size_t kReplyPrivateData = 196;
constexpr std::size_t kRejectPrivateData = 148;

class VerbsRequest final : public ConnectionRequest, private CmOwner {
 public:
  VerbsRequest(Runtime& runtime, const CmEvent& event)
      : runtime_(runtime), event_(event), id_(event.id) {
    CmOwner& owner = *this;
    id_->context = &owner;
    const sockaddr* const peer = rdma_get_peer_addr(id_.get());
    peer_.length = peer->sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
    std::memcpy(&peer_.storage, peer, peer_.length);
  }

  View private_data() const override { return event_.private_data; }
  Address peer() const override { return peer_; }

  Expected<std::unique_ptr<Connection>, Error> accept(Domain& domain,
                                                      const ConnectionOptions& options,
                                                      Handler& handler, trace::EventSink* events,
                                                      trace::ByteSink* /*bytes*/) override {
    if (!id_) {
      return tl::unexpected(Error{Errc::not_connected, "the request was answered already"});
    }
    const Device& device = *runtime_.device;
    if (auto checked =
            check(options, device.iwarp() ? device.most_private_data() : kReplyPrivateData);
        !checked) {
      return tl::unexpected(checked.error());
    }
    auto* ours = dynamic_cast<VerbsDomain*>(&domain);
    if (ours == nullptr || &ours->device() != &device) {
      return tl::unexpected(Error{Errc::bad_region, "the domain belongs to another provider"});
    }
    auto connection = std::make_unique<VerbsConnection>(runtime_, *ours, trace::Role::server,
                                                        handler, events, options);
    if (auto responded = connection->respond(std::move(id_), event_); !responded) {
      return tl::unexpected(responded.error());
    }
    return connection;
  }

  void reject(View private_data) override {
    if (!id_) {
      return;
    }
    const Device& device = *runtime_.device;
    const std::size_t most = device.iwarp() ? device.most_private_data() : kRejectPrivateData;
    private_data = private_data.first(std::min(private_data.size(), most));
    rdma_reject(id_.get(), private_data.data(), static_cast<std::uint8_t>(private_data.size()));
    id_.reset();
  }

 private:
  // The peer gave up: an acceptance will fail.
  void on_cm_event(const CmEvent& /*event*/) override {}

  Runtime& runtime_;
  CmEvent event_;
  Address peer_;
  CmId id_;
};

}  // namespace

Expected<std::unique_ptr<Listener>, Error> VerbsListener::open(Runtime& runtime, const Url& url,
                                                               AcceptCallback on_request,
                                                               RefusedCallback on_refused) {
  auto addresses = resolve(url, true);
  if (!addresses) {
    return tl::unexpected(addresses.error());
  }
  auto listener =
      std::make_unique<VerbsListener>(runtime, std::move(on_request), std::move(on_refused));
  Error last{Errc::cannot_listen, "no address"};
  for (Address& address : *addresses) {
    listener->id_ = runtime.events->make_id(*listener);
    if (listener->id_ && rdma_bind_addr(listener->id_.get(), address.generic()) == 0 &&
        rdma_listen(listener->id_.get(), kBacklog) == 0) {
      return listener;
    }
    if (errno == ENODEV) {
      last = no_device("none has the address " + address.text());
    } else {
      last = {Errc::cannot_listen, address.text() + ": " + error_text(errno)};
    }
  }
  return tl::unexpected(last);
}

std::uint16_t VerbsListener::port() const {
  return ntohs(rdma_get_src_port(id_.get()));
}

void VerbsListener::on_cm_event(const CmEvent& event) {
  if (event.type != RDMA_CM_EVENT_CONNECT_REQUEST) {
    return;
  }
  auto request = std::make_unique<VerbsRequest>(runtime_, event);
  const Device& device = *runtime_.device;
  if (event.id->verbs != device.context()) {
    request->reject({});
    const RefusedCallback on_refused = on_refused_;  // it may destroy this listener
    if (on_refused) {
      ++runtime_.notices;
      on_refused(request->peer_name(),
                 {Errc::no_device, "it came over another device than " + device.name()});
    }
    return;
  }
  ++runtime_.notices;
  const AcceptCallback on_request = on_request_;  // it may destroy this listener
  on_request(std::move(request));
}

}  // namespace steertag::fabric::verbs
