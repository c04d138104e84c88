// The rdma event channel of a provider, in its reactor.
#pragma once

#include <memory>

#include "fabric/net_names.h"
#include "fabric/verbs/cm_id.h"

namespace steertag::fabric::verbs {

class EventChannel final : private Channel {
 public:
  /// Errc::no_device if the system has no RDMA connection manager.
  static Expected<std::unique_ptr<EventChannel>, Error> open(Reactor& reactor);
  ~EventChannel() override;
  EventChannel(const EventChannel&) = delete;
  EventChannel& operator=(const EventChannel&) = delete;

  /// A new identifier for reliable connected service; empty (and errno) on failure.
  CmId make_id(CmOwner& owner);

 private:
  EventChannel(Reactor& reactor, rdma_event_channel& channel)
      : reactor_(reactor), channel_(channel) {}
  void on_ready(std::uint32_t events) override;
  void on_deadline() override {}
  bool take_one();

  Reactor& reactor_;
  rdma_event_channel& channel_;
  Reactor::Key key_ = 0;
};

}  // namespace steertag::fabric::verbs
