// The responder's startup: sockets without an MPA request, and requests without an answer.
//
// See RFC 5044 7.1.2 and RFC 6581 9.
#pragma once

#include <memory>
#include <vector>

#include "fabric/iwarp/formats.h"
#include "fabric/iwarp/initiator.h"
#include "fabric/iwarp/runtime.h"

namespace steertag::fabric::iwarp {

/// The reply that accepts `request`, and the resulting agreement. Depths follow RFC 6581 9.1, the
/// control flags 9.2, unless the policy of `options` departs from them.
StartupFrame accepting_reply(const ConnectionOptions& options, const StartupFrame& request);
Agreement agree_as_responder(const ConnectionOptions& options, const StartupFrame& request);

class IwarpListener final : public Listener, public Channel {
 public:
  static Expected<std::unique_ptr<Listener>, Error> open(Runtime& runtime, const Url& url,
                                                         AcceptCallback on_request,
                                                         RefusedCallback on_refused,
                                                         const StartupPolicy& policy);
  IwarpListener(Runtime& runtime, Socket socket, AcceptCallback on_request,
                RefusedCallback on_refused, const StartupPolicy& policy);
  ~IwarpListener() override;

  std::uint16_t port() const override;
  void on_ready(std::uint32_t events) override;
  void on_deadline() override;

 private:
  class Pending;
  struct Refusal {
    std::string peer;
    Error error;
  };
  Expected<void, Error> start();
  /// The error is one to report.
  Expected<void, Error> admit(Socket socket, const Address& peer);
  void pause();
  void finish(Pending& pending, std::unique_ptr<ConnectionRequest> request);
  void refuse(Pending& pending, Error error);
  void retire(Pending& pending);
  void tell(const std::vector<Refusal>& refusals);

  Runtime& runtime_;
  Socket socket_;
  AcceptCallback on_request_;
  RefusedCallback on_refused_;
  StartupPolicy policy_;
  Reactor::Key key_ = 0;
  bool starved_ = false;  // the last accept failed for lack of descriptors
  std::vector<std::unique_ptr<Pending>> pending_;
};

}  // namespace steertag::fabric::iwarp
