// A service of a port, and requests without an answer.
#pragma once

#include <memory>

#include "fabric/fabric.h"
#include "fabric/roce/port.h"
#include "fabric/roce/runtime.h"

namespace steertag::fabric::roce {

class RoceListener final : public Listener, private Service {
 public:
  static Expected<std::unique_ptr<Listener>, Error> open(Runtime& runtime, const Url& url,
                                                         AcceptCallback on_request,
                                                         RefusedCallback on_refused,
                                                         const StartupPolicy& policy);
  RoceListener(Runtime& runtime, Port& port, AcceptCallback on_request, RefusedCallback on_refused,
               const StartupPolicy& policy);
  ~RoceListener() override;

  std::uint16_t port() const override { return number_; }

 private:
  void on_request(Session& session, View private_data) override;
  void on_stale_request() override;
  void on_refused(const Address& peer, const Error& error) override;
  const StartupPolicy& policy() const override { return policy_; }

  Runtime& runtime_;
  Port& port_;
  AcceptCallback on_request_;
  RefusedCallback on_refused_;
  StartupPolicy policy_;
  bool rejects_next_ = false;  // by policy
  std::uint16_t number_ = 0;
};

}  // namespace steertag::fabric::roce
