// A connection's turn, its deadline, and what it tells its owner.
#include "fabric/provider/reactor_connection.h"

namespace steertag::fabric {

CloseReason timed_out(const std::string& what, std::chrono::milliseconds limit) {
  return {Errc::timed_out, what + " " + std::to_string(limit.count()) + " ms", {}, false};
}

void ReactorConnection::mark_unsettled() {
  if (!unsettled_) {
    unsettled_ = true;
    core_.turns.add(*this);
  }
}

void ReactorConnection::take_turn() {
  unsettled_ = false;
  if (!closed()) {
    settle();
  }
  if (closed()) {
    give_end();
  } else {
    update_deadline();
  }
}

void ReactorConnection::update_deadline() {
  if (!closed()) {
    core_.reactor.set_deadline(key_, next_expiry().at);
  }
}

void ReactorConnection::on_deadline() {
  const Expiry due = next_expiry();
  if (due.at <= core_.reactor.round_time()) {
    expire(due.wait);
  }
  update_deadline();
}

Expected<void, Error> ReactorConnection::may_post() const {
  if (!established()) {
    return tl::unexpected(Error{Errc::not_connected, reason_ ? reason_->detail : std::string()});
  }
  const std::size_t most = core_.limits.posted_operations;
  if (unsent_operations() >= most) {
    return tl::unexpected(Error{Errc::queue_full, std::to_string(most)});
  }
  return {};
}

void ReactorConnection::give_established(View private_data) {
  was_established_ = true;
  if (handler_ != nullptr) {
    ++core_.notices;
    handler_->on_established(*this, private_data);
  }
}

void ReactorConnection::give_received(WorkId id, MutableView bytes,
                                      std::optional<std::uint32_t> invalidated) {
  if (handler_ != nullptr) {
    ++core_.notices;
    handler_->on_received(*this, id, bytes, invalidated);
  }
}

void ReactorConnection::give_completed(WorkId id, Operation operation) {
  if (handler_ != nullptr) {
    ++core_.notices;
    handler_->on_completed(*this, id, operation);
  }
}

void ReactorConnection::give_read_refused(WorkId id, const trace::Terminate& cause) {
  if (handler_ != nullptr) {
    ++core_.notices;
    handler_->on_read_refused(*this, id, cause);
  }
}

void ReactorConnection::give_end() {
  if (end_given_ || handler_ == nullptr) {
    return;
  }
  end_given_ = true;
  ++core_.notices;
  if (was_established_) {
    handler_->on_closed(*this, *reason_);
  } else {
    handler_->on_refused(*this, {reason_->code, reason_->detail}, refused_private_data_);
  }
}

}  // namespace steertag::fabric
