// The life of a user of direct access.
#include "server/direct/direct_user.h"

namespace steertag::peer {
namespace {

constexpr std::size_t kReceiveBytes = 4096;

}  // namespace

DirectUser::~DirectUser() {
  // Nothing of the connection is running: users are destroyed between polls.
  if (!connection_) return;
  connection_->set_handler(nullptr);
  connection_->observe(nullptr, nullptr);
  connection_->abort();
}

Expected<void, fabric::Error> DirectUser::accept(fabric::Provider& provider,
                                                 std::shared_ptr<fabric::Domain> domain,
                                                 fabric::ConnectionRequest& request,
                                                 const fabric::ConnectionOptions& options,
                                                 net::SourceQuota::Slot slot,
                                                 const DirectLimits& limits,
                                                 const std::function<std::uint64_t()>& random) {
  provider_ = &provider;
  slot_ = std::move(slot);
  domain_ = std::move(domain);
  frames_ = std::make_unique<Frames>(request.peer(), *domain_, limits, policy_, totals_, random);
  auto accepted = request.accept(*domain_, options, *this, this, observers_.bytes);
  if (!accepted) {
    end();
    return tl::unexpected(std::move(accepted.error()));
  }
  connection_ = std::move(*accepted);
  if (provider.capabilities().windows_at_once && policy_.grants.binds_windows)
    frames_->bind_to(*connection_);
  if (recovers_) {
    (void)connection_->recover_read_faults();  // the provider has it
    frames_->close_revoked();
  }
  if (!policy_.tickets.refuses_sends) {
    receive_.resize(kReceiveBytes);
    connection_->post_receive(receive_, 0);
  }
  return {};
}

void DirectUser::forget() {
  ended_ = true;
  place_.reset();
  if (policy_.grants.ends_with_user) frames_.reset();
}

void DirectUser::end() {
  forget();
  if (connection_) connection_->abort();
}

void DirectUser::on_refused(fabric::Connection& /*connection*/, const fabric::Error& /*error*/,
                            View /*private_data*/) {
  forget();
}

void DirectUser::on_closed(fabric::Connection& /*connection*/, const fabric::CloseReason& reason) {
  if (reason.code == fabric::Errc::protocol_error) ++totals_.counters.faults;
  forget();
}

void DirectUser::on_event(const trace::Event& event) {
  if (observers_.events) observers_.events->on_event(event);
  const auto* response = std::get_if<trace::RdmaReadResponse>(&event.body);
  if (response) {
    was_read_ = true;
    totals_.counters.optimistic_octets += response->length;
  }
  if (std::holds_alternative<trace::RdmaReadRefused>(event.body)) ++totals_.counters.faults;
}

}  // namespace steertag::peer
