// The socket: its options, batches, runs, and ICMP errors.
#include "fabric/roce/network/udp_datagrams.h"

#include <linux/errqueue.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "fabric/roce/network/route.h"
#include "fabric/roce/network/segment_run.h"

namespace steertag::fabric::roce {
namespace {

/// Octets of a UDP datagram, or of those that the system has merged.
constexpr std::size_t kMostMergedBytes = 65536;

/// The control message that holds one number.
template <class Number>
union Control {
  cmsghdr header;
  std::array<std::byte, CMSG_SPACE(sizeof(Number))> octets;
};

Unexpected<Error> cannot_bind(const Address& local, int code) {
  const std::string why = code == EADDRINUSE
                              ? "UDP port in use by another RoCE end or the kernel's rxe"
                              : error_text(code);
  return tl::unexpected(Error{Errc::cannot_listen, local.text() + ": " + why});
}

bool set_option(int fd, int level, int name, int value) {
  return ::setsockopt(fd, level, name, &value, sizeof value) == 0;
}

/// Asks for segments of the first packet's size.
void put_segment_size(msghdr& message, Control<std::uint16_t>& control, std::size_t bytes) {
  message.msg_control = &control;
  message.msg_controllen = sizeof control;
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = IPPROTO_UDP;
  header->cmsg_type = UDP_SEGMENT;
  header->cmsg_len = CMSG_LEN(sizeof(std::uint16_t));
  const auto size = static_cast<std::uint16_t>(bytes);
  std::memcpy(CMSG_DATA(header), &size, sizeof size);
}

/// The size of the datagrams that were merged, all but the last; otherwise that of the one.
std::size_t segment_size(const msghdr& message, std::size_t bytes) {
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_level == IPPROTO_UDP && header->cmsg_type == UDP_GRO) {
    int size = 0;
    std::memcpy(&size, CMSG_DATA(header), sizeof size);
    if (size > 0) {
      return static_cast<std::size_t>(size);
    }
  }
  return bytes;
}

/// Whether the system cannot send a run: its kernel, the route's device or its MTU.
bool refuses_runs(int code) {
  return code == EIO || code == EINVAL || code == EMSGSIZE || code == EOPNOTSUPP;
}

bool set_ip_options(int fd, int family) {
  // Without fragments Linux sends the IPv4 identification 0, which the invariant CRC covers.
  if (family == AF_INET) {
    return set_option(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO) &&
           set_option(fd, IPPROTO_IP, IP_RECVERR, 1);
  }
  return set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1) &&
         set_option(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DO) &&
         set_option(fd, IPPROTO_IPV6, IPV6_RECVERR, 1);
}

bool is_icmp(const cmsghdr& control) {
  return (control.cmsg_level == IPPROTO_IP && control.cmsg_type == IP_RECVERR) ||
         (control.cmsg_level == IPPROTO_IPV6 && control.cmsg_type == IPV6_RECVERR);
}

}  // namespace

Expected<std::unique_ptr<Datagrams>, Error> UdpDatagrams::open(const Address& local,
                                                               int buffer_bytes) {
  Socket socket(::socket(local.storage.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.open() || !set_ip_options(socket.fd(), local.storage.ss_family) ||
      ::bind(socket.fd(), local.generic(), local.length) != 0) {
    return cannot_bind(local, errno);
  }
  set_option(socket.fd(), SOL_SOCKET, SO_RCVBUF, buffer_bytes);
  set_option(socket.fd(), SOL_SOCKET, SO_SNDBUF, buffer_bytes);
  const Address bound = local_address(socket);
  return std::make_unique<UdpDatagrams>(std::move(socket), bound);
}

UdpDatagrams::UdpDatagrams(Socket socket, const Address& local)
    : socket_(std::move(socket)),
      local_(local),
      groups_(set_option(socket_.fd(), IPPROTO_UDP, UDP_SEGMENT, 0)),
      mtu_(interface_mtu(local, socket_).value_or(kMostIpBytes)),
      room_(std::make_unique_for_overwrite<std::byte[]>(kReceives * kMostMergedBytes)) {
  set_option(socket_.fd(), IPPROTO_UDP, UDP_GRO, 1);  // without it they come one by one
  inbound_.reserve(kReceives);
}

std::size_t UdpDatagrams::receive_buffer() const {
  int bytes = 0;
  socklen_t length = sizeof bytes;
  if (::getsockopt(socket_.fd(), SOL_SOCKET, SO_RCVBUF, &bytes, &length) != 0 || bytes < 0) {
    return kUsualReceiveBuffer;
  }
  return static_cast<std::size_t>(bytes);
}

std::size_t UdpDatagrams::send(std::span<const Outbound> packets) {
  std::size_t taken = 0;
  while (taken < packets.size()) {
    std::array<mmsghdr, kBatch> headers;
    std::array<iovec, kBatch> pieces;
    std::array<Control<std::uint16_t>, kBatch> sizes;
    const std::span<const Outbound> batch =
        packets.subspan(taken, std::min(packets.size() - taken, kBatch));
    unsigned runs = 0;
    for (std::size_t i = 0; i < batch.size();) {
      const std::span<const Outbound> run = batch.subspan(i, leading_run(batch.subspan(i)));
      msghdr& message = (headers[runs++] = {}).msg_hdr;
      // sendmmsg does not write through these; the types have no const form.
      message.msg_name = const_cast<sockaddr*>(run.front().to->generic());
      message.msg_namelen = run.front().to->length;
      message.msg_iov = &pieces[i];
      message.msg_iovlen = run.size();
      if (run.size() > 1) {
        put_segment_size(message, sizes[runs - 1], run.front().octets.size());
      }
      for (const Outbound& packet : run) {
        pieces[i++] = {const_cast<std::byte*>(packet.octets.data()), packet.octets.size()};
      }
    }
    const int count = ::sendmmsg(socket_.fd(), headers.data(), runs, MSG_NOSIGNAL);
    if (count > 0) {
      for (int i = 0; i < count; ++i) {
        taken += headers[static_cast<std::size_t>(i)].msg_hdr.msg_iovlen;
      }
    } else if (errno == EAGAIN || errno == ENOBUFS) {
      break;
    } else if (errno == EINTR || errno == ECONNREFUSED) {
      continue;
    } else if (headers[0].msg_hdr.msg_iovlen > 1 && refuses_runs(errno)) {
      groups_ = false;
      break;
    } else {
      // What cannot be sent is lost; its user's timers notice.
      taken += headers[0].msg_hdr.msg_iovlen;
    }
  }
  return taken;
}

std::span<const Inbound> UdpDatagrams::receive() {
  std::array<mmsghdr, kReceives> headers{};
  std::array<iovec, kReceives> pieces;
  std::array<Control<int>, kReceives> sizes;
  for (std::size_t i = 0; i < kReceives; ++i) {
    pieces[i] = {room_.get() + i * kMostMergedBytes, kMostMergedBytes};
    headers[i].msg_hdr.msg_name = &senders_[i].storage;
    headers[i].msg_hdr.msg_namelen = sizeof senders_[i].storage;
    headers[i].msg_hdr.msg_iov = &pieces[i];
    headers[i].msg_hdr.msg_iovlen = 1;
    headers[i].msg_hdr.msg_control = &sizes[i];
    headers[i].msg_hdr.msg_controllen = sizeof sizes[i];
  }
  int count = 0;
  do {
    count = ::recvmmsg(socket_.fd(), headers.data(), kReceives, MSG_DONTWAIT, nullptr);
    // A refusal of an earlier datagram is reported here too; see `refusal`.
  } while (count < 0 && (errno == EINTR || errno == ECONNREFUSED));
  inbound_.clear();
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    senders_[at].length = headers[at].msg_hdr.msg_namelen;
    View left(room_.get() + at * kMostMergedBytes, headers[at].msg_len);
    const std::size_t size = segment_size(headers[at].msg_hdr, left.size());
    if (size > kMostDatagramBytes) {
      continue;
    }
    // Those of one run, or of one flow, mostly count their identifications up.
    for (std::uint16_t place = 0; !left.empty(); ++place) {
      const std::size_t bytes = std::min(size, left.size());
      inbound_.push_back({left.first(bytes), &senders_[at], place});
      left = left.subspan(bytes);
    }
  }
  return inbound_;
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
      if (!is_icmp(*each)) {
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
