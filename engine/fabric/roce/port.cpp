// Batches of packets, and the demultiplexer.
#include "fabric/roce/port.h"

#include <sys/epoll.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "fabric/roce/runtime.h"
#include "fabric/roce/session.h"

namespace steertag::fabric::roce {
namespace {

// For a packet Linux counts a descriptor and a buffer of a power of two. The buffer is for headers,
// payload and its own notes: 8704 octets for a packet of 4096.
constexpr std::size_t kNotesBytes = 512;
constexpr std::size_t kDescriptorBytes = 512;

}  // namespace

Expected<std::unique_ptr<Port>, Error> Port::open(Runtime& runtime, const Address& local) {
  auto network = runtime.open(local, runtime.limits.roce.socket_buffer);
  if (!network) {
    return tl::unexpected(std::move(network.error()));
  }
  auto port = std::make_unique<Port>(runtime, std::move(*network));
  if (auto started = port->start(); !started) {
    return tl::unexpected(std::move(started.error()));
  }
  return port;
}

Port::Port(Runtime& runtime, std::unique_ptr<Datagrams> network)
    : runtime_(runtime), network_(std::move(network)), manager_(runtime, *this) {}

Port::~Port() {
  flush();
  runtime_.reactor.remove(key_);
}

Expected<void, Error> Port::start() {
  const auto key = runtime_.reactor.add(*this, network_->descriptor(), EPOLLIN);
  if (!key) {
    return tl::unexpected(key.error());
  }
  key_ = *key;
  return {};
}

// Linux counts what was received, too, until it is a quarter of the buffer (udp_rmem_release).
std::uint32_t Port::held(std::uint32_t path_mtu) const {
  const std::size_t packet = std::bit_ceil(path_mtu + kNotesBytes) + kDescriptorBytes;
  return static_cast<std::uint32_t>(network_->receive_buffer() / 4 * 3 / packet);
}

bool Port::room() {
  if (first_ + count_ == kBatch) {
    flush();
  }
  const bool has = first_ + count_ < kBatch && !full_;
  refused_room_ = refused_room_ || !has;
  return has;
}

Outbound Port::send(const Address& to, const wire::InvariantCrc& crc, const PacketHeaders& packet,
                    std::span<const View> payload) {
  if (first_ + count_ == kBatch) {
    flush();
    if (first_ + count_ == kBatch) {
      ++dropped_.unsent;
      return {};
    }
  }
  const std::size_t index = first_ + count_++;
  const MutableView at = slot(index);
  destinations_[index] = to;
  // One copy: the CRC reads what is in the processor's cache, and a packet is one piece.
  const std::size_t covered = wire::write_packet(packet, payload, at.data());
  const View octets = at.first(covered + wire::kInvariantCrcBytes);
  const std::uint16_t place = network_->groups() ? run_.add(to, octets.size()) : std::uint16_t{0};
  wire::InvariantCrc::store(crc.of(octets.first(covered), place), at.data() + covered);
  queued_[index] = {octets, &destinations_[index], place};
  return queued_[index];
}

// An altered packet is in no run: it may have another size, or a wrong CRC that must stay wrong.
Outbound Port::send_altered(const Address& to, const wire::InvariantCrc& crc,
                            const PacketHeaders& packet, std::span<const View> payload,
                            const BentPacket& bent) {
  run_.end();
  const std::size_t right = send(to, crc, packet, payload).octets.size();
  run_.end();
  if (right == 0) {
    return {};
  }
  const std::size_t index = first_ + count_ - 1;
  queued_[index].octets = slot(index).first(bend(bent, slot(index), right, crc));
  return queued_[index];
}

void Port::send_bent(const Address& to, const wire::InvariantCrc& crc, const PacketHeaders& packet,
                     std::span<const View> payload, const BentPacket& bent,
                     DatagramObservation& observation) {
  for (std::uint32_t i = 0; i < bent.copies; ++i) {
    const Outbound copy = send_altered(to, crc, packet, payload, bent);
    if (copy.octets.empty()) {
      break;  // the network is full
    }
    observation.sent(copy);
  }
}

Outbound Port::send_octets(const Address& to, const wire::InvariantCrc& crc, View octets) {
  BentPacket bent;
  bent.patches.push_back({0, Bytes(octets.begin(), octets.end())});
  bent.cut = octets.size();
  return send_altered(to, crc, {}, {}, bent);
}

void Port::flush() {
  if (count_ == 0) {
    return;
  }
  run_.end();
  const bool grouped = network_->groups();
  give();
  if (grouped && !network_->groups()) {
    separate();
    give();
  }
  full_ = count_ > 0;
  watch();
}

// Whoever was refused room is notified by on_ready, also where a flush from elsewhere has made it.
void Port::watch() {
  const bool for_output = full_ || refused_room_;
  if (std::exchange(for_output_, for_output) != for_output) {
    runtime_.reactor.watch(key_, EPOLLIN | (for_output ? std::uint32_t{EPOLLOUT} : 0U));
  }
}

void Port::give() {
  const std::size_t taken = network_->send(std::span(queued_).subspan(first_, count_));
  count_ -= taken;
  first_ = count_ == 0 ? 0 : first_ + taken;
}

// The network has refused a run, so the packets leave one by one. A capture has the octets of the
// run: they are right, too.
void Port::separate() {
  for (std::size_t index = first_; index < first_ + count_; ++index) {
    Outbound& packet = queued_[index];
    if (std::exchange(packet.identification, 0) == 0) {
      continue;
    }
    const wire::InvariantCrc crc(route_of(local(), *packet.to));
    const std::size_t covered = packet.octets.size() - wire::kInvariantCrcBytes;
    wire::InvariantCrc::store(crc.of(packet.octets.first(covered)), slot(index).data() + covered);
  }
}

void Port::on_ready(std::uint32_t events) {
  running_ = true;
  if ((events & EPOLLERR) != 0) {
    for (std::size_t i = 0; i < kBatch; ++i) {
      const auto refused = network_->refusal();
      if (!refused) {
        break;
      }
      manager_.refused(*refused);
    }
  }
  if ((events & EPOLLIN) != 0) {
    receive();
  }
  if ((events & EPOLLOUT) != 0) {
    flush();
  }
  if (!full_ && std::exchange(refused_room_, false)) {
    manager_.notify_room();
    watch();
  }
  running_ = false;
}

void Port::receive() {
  for (std::uint32_t i = 0; i < runtime_.limits.roce.batches_a_turn; ++i) {
    const std::span<const Inbound> batch = network_->receive();
    for (const Inbound& datagram : batch) {
      take(datagram);
    }
    if (batch.size() < kReceives) {
      return;
    }
  }
}

void Port::take(const Inbound& datagram) {
  if (is_ipv4(*datagram.from) != is_ipv4(local())) {
    ++dropped_.foreign;
    return;
  }
  const auto packet = wire::parse_packet(datagram.octets);
  if (!packet) {
    ++dropped_.malformed;
    return;
  }
  // The CRC covers the IP identification, which a socket does not tell. That of Linux is not zero.
  const wire::InvariantCrc crc(route_of(*datagram.from, local()));
  const auto identification = crc.identification_of(datagram.octets, datagram.identification);
  Inbound known = datagram;
  known.identification = identification.value_or(0);
  const PacketHeaders& headers = packet->headers;
  Session* const session = manager_.find_queue_pair(headers.base.queue_pair);
  const Policy policy = session == nullptr ? Policy{} : session->policy();
  const bool right = identification && (session == nullptr || session->may_be_from_peer(known));
  if (!right && policy.checks_crc) {
    if (session != nullptr) {
      session->show_damaged(datagram);
    }
    ++dropped_.crc;
    return;
  }
  if (policy.checks_partition &&
      (headers.base.partition & kDefaultPartition) != kDefaultPartition) {
    ++dropped_.partition;
    return;
  }
  bool taken = false;
  if (headers.base.queue_pair != kManagementQueuePair) {
    taken = session != nullptr && session->take(known, *packet);
  } else if (headers.base.opcode == Opcode::datagram_send_only &&
             headers.datagram.queue_key == kManagementKey) {
    taken = manager_.take(known, packet->payload);
  }
  if (!taken) {
    ++dropped_.foreign;
  }
}

}  // namespace steertag::fabric::roce
