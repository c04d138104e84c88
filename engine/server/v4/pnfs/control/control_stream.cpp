// Octets in, messages out.
#include "server/v4/pnfs/control/control_stream.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "wire/xdr.h"

namespace steertag::peer::control {
namespace {

constexpr std::size_t kReadOctets = 16384;
// More of them wait for the next turn.
constexpr int kMostReadsPerTurn = 16;

}  // namespace

void ControlStream::send(const Message& message) {
  if (!end_.empty()) return;
  append(message, out_);
  flush();
  if (out_.size() > kMostUnsentOctets) stop("it does not read what it is sent");
}

void ControlStream::flush() {
  std::size_t sent = 0;
  while (sent < out_.size() && end_.empty()) {
    const ssize_t count =
        ::send(socket_.fd(), out_.data() + sent, out_.size() - sent, MSG_NOSIGNAL);
    if (count >= 0) {
      sent += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      if (errno != EAGAIN) lose(errno);
      break;
    }
  }
  out_.erase(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(sent));
}

void ControlStream::receive(const std::function<void(const Message&)>& take) {
  std::array<std::byte, kReadOctets> buffer;
  for (int i = 0; i < kMostReadsPerTurn && end_.empty(); ++i) {
    const ssize_t count = ::recv(socket_.fd(), buffer.data(), buffer.size(), 0);
    if (count == 0) return lose(EPIPE);
    if (count < 0) {
      if (errno != EAGAIN && errno != EINTR) lose(errno);
      return;
    }
    in_.insert(in_.end(), buffer.begin(), buffer.begin() + count);
    take_messages(take);
  }
}

void ControlStream::take_messages(const std::function<void(const Message&)>& take) {
  std::size_t taken = 0;
  while (end_.empty() && in_.size() - taken >= kLengthOctets) {
    const std::size_t length = wire::load_u32(in_.data() + taken);
    if (length > kMostMessageOctets)
      return stop("it sent a message of " + std::to_string(length) + " octets, and " +
                  std::to_string(kMostMessageOctets) + " is the limit");
    if (in_.size() - taken - kLengthOctets < length) break;
    const auto message = read(View(in_).subspan(taken + kLengthOctets, length));
    taken += kLengthOctets + length;
    if (!message) return stop("it sent " + message.error());
    take(*message);
  }
  in_.erase(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(taken));
}

void ControlStream::lose(int code) {
  if (!end_.empty()) return;
  ended_by_peer_ = code == EPIPE || code == ECONNRESET;
  end_ = ended_by_peer_ ? "it has ended the connection" : net::error_text(code);
}

void ControlStream::stop(std::string why) {
  if (end_.empty()) end_ = std::move(why);
}

bool is_trusted_peer(const net::Socket& socket) {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (::getsockopt(socket.fd(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return false;
  return peer.uid == ::geteuid() || peer.uid == 0;
}

}  // namespace steertag::peer::control
