// The receives of one connection: its own, or those that it takes from a queue.
#pragma once

#include <functional>
#include <utility>

#include "fabric/software/shared_receives.h"

namespace steertag::fabric::software {

class ConnectionReceives final : private ReceiveTaker {
 public:
  ConnectionReceives() = default;
  ~ConnectionReceives() override { close(); }
  ConnectionReceives(const ConnectionReceives&) = delete;
  ConnectionReceives& operator=(const ConnectionReceives&) = delete;

  /// From now on they are of this queue, which must live until `close`. `on_taken` is called when
  /// one comes that a Send has waited for. It comes from inside another connection's turn. With
  /// `yields` a Send that has begun loses its receive to one that waits, and needs another by
  /// `ready` to go on. What had come of it is then in that one.
  void share(SharedReceives& queue, std::function<void()> on_taken, bool yields = false) {
    queue_ = &queue;
    on_taken_ = std::move(on_taken);
    yields_ = yields;
  }
  bool shared() const { return queue_ != nullptr; }
  void post(MutableView buffer, WorkId id) { ready_.push() = {buffer, id}; }

  /// Whether a Send that begins now, or goes on, has a receive. If they are shared and there is
  /// none, the connection waits for one in the queue's line.
  bool ready();
  /// That of the Send that has begun. Only after `ready`, as is `pop`.
  const PostedReceive& front() const { return ready_.at(ready_.first()); }
  void pop();
  /// The connection has taken all that came: a Send that is not whole leaves its receive to a
  /// connection in the line.
  void yield();
  /// Those posted on the connection, or the one taken from the queue.
  const PostedReceives& posted() const { return ready_; }
  bool empty() const { return ready_.empty(); }

  /// Nothing more is received. What was taken from the queue is for others.
  void close();

 private:
  void on_receive(const PostedReceive& receive) override;
  PostedReceive surrender() override;
  void keep(const PostedReceive& receive);
  void drop_set_aside();

  SharedReceives* queue_ = nullptr;
  std::function<void()> on_taken_;
  bool yields_ = false;
  bool holds_ = false;  // the queue knows
  Bytes set_aside_;     // the octets of the receive that a Send has lost
  PostedReceives ready_;
};

}  // namespace steertag::fabric::software
