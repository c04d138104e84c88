// Callbacks of one connection, from the queue to the reply.
#include "server/rdma/connection_backchannel.h"

#include <algorithm>

#include "endpoint/limits.h"
#include "wire/xdr.h"

namespace steertag::peer {

void CallbackTimers::run() {
  if (backchannels_.empty()) return;
  const auto time = now();
  // A completion may start further calls, which add their backchannels to a new list.
  auto watched = std::exchange(backchannels_, {});
  for (auto& entry : watched) {
    const auto backchannel = entry.lock();
    if (backchannel && backchannel->expire(time)) backchannels_.push_back(std::move(entry));
  }
}

void ConnectionBackchannel::call(Bytes message, Done done) {
  Pending pending;
  pending.xid = next_xid_++;
  pending.done = std::move(done);
  pending.deadline = timers_->now() + kCallbackTimeout;
  if (!sender_) {
    pending.error =
        net::Error{net::Errc::not_connected, "a callback after the end of its connection"};
  } else if (calls_.size() >= kMostCallbacks) {
    pending.error = net::Error{net::Errc::queue_full, "callbacks that wait for their replies"};
  } else if (message.size() > sender_->largest_callback()) {
    pending.error = net::Error{net::Errc::too_large, "a callback above what the connection takes"};
  }
  wire::store_u32(message.data(), pending.xid);
  pending.message = std::move(message);
  calls_.push_back(std::move(pending));
  if (!watched_) timers_->add(weak_from_this());
  watched_ = true;
  send_some();
}

std::size_t ConnectionBackchannel::largest_call() const {
  return sender_ ? sender_->largest_callback() : 0;
}

std::size_t ConnectionBackchannel::largest_reply() const {
  return sender_ ? sender_->largest_callback_reply() : 0;
}

std::deque<ConnectionBackchannel::Pending>::iterator ConnectionBackchannel::find(
    std::uint32_t xid) {
  return std::ranges::find_if(calls_,
                              [&](const Pending& one) { return one.sent && one.xid == xid; });
}

void ConnectionBackchannel::send_some() {
  for (Pending& one : calls_) {
    if (!sender_ || in_flight_ >= window_) return;
    if (one.sent || one.error) continue;
    one.sent = sender_->send_callback(std::move(one.message));
    one.message.clear();
    if (one.sent) {
      ++in_flight_;
    } else {
      one.error = net::Error{net::Errc::not_connected, "the connection does not take a callback"};
    }
  }
}

void ConnectionBackchannel::end(std::deque<Pending>::iterator call,
                                const Expected<View, net::Error>& reply) {
  const Done done = std::move(call->done);
  if (call->sent) --in_flight_;
  calls_.erase(call);
  done(reply);  // may call again
}

bool ConnectionBackchannel::take_reply(View reply, std::optional<std::uint32_t> window) {
  if (reply.size() < 4) return false;
  const auto call = find(wire::load_u32(reply.data()));
  if (call == calls_.end()) return false;
  if (window) set_window(*window);
  end(call, reply);
  send_some();
  return true;
}

bool ConnectionBackchannel::fail(std::uint32_t xid, const net::Error& error) {
  const auto call = find(xid);
  if (call == calls_.end()) return false;
  end(call, tl::unexpected(error));
  send_some();
  return true;
}

void ConnectionBackchannel::set_window(std::uint32_t window) {
  window_ = std::clamp(window, std::uint32_t{1}, kReverseCredits);
}

void ConnectionBackchannel::grant(std::uint32_t window) {
  set_window(window);
  send_some();
}

void ConnectionBackchannel::close() {
  sender_ = nullptr;
  for (Pending& one : calls_) {
    if (!one.error)
      one.error = net::Error{net::Errc::not_connected, "the connection ended before its reply"};
  }
  // A completion may start further calls, which fail in the next `run`.
  for (std::size_t left = calls_.size(); left > 0; --left)
    end(calls_.begin(), tl::unexpected(*calls_.front().error));
}

bool ConnectionBackchannel::expire(std::chrono::steady_clock::time_point now) {
  for (std::size_t left = calls_.size(); left > 0 && !calls_.empty(); --left) {
    const auto call = std::ranges::find_if(
        calls_, [&](const Pending& one) { return one.error || one.deadline <= now; });
    if (call == calls_.end()) break;
    end(call, tl::unexpected(call->error.value_or(
                  net::Error{net::Errc::timed_out, "no reply to a callback"})));
  }
  send_some();
  watched_ = !calls_.empty();
  return watched_;
}

}  // namespace steertag::peer
