// The connection's input: octets of the socket, up to a Send that waits for a receive.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "fabric/iwarp/connection.h"

namespace steertag::fabric::iwarp {
namespace {

// A connection's share of one turn, so that a flooding peer cannot starve the others.
constexpr int kMostReadsPerTurn = 16;
// The octets after a payload received at its destination: the trailer and the next FPDU's headers.
constexpr std::size_t kBetweenPayloads =
    kMostTrailerBytes + kUlpduLengthBytes + kUntaggedHeaderBytes;
// The buffer between messages: takes small messages completely, and little of a large one.
constexpr std::size_t kFirstRead = 4096;
// With shared receives all reads are small. What is behind a Send that waits for a receive is kept,
// at most this of each connection.
constexpr std::size_t kMostKept = kDirectFrom + kFirstRead;

}  // namespace

void IwarpConnection::on_ready(std::uint32_t events) {
  const bool reads = open() && !waits();
  if (reads && (events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0) {
    receive();
    wait_for_rest();
  } else if (!reads && (events & (EPOLLERR | EPOLLHUP)) != 0) {
    int code = 0;
    socklen_t length = sizeof code;
    ::getsockopt(socket_.fd(), SOL_SOCKET, SO_ERROR, &code, &length);
    stream_error(code == 0 ? ECONNRESET : code);
  }
  if (state_ != State::closed) {
    if ((events & EPOLLOUT) != 0) {
      last_sent_ = runtime_.reactor.round_time();  // the peer has taken octets
    }
    if ((events & EPOLLOUT) != 0 || !transmitter_.idle()) {
      mark_unsettled();
    }
    update_deadline();
  }
  receiver_.receives().yield();
}

void IwarpConnection::receive() {
  for (int i = 0; i < kMostReadsPerTurn && open() && !waits(); ++i) {
    if (!fpdus_.admitted()) {
      lacks_receive_ = true;
      watch();
      return;
    }
    MutableView direct = fpdus_.direct();
    std::size_t beside = fpdus_.between_fpdus() ? kFirstRead : kBetweenPayloads;
    if (!fpdus_.between_fpdus() && fpdus_.ulpdu_length() < kDirectFrom) {
      // Between large payloads: not much of the next one.
      beside = fpdus_.large_before()           ? direct.size() + kFirstRead
               : receiver_.receives().shared() ? kMostKept
                                               : kScratchBytes;
      direct = {};
    }
    std::array<iovec, 2> pieces{
        {{direct.data(), direct.size()}, {runtime_.scratch.data(), beside}}};
    const ssize_t got = direct.empty() ? ::readv(socket_.fd(), &pieces[1], 1)
                                       : ::readv(socket_.fd(), pieces.data(), 2);
    if (got == 0) {
      peer_end();
      return;
    }
    if (got < 0) {
      if (errno != EAGAIN && errno != EINTR) {
        stream_error(errno);
      }
      return;
    }
    const auto count = static_cast<std::size_t>(got);
    if (!take(direct, runtime_.scratch, count) || count < direct.size() + beside) {
      return;
    }
  }
}

bool IwarpConnection::take(MutableView direct, View scratch, std::size_t count) {
  last_received_ = runtime_.reactor.round_time();
  const MutableView placed = direct.first(std::min(direct.size(), count));
  const View taken = scratch.first(count - placed.size());
  observation_.octets(trace::other(role_), placed);
  observation_.octets(trace::other(role_), taken);
  if (auto violation = fpdus_.placed(placed.size()); violation && open()) {
    violate(std::move(*violation));
  }
  return take_octets(taken);
}

bool IwarpConnection::take_octets(View octets) {
  auto violation = fpdus_.take(octets);
  if (violation && open()) {
    violate(std::move(*violation));
  }
  if (!open() || !fpdus_.waiting()) {
    return open();
  }
  // TCP holds the peer back from here on.
  const View rest = octets.last(fpdus_.untaken());
  kept_.assign(rest.begin(), rest.end());
  watch();
  return false;
}

void IwarpConnection::resume() {
  if (!open() || !waits() || receiver_.receives().empty()) {
    return;
  }
  last_received_ = last_read_ = runtime_.reactor.round_time();
  lacks_receive_ = false;
  const Bytes kept = std::exchange(kept_, {});
  if (take_octets(kept)) {
    watch();
    receive();
  }
  receiver_.receives().yield();
}

void IwarpConnection::wait_for_rest() const {
  if (!open()) {
    return;
  }
  if (!fpdus_.between_fpdus()) {
    wait(POLLIN, policy_.blocking.inside_fpdu);
  } else if (!receiver_.between_messages()) {
    wait(POLLIN, policy_.blocking.inside_message);
  }
}

void IwarpConnection::wait(short events, std::chrono::milliseconds most) const {
  if (most.count() > 0) {
    pollfd peer{socket_.fd(), events, 0};
    ::poll(&peer, 1, static_cast<int>(most.count()));
  }
}

void IwarpConnection::peer_end() {
  const bool whole = receives_are_empty();
  observation_.end(trace::other(role_), whole);
  if (!whole) {
    const std::string place = fpdus_.between_fpdus()
                                  ? "between the segments of a Send"
                                  : "inside FPDU " + std::to_string(fpdus_.fpdu_number());
    finish({Errc::peer_reset, "the stream ended " + place, {}, false}, How::lingering,
           trace::other(role_));
    return;
  }
  if (state_ == State::ending) {
    finish(std::move(*reason_), How::complete, role_);
    return;
  }
  if (state_ == State::operating) {
    reason_ = {Errc::peer_closed, "", {}, false};
    if (receiver_.reads_outstanding() > 0) {
      reason_->detail =
          std::to_string(receiver_.reads_outstanding()) + " RDMA Reads were not answered";
    }
  }
  state_ = State::peer_ended;
  watch();
  mark_unsettled();
}

void IwarpConnection::stream_error(int code) {
  observation_.end(trace::other(role_), false);
  // After our last message, the way in which the peer closes does not matter.
  const bool over = state_ == State::terminating || state_ == State::ending;
  CloseReason reason =
      over ? std::move(*reason_) : CloseReason{Errc::peer_reset, error_text(code), {}, false};
  finish(std::move(reason), How::complete, over ? role_ : trace::other(role_));
}

}  // namespace steertag::fabric::iwarp
