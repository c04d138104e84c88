// Listens for connection requests.
#pragma once

#include <memory>

#include "fabric/verbs/runtime.h"

namespace steertag::fabric::verbs {

class VerbsListener final : public Listener, private CmOwner {
 public:
  static Expected<std::unique_ptr<Listener>, Error> open(Runtime& runtime, const Url& url,
                                                         AcceptCallback on_request,
                                                         RefusedCallback on_refused);
  VerbsListener(Runtime& runtime, AcceptCallback on_request, RefusedCallback on_refused)
      : runtime_(runtime), on_request_(std::move(on_request)), on_refused_(std::move(on_refused)) {}

  std::uint16_t port() const override;

 private:
  void on_cm_event(const CmEvent& event) override;

  Runtime& runtime_;
  AcceptCallback on_request_;
  RefusedCallback on_refused_;
  CmId id_;
};

}  // namespace steertag::fabric::verbs
