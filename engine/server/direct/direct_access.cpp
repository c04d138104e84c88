// Users of direct access come and go.
#include "server/direct/direct_access.h"

#include <algorithm>

#include "nfs/direct/private_data.h"
#include "server/rdma/peer_name.h"
#include "wire/xdr.h"

namespace steertag::peer {

direct::Ticket DirectAccess::fresh_ticket() {
  direct::Ticket ticket;
  wire::store_u64(ticket.data(), random_());
  wire::store_u64(ticket.data() + 8, random_());
  return ticket;
}

Expected<DirectUser*, nfs4::Status> DirectAccess::hello(const direct::HelloArgs& args,
                                                        const ConnectionInfo& info) {
  if (!info.rdma) return tl::unexpected(nfs4::Status::NFS4ERR_NOTSUPP);
  if (args.frame_form != direct::kFrameForm) return tl::unexpected(nfs4::Status::NFS4ERR_INVAL);
  for (const auto& user : users_) {
    const bool same_run = user->hello().verifier == args.verifier && user->host() == info.peer_host;
    if (same_run || user->connection_id() == info.id) user->end();
  }
  // Ended users are destroyed in `tend`, at the latest before the next call.
  auto place = places_.admit(info.peer);
  if (!place) return tl::unexpected(nfs4::Status::NFS4ERR_DELAY);
  const direct::Ticket ticket = fresh_ticket();
  for (std::size_t use = 0; use < policy_.tickets.uses; ++use)
    users_.push_back(
        std::make_unique<DirectUser>(args, info, ticket, now(), policy_, totals_,
                                     use == 0 ? std::move(*place) : net::SourceQuota::Slot()));
  return users_.back().get();
}

DirectUser* DirectAccess::user_of(const ConnectionInfo& info) {
  const auto found = std::ranges::find_if(
      users_, [&](const auto& user) { return !user->ended() && user->connection_id() == info.id; });
  return found == users_.end() ? nullptr : found->get();
}

bool DirectAccess::is_used_up_beside(const DirectUser* user) const {
  return std::ranges::any_of(users_, [&](const auto& each) {
    const Frames* frames = each.get() == user ? nullptr : each->frames();
    return frames && frames->size() >= limits_.frames_of_user;
  });
}

bool DirectAccess::has_lapsed(const DirectUser& user) const {
  return policy_.tickets.lapses && user.awaits_ticket() && now() - user.made() >= limits_.lease;
}

DirectUser* DirectAccess::find(const direct::Ticket& ticket, const std::string& host) {
  const auto found = std::ranges::find_if(users_, [&](const auto& user) {
    return user->awaits_ticket() && !has_lapsed(*user) &&
           (user->host() == host || !policy_.tickets.checks_host) &&
           (user->ticket() == ticket || !policy_.tickets.checks);
  });
  return found == users_.end() ? nullptr : found->get();
}

bool DirectAccess::take(fabric::Provider& provider, fabric::ConnectionRequest& request,
                        fabric::ConnectionOptions options, net::SourceQuota::Slot slot,
                        const DirectUser::Observers& observers) {
  const bool capable = provider.capabilities().recoverable_read_faults;
  const bool agrees =
      policy_.recoverable_faults && capable && direct::is_recoverable(request.private_data());
  options.private_data.clear();
  direct::encode_answer(options.private_data, agrees);
  const auto ticket = direct::find_ticket(request.private_data());
  DirectUser* user = nullptr;
  if (ticket || !policy_.tickets.checks)
    user = find(ticket.value_or(direct::Ticket{}), host_of(request.peer_name()));
  if (!user) {
    request.reject(options.private_data);
    return false;
  }
  options.ord = 0;  // the client's memory is never read
  user->observe(observers);
  const bool recovers = agrees ? policy_.faults.recovers : !policy_.faults.needs_word;
  if (capable && recovers) user->recover_faults();
  return user
      ->accept(provider, domain_for_user(provider), request, options, std::move(slot), limits_,
               random_)
      .has_value();
}

MutableView DirectAccess::frame(std::uint32_t stag) {
  for (const auto& user : users_) {
    const MutableView found = user->frames() ? user->frames()->find(stag) : MutableView{};
    if (!found.empty()) return found;
  }
  return {};
}

std::shared_ptr<fabric::Domain> DirectAccess::domain_for_user(fabric::Provider& provider) {
  if (policy_.grants.own_domains) return provider.make_domain();
  if (!shared_domain_) shared_domain_ = provider.make_domain();
  return shared_domain_;
}

void DirectAccess::spread_faults() {
  if (policy_.tickets.ends_alone || spread_ == totals_.counters.faults) return;
  spread_ = totals_.counters.faults;
  for (const auto& user : users_) user->end();
}

void DirectAccess::end_users(const std::function<bool(DirectUser&)>& is_lost) {
  for (const auto& user : users_) {
    if (!user->ended() && is_lost(*user)) user->end();
  }
}

void DirectAccess::tend() {
  const Time time = now();
  const bool looks = time - looked_ >= kLeaseCheckInterval;
  if (looks) looked_ = time;
  spread_faults();
  for (const auto& user : users_) {
    if (!user->ended() && (has_lapsed(*user) || user->is_orphan())) user->end();
    if (looks && user->frames()) user->frames()->expire(time);
  }
  std::erase_if(users_, [](const auto& user) { return user->ended() && !user->holds_frames(); });
}

void DirectAccess::leave(const fabric::Provider& provider) {
  std::erase_if(users_, [&](const auto& user) { return user->uses(provider); });
  shared_domain_.reset();
}

void DirectAccess::before_change(NodeId node, std::uint64_t from, std::uint64_t to,
                                 ContentChange what) {
  if (what == policy_.revocation.unseen) return;
  for (const auto& user : users_) {
    if (user->frames()) user->frames()->revoke(node, from, to);
  }
}

}  // namespace steertag::peer
