// A client's optimistic connection: RDMA Reads of frames, and nothing else.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "client/policy.h"
#include "endpoint/region_pool.h"
#include "fabric/fabric.h"
#include "nfs/direct/messages.h"

namespace steertag::peer {

/// RDMA Reads in flight. Peers take 16 at a time by default, and a client has no use for more.
inline constexpr std::size_t kMostOptimisticReads = 16;
/// Octets of a block whose frame is read. Smaller ones are not worth an RDMA Read each.
inline constexpr std::uint32_t kSmallestOptimisticBlock = 1024;
inline constexpr std::uint32_t kLargestOptimisticBlock = 1U << 20;

class OptimisticConnection final : private fabric::Handler {
 public:
  /// The data of a valid frame, during the call; none if it is invalid, or the connection ended.
  using Done = std::function<void(std::optional<View>)>;

  /// `provider` must outlive it.
  explicit OptimisticConnection(fabric::Provider& provider, const OptimisticPolicy& policy = {});
  ~OptimisticConnection() override;
  OptimisticConnection(const OptimisticConnection&) = delete;
  OptimisticConnection& operator=(const OptimisticConnection&) = delete;

  /// Opens it with the ticket; it is up or down later. An error: it is down. `recoverable`: a Read
  /// that is refused does not end it, if the server agrees.
  void open(const net::Url& url, const direct::Ticket& ticket, bool crc, bool recoverable = false);
  /// Starts the Read of a frame. False, and no call of `done`, without room for it. `done` comes
  /// from inside Provider::poll, and may start others.
  bool read(const direct::Reference& reference, Done done);

  bool is_up() const { return state_ == State::up; }
  bool is_down() const { return state_ == State::down; }
  /// Why it is down.
  const std::string& reason() const { return reason_; }
  std::size_t in_flight() const { return reads_.size(); }

 private:
  enum class State : std::uint8_t { opening, up, down };
  struct Read {
    direct::Reference reference;
    PooledRegion sink;
    Done done;
  };

  void on_established(fabric::Connection& connection, View private_data) override;
  void on_refused(fabric::Connection& connection, const fabric::Error& error,
                  View private_data) override;
  void on_received(fabric::Connection&, fabric::WorkId, MutableView,
                   std::optional<std::uint32_t>) override {}
  void on_completed(fabric::Connection& connection, fabric::WorkId id,
                    fabric::Operation operation) override;
  void on_read_refused(fabric::Connection& connection, fabric::WorkId id,
                       const trace::Terminate& cause) override;
  void on_closed(fabric::Connection& connection, const fabric::CloseReason& reason) override;
  void go_down(std::string reason);
  static MutableView frame_of(const Read& read);

  fabric::Provider& provider_;
  const OptimisticPolicy policy_;
  std::unique_ptr<fabric::Domain> domain_;
  RegionPool pool_;
  State state_ = State::opening;
  bool recoverable_ = false;
  std::string reason_;
  std::unordered_map<fabric::WorkId, Read> reads_;
  fabric::WorkId next_read_ = 1;
  std::unique_ptr<fabric::Connection> connection_;
};

}  // namespace steertag::peer
