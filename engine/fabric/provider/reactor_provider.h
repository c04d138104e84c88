// A provider whose sockets, timers and notifications run in one reactor.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "fabric/provider/provider_core.h"

namespace steertag::fabric {

class ReactorProvider : public Provider {
 public:
  std::size_t poll(std::chrono::milliseconds timeout) override;
  void wake() override { core_->reactor.wake(); }
  int descriptor() const override { return core_->reactor.descriptor(); }
  std::chrono::milliseconds idle_for(std::chrono::milliseconds most) override;
  void retire(std::unique_ptr<Connection> connection) override {
    retired_.push_back(std::move(connection));
  }

 protected:
  explicit ReactorProvider(std::unique_ptr<ProviderCore> core) : core_(std::move(core)) {}
  ProviderCore& core() const { return *core_; }

 private:
  void settle();

  std::unique_ptr<ProviderCore> core_;
  std::vector<std::unique_ptr<Connection>> retired_;  // destroyed before the core
  std::chrono::steady_clock::time_point returned_;    // from the last poll
};

}  // namespace steertag::fabric
