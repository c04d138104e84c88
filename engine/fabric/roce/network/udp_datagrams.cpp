// The socket: its options, batches, and ICMP errors.
#include "fabric/roce/network/udp_datagrams.h"

#include <linux/errqueue.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace steertag::fabric::roce {
namespace {

Unexpected<Error> cannot_bind(const Address& local, int code) {
  const std::string why =
      code == EADDRINUSE ? "UDP port 4791 of this address is in use, by another RoCE end or by the "
                           "kernel's rxe"
                         : error_text(code);
  return tl::unexpected(Error{Errc::cannot_listen, local.text() + ": " + why});
}

bool set_option(int fd, int level, int name, int value) {
  return ::setsockopt(fd, level, name, &value, sizeof value) == 0;
}

}  // namespace

Expected<std::unique_ptr<Datagrams>, Error> UdpDatagrams::open(const Address& local,
                                                               int buffer_bytes) {
  Socket socket(::socket(local.storage.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  // Without fragments Linux sends the IP identification 0, which the invariant CRC covers.
  if (!socket.open() || !set_option(socket.fd(), IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO) ||
      !set_option(socket.fd(), IPPROTO_IP, IP_RECVERR, 1) ||
      ::bind(socket.fd(), local.generic(), local.length) != 0) {
    return cannot_bind(local, errno);
  }
  set_option(socket.fd(), SOL_SOCKET, SO_RCVBUF, buffer_bytes);
  set_option(socket.fd(), SOL_SOCKET, SO_SNDBUF, buffer_bytes);
  return std::make_unique<UdpDatagrams>(std::move(socket), local);
}

UdpDatagrams::UdpDatagrams(Socket socket, const Address& local)
    : socket_(std::move(socket)), local_(local) {}

std::size_t UdpDatagrams::send(std::span<const Outbound> packets) {
  std::size_t taken = 0;
  while (taken < packets.size()) {
    std::array<mmsghdr, kBatch> headers{};
    std::array<iovec, kBatch> pieces;
    const std::span<const Outbound> batch =
        packets.subspan(taken, std::min(packets.size() - taken, kBatch));
    for (std::size_t i = 0; i < batch.size(); ++i) {
      // sendmmsg does not write through these; the types have no const form.
      pieces[i] = {const_cast<std::byte*>(batch[i].octets.data()), batch[i].octets.size()};
      headers[i].msg_hdr.msg_name = const_cast<sockaddr*>(batch[i].to->generic());
      headers[i].msg_hdr.msg_namelen = batch[i].to->length;
      headers[i].msg_hdr.msg_iov = &pieces[i];
      headers[i].msg_hdr.msg_iovlen = 1;
    }
    const int count =
        ::sendmmsg(socket_.fd(), headers.data(), static_cast<unsigned>(batch.size()), MSG_NOSIGNAL);
    if (count > 0) {
      taken += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN || errno == ENOBUFS) {
      break;
    } else if (errno != EINTR && errno != ECONNREFUSED) {
      ++taken;  // this packet cannot be sent; its user's timers notice
    }
  }
  return taken;
}

std::span<const Inbound> UdpDatagrams::receive() {
  std::array<mmsghdr, kBatch> headers{};
  std::array<iovec, kBatch> pieces;
  for (std::size_t i = 0; i < kBatch; ++i) {
    pieces[i] = {room_.data() + i * kMostDatagramBytes, kMostDatagramBytes};
    headers[i].msg_hdr.msg_name = &senders_[i].storage;
    headers[i].msg_hdr.msg_namelen = sizeof senders_[i].storage;
    headers[i].msg_hdr.msg_iov = &pieces[i];
    headers[i].msg_hdr.msg_iovlen = 1;
  }
  int count = 0;
  do {
    count = ::recvmmsg(socket_.fd(), headers.data(), kBatch, MSG_DONTWAIT, nullptr);
    // A refusal of an earlier datagram is reported here too; see `refusal`.
  } while (count < 0 && (errno == EINTR || errno == ECONNREFUSED));
  std::size_t whole = 0;
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    senders_[at].length = headers[at].msg_hdr.msg_namelen;
    if ((headers[at].msg_hdr.msg_flags & MSG_TRUNC) == 0) {
      inbound_[whole++] = {View(room_).subspan(at * kMostDatagramBytes, headers[at].msg_len),
                           &senders_[at]};
    }
  }
  return {inbound_.data(), whole};
}

std::optional<Address> UdpDatagrams::refusal() {
  // Each error of the queue belongs to a datagram of ours, so there are no more than we sent.
  while (true) {
    Address to;
    std::array<std::byte, 512> control;
    msghdr message{};
    message.msg_name = &to.storage;
    message.msg_namelen = sizeof to.storage;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    if (::recvmsg(socket_.fd(), &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) {
      return std::nullopt;
    }
    to.length = message.msg_namelen;
    for (cmsghdr* each = CMSG_FIRSTHDR(&message); each != nullptr;
         each = CMSG_NXTHDR(&message, each)) {
      if (each->cmsg_level != IPPROTO_IP || each->cmsg_type != IP_RECVERR) {
        continue;
      }
      sock_extended_err error{};
      std::memcpy(&error, CMSG_DATA(each), sizeof error);
      if (error.ee_errno == ECONNREFUSED) {
        return to;
      }
    }
  }
}

}  // namespace steertag::fabric::roce
