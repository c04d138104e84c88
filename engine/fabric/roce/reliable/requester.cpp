// Packets of operations, their acknowledgement, and their repetition.
#include "fabric/roce/reliable/requester.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace steertag::fabric::roce {

std::chrono::microseconds rnr_wait(std::uint8_t syndrome) {
  // Hundredths of milliseconds (InfiniBand specification, table 46).
  static constexpr std::array<std::uint32_t, 32> kWaits{
      65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
      48,    64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
      2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};
  return std::chrono::microseconds(10) * kWaits[syndrome & 31];
}

void Requester::start(const RequestTerms& terms) {
  terms_ = terms;
  terms_.rnr_retries = std::min(terms.rnr_retries, policy_.most_rnr_repetitions);
  oldest_ = next_psn_ = beyond_ = terms.first_psn;
  const Limits& limits = limits_.roce;
  const std::uint32_t held = std::min(limits.most_window, terms.held);
  read_burst_ = std::bit_floor(std::clamp<std::uint32_t>(held / 2, 1, limits.read_burst));
  requests_.start(limits.first_window, limits.most_window);
  responses_.start(std::max(limits.first_window, 2 * read_burst_), held);
  rnr_left_ = terms_.rnr_retries;
  timeout_ = round_trip_.timeout(limits_.roce);
  started_ = true;
}

void Requester::stop() {
  started_ = false;
  deadline_ = kNever;
  // A large ring frees its slots. A small one keeps them, so the last users of memory go here.
  while (!queue_.empty()) {
    queue_.front().memory.reset();
    queue_.pop();
  }
  current_ = queue_.end();
  reads_.clear();
  awaited_ = 0;
}

Outgoing& Requester::post(Operation kind, WorkId id) {
  Outgoing& operation = queue_.push();
  operation.reset(kind, id);
  return operation;
}

std::uint32_t Requester::send_psn() const {
  if (current_ == queue_.end() || !queue_.at(current_).started) {
    return next_psn_;
  }
  return psn_after(queue_.at(current_).first_psn, position_);
}

std::uint32_t Requester::in_flight() const {
  return static_cast<std::uint32_t>(psn_distance(oldest_, send_psn()));
}

void Requester::start_operation(Outgoing& operation) {
  const std::uint64_t mtu = terms_.path_mtu;
  operation.started = true;
  operation.first_psn = next_psn_;
  operation.packets =
      static_cast<std::uint32_t>(std::max<std::uint64_t>(1, (operation.length + mtu - 1) / mtu));
  next_psn_ = psn_after(next_psn_, operation.packets);
}

void Requester::transmit(Time now) {
  if (!started_ || (paused_ && now < paused_until_)) {
    return;
  }
  paused_ = false;
  while (started_ && current_ != queue_.end() && output_.room()) {
    Outgoing& operation = queue_.at(current_);
    if (!operation.started) {
      start_operation(operation);
    }
    const bool idle = in_flight() == 0;
    const bool sent =
        operation.kind == Operation::rdma_read ? send_read(operation) : send_request(operation);
    if (!sent) {
      break;
    }
    if (position_ == operation.packets) {
      ++current_;
      position_ = 0;
    }
    if (psn_distance(beyond_, send_psn()) > 0) {
      if (!timed_psn_) {
        timed_psn_ = beyond_;
        timed_at_ = now;
      }
      beyond_ = send_psn();
    }
    if (idle) {
      if (!recovering_) {
        stalled_since_ = now;
      }
      arm(now);
    }
  }
}

bool Requester::send_request(Outgoing& operation) {
  if (requests_in_flight() >= requests_.packets()) {
    return false;
  }
  const std::uint64_t offset = std::uint64_t{position_} * terms_.path_mtu;
  const auto bytes =
      static_cast<std::size_t>(std::min<std::uint64_t>(terms_.path_mtu, operation.length - offset));
  const bool again = operation.announced != position_;
  if (!again) {
    ++operation.announced;
    if (operation.kind == Operation::rdma_write) {
      owner_.on_sending(operation, offset, bytes);
    } else if (position_ == 0) {
      owner_.on_sending(operation, 0, operation.length);
    }
  }
  PacketHeaders packet;
  packet.base.opcode = opcode_of(operation, position_);
  packet.base.psn = psn_after(operation.first_psn, position_);
  // The peer need not acknowledge what does not ask for it.
  packet.base.acknowledge = position_ + 1 == operation.packets ||
                            requests_in_flight() + 1 >= requests_.packets() ||
                            packet.base.psn % limits_.roce.ack_interval == 0;
  packet.rdma = {operation.offset, operation.stag, static_cast<std::uint32_t>(operation.length)};
  packet.invalidate = operation.stag;
  gather(operation, position_, bytes);
  emit(operation, again, packet);
  ++position_;
  return true;
}

// A READ request ends at a multiple of the burst. So does a repeated one, wherever it starts: it
// asks for no more than one before it.
bool Requester::send_read(Outgoing& operation) {
  const std::uint32_t packets =
      std::min(read_burst_ - position_ % read_burst_, operation.packets - position_);
  const bool waits = !operation.bent || !operation.bent->beyond_depth;
  if ((waits && reads_.size() >= terms_.reads) ||
      (awaited_ > 0 && awaited_ + packets > responses_.packets())) {
    return false;
  }
  const std::uint64_t offset = std::uint64_t{position_} * terms_.path_mtu;
  const std::uint64_t length =
      std::min<std::uint64_t>(std::uint64_t{packets} * terms_.path_mtu, operation.length - offset);
  const bool again = operation.announced != position_;
  if (!again) {
    operation.announced += packets;
    owner_.on_sending(operation, offset, length);
  }
  PacketHeaders packet;
  packet.base.opcode = Opcode::read_request;
  packet.base.psn = psn_after(operation.first_psn, position_);
  packet.base.acknowledge = true;
  packet.rdma = {operation.offset + offset, operation.stag, static_cast<std::uint32_t>(length)};
  pieces_.clear();
  if (position_ % read_burst_ != 0) {
    operation.restart = position_;
  }
  emit(operation, again, packet);
  position_ += packets;
  awaited_ += packets;
  reads_.push_back(psn_after(operation.first_psn, position_));
  return true;
}

// `again`: the packet has left before.
void Requester::emit(const Outgoing& operation, bool again, const PacketHeaders& packet) {
  const BentPacket* const bent = operation.bent.get();
  if (bent != nullptr && bent->index == position_ && (!again || bent->every_time)) {
    output_.send_bent(packet, pieces_, *bent);
  } else {
    output_.send(packet, pieces_);
  }
}

// The payload of a packet in pieces. The cursor follows the packets; only repetition moves it back.
void Requester::gather(Outgoing& operation, std::uint32_t packet, std::size_t bytes) {
  if (packet != operation.cursor_packet) {
    operation.cursor_packet = 0;
    operation.cursor_part = 0;
    operation.cursor_offset = 0;
  }
  std::uint64_t skip = (std::uint64_t{packet} - operation.cursor_packet) * terms_.path_mtu;
  pieces_.clear();
  std::size_t left = bytes;
  while (left > 0) {
    const View part = operation.parts[operation.cursor_part];
    const std::size_t have = part.size() - operation.cursor_offset;
    const auto skipped = static_cast<std::size_t>(std::min<std::uint64_t>(skip, have));
    skip -= skipped;
    const std::size_t used = skip > 0 ? 0 : std::min(have - skipped, left);
    if (used > 0) {
      pieces_.push_back(part.subspan(operation.cursor_offset + skipped, used));
      left -= used;
    }
    operation.cursor_offset += skipped + used;
    if (operation.cursor_offset == part.size()) {
      ++operation.cursor_part;
      operation.cursor_offset = 0;
    }
  }
  operation.cursor_packet = packet + 1;
}

// Whether this PSN was sent and is not acknowledged.
bool Requester::covers(std::uint32_t psn) const {
  return psn_distance(oldest_, psn) >= 0 && psn_distance(psn, beyond_) > 0;
}

void Requester::progress(Time now) {
  recovering_ = false;
  paused_ = false;  // another copy of what was not ready to be received has been
  rnr_left_ = terms_.rnr_retries;
  stalled_since_ = now;
  measure(now);
  timeout_ = round_trip_.timeout(limits_.roce);
  while (!reads_.empty() && psn_distance(oldest_, reads_.front()) <= 0) {
    reads_.pop_front();
  }
  arm(now);
}

void Requester::arm(Time now) {
  deadline_ = psn_distance(oldest_, beyond_) > 0 ? now + timeout_.count() : kNever;
}

// A packet that was repeated is not measured: its answer may be to either (RFC 6298 3).
void Requester::measure(Time now) {
  if (timed_psn_ && psn_distance(*timed_psn_, oldest_) > 0) {
    round_trip_.sample(std::chrono::nanoseconds(std::max<Time>(1, now - timed_at_)));
    timed_psn_.reset();
  }
}

void Requester::complete(Time now) {
  Outgoing& operation = queue_.front();
  const Operation kind = operation.kind;
  const WorkId id = operation.id;
  operation.memory.reset();
  queue_.pop();
  if (current_ < queue_.first()) {
    current_ = queue_.first();
    position_ = 0;
  }
  if (queue_.empty()) {
    arm(now);
  }
  owner_.on_done(kind, id);
}

// Everything before `psn` has arrived. READs are done by their responses alone: one that lacks any
// has lost them.
void Requester::acknowledge_before(std::uint32_t psn, Time now) {
  while (started_ && !queue_.empty() && queue_.front().started) {
    Outgoing& operation = queue_.front();
    const std::int32_t ahead = psn_distance(oldest_, psn);
    if (ahead <= 0) {
      return;
    }
    if (operation.kind == Operation::rdma_read) {
      lost(now);
      return;
    }
    const std::uint32_t count =
        std::min(static_cast<std::uint32_t>(ahead), operation.packets - operation.done);
    requests_.grow(count, requests_in_flight() >= requests_.packets());
    operation.done += count;
    oldest_ = psn_after(oldest_, count);
    // An acknowledgement may come from before a repetition.
    if (current_ == queue_.first()) {
      position_ = std::max(position_, operation.done);
    }
    progress(now);
    if (operation.done < operation.packets) {
      return;
    }
    complete(now);
  }
}

void Requester::take_acknowledge(const Packet& packet, Time now) {
  const std::uint32_t psn = packet.headers.base.psn;
  const AckKind kind = ack_kind(packet.headers.ack.syndrome);
  if (!started_ || !covers(psn)) {
    return;  // a duplicate, or from another life of the queue pair
  }
  const bool gives_up = kind == AckKind::rnr_nak && !policy_.waits_for_receives;
  const bool done = kind == AckKind::ack || gives_up;
  acknowledge_before(done ? psn_after(psn) : psn, now);
  if (!started_ || done) {
    return;
  }
  if (wire::is_fatal(kind)) {
    const auto denied = kind == AckKind::access_error ? denied_at(psn) : std::nullopt;
    fail(Errc::peer_terminated, text("PSN 0x%06x: ", psn) + std::string(wire::name(kind)), denied);
    return;
  }
  if (psn != oldest_) {
    return;
  }
  if (kind == AckKind::rnr_nak) {
    take_rnr(packet.headers.ack.syndrome, now);
  } else if (kind == AckKind::sequence_nak) {
    lost(now);
  }
}

// The Write or Read that has this PSN. The memory of a Send is the receive: nothing denies it.
std::optional<Denial> Requester::denied_at(std::uint32_t psn) const {
  for (std::uint64_t i = queue_.first(); i != queue_.end() && queue_.at(i).started; ++i) {
    const Outgoing& operation = queue_.at(i);
    const std::int32_t packet = psn_distance(operation.first_psn, psn);
    if (packet >= 0 && static_cast<std::uint32_t>(packet) < operation.packets) {
      return operation.kind == Operation::send
                 ? std::nullopt
                 : std::optional(Denial{operation.kind, operation.id});
    }
  }
  return std::nullopt;
}

void Requester::take_rnr(std::uint8_t syndrome, Time now) {
  if (paused_) {
    return;
  }
  if (rnr_left_ == 0) {
    fail(Errc::timed_out, text("the peer has posted no receive after %u repetitions (RNR)",
                               static_cast<unsigned>(terms_.rnr_retries)));
    return;
  }
  --rnr_left_;
  go_back();
  recovering_ = true;
  paused_ = true;
  paused_until_ = now + std::chrono::nanoseconds(rnr_wait(syndrome)).count();
  deadline_ = paused_until_;
}

// What is wrong with the next packet of a READ's response. It is no request, so no NAK reports it
// (InfiniBand specification 9.9.2).
std::optional<std::string> Requester::check_response(const Outgoing& operation,
                                                     const Packet& packet) const {
  const std::uint32_t number = operation.done;
  const OpcodeTraits& traits = packet.headers.traits();
  const bool begins = number % read_burst_ == 0;
  const bool ends = (number + 1) % read_burst_ == 0 || number + 1 == operation.packets;
  // After a restart a device begins a new response, and Linux continues the old one.
  const bool either = number != 0 && number == operation.restart;
  const bool placed = (traits.first == begins || either) && traits.last == ends;
  if (policy_.checks_responses && !placed) {
    return text("is %s where the response %s%s",
                std::string(wire::name(packet.headers.base.opcode)).c_str(),
                begins ? "begins" : "continues", ends ? " and ends" : "");
  }
  const std::uint64_t offset = std::uint64_t{number} * terms_.path_mtu;
  const auto expected =
      static_cast<std::size_t>(std::min<std::uint64_t>(terms_.path_mtu, operation.length - offset));
  if (policy_.checks_response_lengths && packet.payload.size() != expected) {
    return text("has %zu octets instead of %zu", packet.payload.size(), expected);
  }
  if (policy_.checks_responses && traits.aeth &&
      ack_kind(packet.headers.ack.syndrome) != AckKind::ack) {
    return text("has the syndrome 0x%02x, which is no ACK",
                static_cast<unsigned>(packet.headers.ack.syndrome));
  }
  return std::nullopt;
}

void Requester::take_response(const Packet& packet, Time now) {
  const std::uint32_t psn = policy_.checks_response_psn ? packet.headers.base.psn : oldest_;
  if (!started_ || !covers(psn)) {
    return;
  }
  acknowledge_before(psn, now);
  if (!started_ || psn != oldest_) {
    return;
  }
  Outgoing& operation = queue_.front();
  if (operation.kind != Operation::rdma_read) {
    fail(Errc::protocol_error, text("READ response with PSN 0x%06x, which is no READ's", psn));
    return;
  }
  if (auto wrong = check_response(operation, packet)) {
    fail(Errc::protocol_error, text("READ response with PSN 0x%06x ", psn) + *wrong);
    return;
  }
  const std::uint64_t offset = std::uint64_t{operation.done} * terms_.path_mtu;
  const auto room = static_cast<std::size_t>(operation.length - offset);
  const View payload = packet.payload.first(std::min(packet.payload.size(), room));
  if (!payload.empty()) {
    std::memcpy(operation.sink + offset, payload.data(), payload.size());
  }
  responses_.grow(1, awaited_ + read_burst_ > responses_.packets());
  ++operation.done;
  if (in_flight() > 0) {
    --awaited_;  // otherwise it answers a request from before a repetition
  }
  oldest_ = psn_after(oldest_);
  if (current_ == queue_.first()) {
    position_ = std::max(position_, operation.done);
  }
  progress(now);
  owner_.on_response(operation, offset, payload);
  if (started_ && operation.done == operation.packets) {
    complete(now);
  }
}

// The next packet to be sent is the oldest one that is not acknowledged.
void Requester::go_back() {
  current_ = queue_.first();
  position_ = queue_.empty() ? 0 : queue_.front().done;
  reads_.clear();
  awaited_ = 0;
  timed_psn_.reset();
}

// For a loss of requests, or of responses.
void Requester::narrow(bool timed_out) {
  const bool reading = !queue_.empty() && queue_.front().kind == Operation::rdma_read;
  (reading ? responses_ : requests_).lose(reading ? awaited_ : requests_in_flight(), timed_out);
}

// A gap: packets of ours, or responses, are missing. What is already on its way tells of the same
// gap, so only the first report counts.
void Requester::lost(Time now) {
  if (recovering_) {
    return;
  }
  narrow(false);
  go_back();
  recovering_ = true;
  arm(now);
}

void Requester::on_deadline(Time now) {
  if (!started_ || now < deadline_) {
    return;
  }
  if (paused_) {
    deadline_ = kNever;
    paused_ = false;
    transmit(now);
    return;
  }
  const bool reading = !queue_.empty() && queue_.front().kind == Operation::rdma_read;
  const std::chrono::milliseconds limit = reading ? limits_.unanswered_read : limits_.unsent;
  if (now >= after(stalled_since_, limit)) {
    fail(Errc::timed_out,
         std::string(reading ? "an RDMA Read went unanswered" : "the peer acknowledged nothing") +
             " for " + std::to_string(limit.count()) + " ms");
    return;
  }
  narrow(true);
  go_back();
  recovering_ = true;
  timeout_ = std::min<std::chrono::nanoseconds>(timeout_ * 2, limits_.roce.most_ack);
  arm(now);
  transmit(now);
}

void Requester::fail(Errc code, std::string detail, std::optional<Denial> denied) {
  owner_.on_requester_failed({code, std::move(detail), {}, false, denied});
}

}  // namespace steertag::fabric::roce
