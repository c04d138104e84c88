// The RDMA device of a provider: its abilities, its completions and its asynchronous events.
//
// Events arrive through the provider's reactor.
#pragma once

#include <infiniband/verbs.h>

#include <memory>
#include <optional>
#include <string>

#include "fabric/fabric.h"
#include "fabric/net_names.h"
#include "fabric/verbs/cm_id.h"
#include "fabric/verbs/completion_queues.h"
#include "fabric/verbs/siw_key.h"

namespace steertag::fabric::verbs {

class Device;

/// Work requests of one connection at the device. Further ones wait in our queue. The device pins
/// memory for them while the connection lives, so the depths are modest. Receives beyond the depth
/// reach the device as others are used: a longer burst finds none.
inline constexpr std::uint32_t kSendDepth = 128;
inline constexpr std::uint32_t kReceiveDepth = 512;

/// The text of every failure to find or open a device: the reason, and the remedy.
Error no_device(const std::string& why);

/// The owner of a completion queue and a queue pair; their contexts point here.
class QueueOwner {
 public:
  explicit QueueOwner(const Device& device) : queue_device_(device) {}
  virtual ~QueueOwner() = default;
  const Device& queue_device() const { return queue_device_; }
  /// The completion queue has entries; its notification is armed again.
  virtual void on_completions() = 0;
  virtual void on_async_event(ibv_event_type type) = 0;

 private:
  const Device& queue_device_;
};

class Device {
 public:
  /// The first device that has an active port. Errc::no_device if there is none.
  static Expected<std::unique_ptr<Device>, Error> open(Reactor& reactor);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  ibv_context* context() const { return context_; }
  /// Completion queues, each for one connection.
  CompletionQueues& completion_queues() const { return *completion_queues_; }
  /// kSendDepth and kReceiveDepth, or the device's limits.
  std::uint32_t send_depth() const;
  std::uint32_t receive_depth() const;
  std::string name() const { return ibv_get_device_name(context_->device); }
  const ibv_device_attr& attributes() const { return attributes_; }
  /// It runs over MPA and TCP: private data keeps its length, and RDMA Reads need a writable sink.
  bool iwarp() const { return context_->device->transport_type == IBV_TRANSPORT_IWARP; }
  /// It has type 2 memory windows, which a peer's Send with Invalidate closes.
  bool windows() const;
  /// The completion flags that validate `invalidated_rkey`.
  unsigned invalidated_flags() const;
  /// RDMA Reads that an initiator may have in flight, from the event of its establishment.
  std::uint8_t settled_reads(const CmEvent& established) const;
  /// Octets of private data in a connection request.
  std::size_t most_private_data() const;
  /// Octets of one message.
  std::size_t largest_message() const { return largest_message_; }

 private:
  class Completions;
  class AsyncEvents;
  Device(Reactor& reactor, ibv_context* context);
  Expected<void, Error> start();
  /// Linux's software iWARP.
  bool siw() const;

  Reactor& reactor_;
  ibv_context* context_;  // owned by librdmacm, which opens each device once
  ibv_device_attr attributes_{};
  std::size_t largest_message_ = 0;
  std::optional<HeldSiwKey> siw_key_;  // outlives the queues
  ibv_comp_channel* completions_ = nullptr;
  std::unique_ptr<CompletionQueues> completion_queues_;
  std::unique_ptr<Completions> completion_events_;
  std::unique_ptr<AsyncEvents> async_events_;
};

}  // namespace steertag::fabric::verbs
