// Direct access of one server: its users, their tickets, and what a change of a file revokes.
#pragma once

#include <memory>
#include <vector>

#include "server/direct/direct_user.h"

namespace steertag::peer {

/// Shared by the program that grants and the transports that take optimistic connections. Outlives
/// both; the users go with the provider of their connection (`leave`).
class DirectAccess final : public ContentObserver {
 public:
  using Time = DirectUser::Time;

  /// `random` must differ from start to start.
  DirectAccess(const DirectLimits& limits, std::function<std::uint64_t()> random,
               DeadlineClock clock, const DirectPolicy& policy = {})
      : limits_(limits),
        policy_(policy),
        random_(std::move(random)),
        clock_(std::move(clock)),
        totals_(limits),
        places_(
            {.most = limits.users, .of_source = limits.users_of_source, .early_drop = limits.users},
            {}) {}

  /// A new user with a ticket, in place of an older one of this connection or verifier.
  Expected<DirectUser*, nfs4::Status> hello(const direct::HelloArgs& args,
                                            const ConnectionInfo& info);
  /// The user that said HELLO on this connection, if it is not ended.
  DirectUser* user_of(const ConnectionInfo& info);
  /// Whether a user other than this one has as many frames as one may have.
  bool is_used_up_beside(const DirectUser* user) const;
  /// Ends the users for whom it is true.
  void end_users(const std::function<bool(DirectUser&)>& is_lost);
  /// Ends users that lost a connection or let their ticket lapse, and closes memory whose lease is
  /// over. Not from inside a notice.
  void tend();

  /// Answers a request for an optimistic connection. True: it was accepted.
  bool take(fabric::Provider& provider, fabric::ConnectionRequest& request,
            fabric::ConnectionOptions options, net::SourceQuota::Slot slot,
            const DirectUser::Observers& observers = {});
  /// Ends the users of this provider, which is going away. Not from inside a notice.
  void leave(const fabric::Provider& provider);

  void before_change(NodeId node, std::uint64_t from, std::uint64_t to,
                     ContentChange what) override;

  /// The octets of the frame that is registered under this STag; none: empty. For whoever looks at
  /// the server from outside.
  MutableView frame(std::uint32_t stag);

  Time now() const { return clock_(); }
  const DirectLimits& limits() const { return limits_; }
  const DirectPolicy& policy() const { return policy_; }
  const direct::Counters& counters() const { return totals_.counters; }
  void count_rpc_octets(std::size_t octets) { totals_.counters.rpc_octets += octets; }
  std::size_t users() const { return users_.size(); }
  std::size_t frames() const { return totals_.frames.held(); }

 private:
  /// Its ticket was not used in time.
  bool has_lapsed(const DirectUser& user) const;
  DirectUser* find(const direct::Ticket& ticket, const std::string& host);
  direct::Ticket fresh_ticket();
  std::shared_ptr<fabric::Domain> domain_for_user(fabric::Provider& provider);
  /// Ends all users after a fault of one, if the policy says so.
  void spread_faults();

  const DirectLimits limits_;
  const DirectPolicy policy_;
  const std::function<std::uint64_t()> random_;
  DeadlineClock clock_;
  FrameTotals totals_;
  net::SourceQuota places_;   // of users that have not ended
  std::uint64_t spread_ = 0;  // faults so far, in spread_faults
  std::shared_ptr<fabric::Domain> shared_domain_;
  std::vector<std::unique_ptr<DirectUser>> users_;
  Time looked_{};
};

}  // namespace steertag::peer
