// Passing requests to their owner, and the owner's answers to their sessions.
#include "fabric/roce/listener.h"

#include <algorithm>
#include <utility>

#include "fabric/roce/connection.h"

namespace steertag::fabric::roce {
namespace {

class RoceRequest final : public ConnectionRequest, private SessionUser {
 public:
  RoceRequest(Runtime& runtime, Session& session, View private_data)
      : runtime_(runtime),
        session_(&session),
        peer_(session.peer_end()),
        private_data_(private_data.begin(), private_data.end()) {
    session.set_user(*this);
  }
  ~RoceRequest() override {
    if (session_ != nullptr) {
      session_->leave();
    }
  }

  View private_data() const override { return private_data_; }
  Address peer() const override { return peer_; }

  Expected<std::unique_ptr<Connection>, Error> accept(Domain& domain,
                                                      const ConnectionOptions& options,
                                                      Handler& handler, trace::EventSink* events,
                                                      trace::ByteSink* bytes) override {
    if (session_ == nullptr) {
      return tl::unexpected(Error{Errc::not_connected, "the request was answered already"});
    }
    if (auto checked = check(options, wire::kReplyPrivateBytes); !checked) {
      return tl::unexpected(std::move(checked.error()));
    }
    auto ours = domain_of(runtime_.stags, domain);
    if (!ours) {
      return tl::unexpected(std::move(ours.error()));
    }
    auto connection = std::make_unique<RoceConnection>(runtime_, **ours, trace::Role::server,
                                                       options, handler, events, bytes);
    connection->respond(*std::exchange(session_, nullptr), private_data_);
    return connection;
  }

  void reject(View private_data) override {
    if (session_ != nullptr) {
      private_data = private_data.first(std::min(private_data.size(), wire::kRejectPrivateBytes));
      std::exchange(session_, nullptr)->reject(wire::kRejectedByConsumer, private_data);
    }
  }

 private:
  void on_accepted(View /*private_data*/) override {}
  void on_ready() override {}
  void on_rejected(std::uint16_t /*reason*/, View /*private_data*/) override { session_ = nullptr; }
  void on_peer_ended() override { session_ = nullptr; }
  void on_ended() override { session_ = nullptr; }
  void on_unreachable(Error /*error*/) override { session_ = nullptr; }
  void on_packet(const Packet& /*packet*/) override {}
  void on_room() override {}

  Runtime& runtime_;
  Session* session_;
  Address peer_;
  Bytes private_data_;
};

}  // namespace

Expected<std::unique_ptr<Listener>, Error> RoceListener::open(Runtime& runtime, const Url& url,
                                                              AcceptCallback on_request,
                                                              RefusedCallback on_refused,
                                                              const StartupPolicy& policy) {
  auto addresses = resolve_hosts(url, true);
  if (!addresses) {
    return tl::unexpected(std::move(addresses.error()));
  }
  auto port = runtime.ports.at(addresses->front());
  if (!port) {
    return tl::unexpected(std::move(port.error()));
  }
  auto listener = std::make_unique<RoceListener>(runtime, **port, std::move(on_request),
                                                 std::move(on_refused), policy);
  const auto number = (*port)->manager().offer(*listener, url.port);
  if (!number) {
    return tl::unexpected(
        Error{Errc::cannot_listen, url.text() + ": this port has a listener already"});
  }
  listener->number_ = *number;
  return listener;
}

RoceListener::RoceListener(Runtime& runtime, Port& port, AcceptCallback on_request,
                           RefusedCallback on_refused, const StartupPolicy& policy)
    : runtime_(runtime),
      port_(port),
      on_request_(std::move(on_request)),
      on_refused_(std::move(on_refused)),
      policy_(policy) {}

RoceListener::~RoceListener() {
  if (number_ != 0) {
    port_.manager().withdraw(number_);
  }
  runtime_.ports.sweep();
}

void RoceListener::on_request(Session& session, View private_data) {
  const bool is_remembered = !session.names_ends() && !policy_.forgets_requests;
  if (std::exchange(rejects_next_, is_remembered)) {
    return session.reject(wire::kRejectedByConsumer, {});
  }
  ++runtime_.notices;
  auto request = std::make_unique<RoceRequest>(runtime_, session, private_data);
  const AcceptCallback on_request = on_request_;  // it may destroy this listener
  on_request(std::move(request));
}

void RoceListener::on_refused(const Address& peer, const Error& error) {
  const RefusedCallback on_refused = on_refused_;  // it may destroy this listener
  if (on_refused) {
    ++runtime_.notices;
    on_refused(peer.text(), error);
  }
}

void RoceListener::on_stale_request() {
  if (!policy_.forgets_stale) {
    rejects_next_ = true;
  }
}

}  // namespace steertag::fabric::roce
