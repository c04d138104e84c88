// One connection of the reference server as an interposer posts on it.
// Its octets are its own, beside what the server posts itself.
#pragma once

#include <map>
#include <memory>

#include "endpoint/endpoint.h"
#include "endpoint/region_pool.h"
#include "server/rdma/connection_backchannel.h"

namespace steertag::peer {

/// Outlives its connection: every operation fails with Errc::not_connected then.
class InterposedConnection {
 public:
  /// All must live until `close`. `number` counts the server's connections.
  InterposedConnection(Endpoint& endpoint, RegionPool& pool, ConnectionBackchannel& callbacks,
                       std::uint64_t number)
      : endpoint_(&endpoint), pool_(&pool), callbacks_(&callbacks), number_(number) {}
  InterposedConnection(const InterposedConnection&) = delete;
  InterposedConnection& operator=(const InterposedConnection&) = delete;

  std::uint64_t number() const { return number_; }
  bool up() const { return endpoint_ && endpoint_->up(); }
  /// Thresholds as the server has settled them; the defaults once the connection is gone.
  wire::Negotiated negotiated() const {
    return endpoint_ ? endpoint_->negotiated() : wire::Negotiated{};
  }

  /// One Send of any octets, legal or not.
  Expected<void, fabric::Error> send(Bytes octets, std::optional<std::uint32_t> invalidate = {},
                                     const fabric::Fault* fault = nullptr);
  Expected<void, fabric::Error> write(Bytes octets, std::uint32_t stag, std::uint64_t offset,
                                      const fabric::Fault* fault = nullptr);
  /// The octets come to Interposer::on_read with the number that is given back.
  Expected<std::uint64_t, fabric::Error> read(std::uint32_t stag, std::uint64_t offset,
                                              std::uint32_t length,
                                              const fabric::Fault* fault = nullptr);
  /// Whether it has posted RDMA Writes, or Reads. The client's memory may then deny one of them.
  bool has_used_memory(fabric::Operation by) const {
    return by == fabric::Operation::rdma_read ? has_read_ : has_written_;
  }
  /// Octets straight into the stream (Capabilities::fault_hooks).
  Expected<void, fabric::Error> send_raw(View octets);
  /// Further receives, once: for a connection that was accepted with none
  /// (EndpointOptions::receives).
  void add_receives(std::uint32_t count);
  Expected<void, fabric::Error> terminate(const trace::Terminate& terminate);
  /// As if the client had granted so many calls of the server (RFC 8167 4.1).
  void grant_callbacks(std::uint32_t window);
  /// Orderly end: what is queued still leaves.
  void disconnect();
  /// Also before the connection is up.
  void abort();

  // What the connection calls.
  /// Tags with it belong to connections.
  static constexpr WorkTag kTag = WorkTag{1} << 62;
  /// An operation with this tag completed. The octets of an RDMA Read; empty for all others.
  Bytes take_done(WorkTag tag);
  void close();

 private:
  WorkTag next_tag() { return kTag | next_++; }

  Endpoint* endpoint_;
  RegionPool* pool_;
  ConnectionBackchannel* callbacks_;
  std::uint64_t number_;
  std::uint64_t next_ = 0;
  bool has_written_ = false;
  bool has_read_ = false;
  std::map<WorkTag, Bytes> leaving_;
  struct Sink {
    PooledRegion region;
    std::size_t length = 0;
  };
  std::map<WorkTag, Sink> reading_;
};

}  // namespace steertag::peer
