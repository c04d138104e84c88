// A reliable connected queue pair with its completion queue.
//
// It posts within the device's depth, and completes in order.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "fabric/verbs/cm_id.h"
#include "fabric/verbs/device.h"
#include "fabric/verbs/local_buffer.h"

namespace steertag::fabric::verbs {

/// One operation of the send queue.
struct Outgoing {
  enum class Kind : std::uint8_t { send, rdma_write, rdma_read, bind };
  Kind kind = Kind::send;
  WorkId id = 0;
  std::vector<View> parts;              // of a Send or Write
  std::shared_ptr<GuardedMemory> sink;  // of a Read
  std::uint64_t sink_offset = 0;
  std::uint32_t sink_length = 0;
  LocalBuffer local;       // made when the device takes the operation: waiting work pins no memory
  std::uint32_t stag = 0;  // of the peer; a Send invalidates it
  std::uint64_t offset = 0;
  bool invalidate = false;
  VerbsRegion::Bind bind;
};

struct PostedReceive {
  MutableView buffer;
  WorkId id = 0;
  LocalBuffer local;  // made when the device takes it
};

/// A work request that ended with an error; later ones are flushed.
struct WorkFailure {
  ibv_wc_status status = IBV_WC_SUCCESS;
  bool receive = false;
  std::uint64_t number = 0;             // counts Sends, Writes and Reads, or receives, from 1
  const Outgoing* operation = nullptr;  // none of a receive
};

/// Notifications from inside `poll`; the owner may destroy the queue pair.
class WorkProgress {
 public:
  virtual ~WorkProgress() = default;
  virtual void on_done(const Outgoing& operation) = 0;
  virtual void on_message(const PostedReceive& receive, MutableView bytes,
                          std::optional<std::uint32_t> invalidated) = 0;
  virtual void on_failed(const WorkFailure& failure) = 0;
};

class QueuePair {
 public:
  QueuePair(VerbsDomain& domain, QueueOwner& owner, WorkProgress& progress)
      : domain_(domain), owner_(owner), progress_(progress) {}
  ~QueuePair() { destroy(); }
  QueuePair(const QueuePair&) = delete;
  QueuePair& operator=(const QueuePair&) = delete;

  /// On `id`, which must have its device and live until `destroy`. False (errno) if the device
  /// refuses.
  bool create(rdma_cm_id& id);
  /// Destroys it. The device then uses none of the posted memory.
  void destroy();
  /// The same, but keeps receives for another `create`.
  void unmake();
  bool exists() const { return id_ != nullptr; }
  /// The device has stopped it.
  bool failed() const;

  void post(Outgoing operation) { waiting_.push_back(std::move(operation)); }
  void post_receive(PostedReceive receive) { waiting_receives_.push_back(std::move(receive)); }
  /// Posts receives up to the device's depth.
  Expected<void, Error> flush_receives();
  /// Posts the oldest waiting operation. Null if none waits or the device is full. An error ends
  /// the connection: the device refuses, and no operation in flight could make room.
  Expected<const Outgoing*, Error> flush_one();
  /// Takes up to kMostCompletionsPerTurn completions. Returns whether there may be more.
  bool poll();

  /// Operations that have not completed.
  std::size_t posted() const { return waiting_.size() + in_flight_.size(); }
  /// The operation that the device works on; null without one.
  const Outgoing* oldest_in_flight() const {
    return in_flight_.empty() ? nullptr : &in_flight_.front();
  }
  BoundWindows& windows() { return windows_; }

 private:
  Expected<void, Error> prepare(Outgoing& operation);
  void take(const ibv_wc& completion);
  void take_receive(const ibv_wc& completion);

  VerbsDomain& domain_;
  QueueOwner& owner_;
  WorkProgress& progress_;
  rdma_cm_id* id_ = nullptr;  // with the queue pair on it
  ibv_cq* completions_ = nullptr;
  std::uint32_t send_depth_ = 0;
  std::uint32_t receive_depth_ = 0;
  std::deque<Outgoing> waiting_;
  std::deque<Outgoing> in_flight_;
  std::deque<PostedReceive> waiting_receives_;
  std::deque<PostedReceive> posted_receives_;
  std::uint64_t operations_done_ = 0;
  std::uint64_t receives_done_ = 0;
  BoundWindows windows_;
};

}  // namespace steertag::fabric::verbs
