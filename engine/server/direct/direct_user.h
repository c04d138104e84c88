// A user of direct access: who said HELLO, its optimistic connection, and its frames.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "fabric/fabric.h"
#include "net/source_quota.h"
#include "server/direct/frames.h"
#include "server/rpc/program.h"

namespace steertag::peer {

/// The ticket makes it; the optimistic connection makes it useful; the end of either, or of the RPC
/// connection, makes it `ended` for good.
class DirectUser final : private fabric::Handler, private trace::EventSink {
 public:
  using Time = Frames::Time;
  /// Of the optimistic connection, which they must outlive.
  struct Observers {
    trace::EventSink* events = nullptr;
    trace::ByteSink* bytes = nullptr;
  };

  DirectUser(const direct::HelloArgs& hello, const ConnectionInfo& info,
             const direct::Ticket& ticket, Time now, const DirectPolicy& policy,
             FrameTotals& totals, net::SourceQuota::Slot place)
      : hello_(hello),
        connection_id_(info.id),
        host_(info.peer_host),
        rpc_(info.backchannel),
        ticket_(ticket),
        made_(now),
        policy_(policy),
        totals_(totals),
        place_(std::move(place)) {}
  ~DirectUser() override;
  DirectUser(const DirectUser&) = delete;
  DirectUser& operator=(const DirectUser&) = delete;

  /// Before `accept`.
  void observe(const Observers& observers) { observers_ = observers; }
  /// Before `accept`: client, server and provider know recoverable refusals.
  void recover_faults() { recovers_ = true; }
  /// Uses the ticket up. Frames are in `domain`. An error ends it. The frames' limits and random
  /// source must outlive it, the provider too.
  Expected<void, fabric::Error> accept(fabric::Provider& provider,
                                       std::shared_ptr<fabric::Domain> domain,
                                       fabric::ConnectionRequest& request,
                                       const fabric::ConnectionOptions& options,
                                       net::SourceQuota::Slot slot, const DirectLimits& limits,
                                       const std::function<std::uint64_t()>& random);
  /// No reference of it leads anywhere from now on. May be called inside a notice.
  void end();

  bool ended() const { return ended_; }
  /// The optimistic connection was accepted, so that references can be used.
  bool is_up() const { return connection_ && !ended_; }
  /// Waits for its ticket to be used.
  bool awaits_ticket() const { return !connection_ && !ended_; }
  /// The RPC connection that said HELLO has gone.
  bool is_orphan() const { return rpc_.expired(); }
  bool uses(const fabric::Provider& provider) const { return provider_ == &provider; }

  const direct::HelloArgs& hello() const { return hello_; }
  /// The sessions of its client at HELLO: the end of one ends the user.
  const std::vector<nfs4::SessionId>& sessions() const { return sessions_; }
  void keep_sessions(const std::vector<nfs4::SessionId>& sessions) { sessions_ = sessions; }
  std::uint64_t connection_id() const { return connection_id_; }
  const std::string& host() const { return host_; }
  const direct::Ticket& ticket() const { return ticket_; }
  Time made() const { return made_; }
  /// None before the optimistic connection, and after the end unless a policy keeps them.
  Frames* frames() { return frames_.get(); }
  bool holds_frames() const { return frames_ && frames_->size() > 0; }
  /// Whether an RDMA Read was answered since the last call.
  bool take_reads() { return std::exchange(was_read_, false); }
  /// When its client of NFS version 4 was last seen to have renewed its lease.
  Time renewed() const { return renewed_; }
  void note_renewal(Time when) { renewed_ = when; }

 private:
  void forget();
  void on_established(fabric::Connection&, View) override {}
  void on_refused(fabric::Connection& connection, const fabric::Error& error,
                  View private_data) override;
  void on_received(fabric::Connection& connection, fabric::WorkId id, MutableView,
                   std::optional<std::uint32_t>) override {
    connection.post_receive(receive_, id);
  }
  void on_completed(fabric::Connection&, fabric::WorkId, fabric::Operation) override {}
  void on_closed(fabric::Connection& connection, const fabric::CloseReason& reason) override;
  void on_event(const trace::Event& event) override;

  direct::HelloArgs hello_;
  std::vector<nfs4::SessionId> sessions_;
  std::uint64_t connection_id_;  // of the RPC connection
  std::string host_;
  std::weak_ptr<Backchannel> rpc_;
  direct::Ticket ticket_;
  Time made_;
  const DirectPolicy& policy_;
  FrameTotals& totals_;
  net::SourceQuota::Slot place_;  // among the users, until it has ended
  Observers observers_;
  Time renewed_{};
  bool recovers_ = false;
  bool ended_ = false;
  bool was_read_ = false;
  fabric::Provider* provider_ = nullptr;
  net::SourceQuota::Slot slot_;  // of its connection
  std::shared_ptr<fabric::Domain> domain_;
  std::unique_ptr<Frames> frames_;  // in the domain
  Bytes receive_;                   // none: a Send ends the connection
  std::unique_ptr<fabric::Connection> connection_;
};

}  // namespace steertag::peer
