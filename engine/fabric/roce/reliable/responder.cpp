// Order, shape and protection of requests, and their answers.
#include "fabric/roce/reliable/responder.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace steertag::fabric::roce {
namespace {

constexpr std::size_t kMostPathMtuBytes = 4096;
constexpr std::uint32_t kMostReadBytes = std::uint32_t{1} << 31;  // InfiniBand specification 9.7.7
constexpr std::uint8_t kSequenceNak = 0x60;
constexpr std::uint8_t kRnrNak = 0x20;
constexpr std::uint8_t kAckWithoutCredits = 0x1f;

using Longest = unsigned long long;

Refusal invalid(std::string detail) {
  return {kInvalidRequest, std::move(detail)};
}

}  // namespace

void Responder::start(const ResponseTerms& terms) {
  terms_ = terms;
  expected_ = told_ = terms.first_psn;
  started_ = true;
}

void Responder::stop() {
  started_ = false;
  answers_.clear();
  executed_.clear();
  receives_.close();
}

std::uint32_t Responder::packets_of(std::uint32_t length) const {
  return std::max<std::uint32_t>(1, length / terms_.path_mtu + (length % terms_.path_mtu != 0));
}

void Responder::take(const Packet& request) {
  if (!started_) {
    return;
  }
  const std::int32_t ahead = psn_distance(expected_, request.headers.base.psn);
  if (ahead < 0) {
    if (policy_.knows_duplicates) {
      take_duplicate(request);
    } else {
      take_as_new(request);
    }
  } else if (ahead == 0 || !policy_.checks_sequence) {
    expected_ = request.headers.base.psn;
    take_next(request);
  } else if (policy_.reports_gaps && (!nak_sent_ || !policy_.reports_gap_once)) {
    nak(kSequenceNak);
    // At once: what repairs the gap may have come with this packet, and its acknowledgement would
    // take the place of the NAK.
    if (answers_.size() == 1 && output_.room()) {
      send_one();
    }
  }
}

// For a policy: the effect of a repeated Send, without its PSN.
void Responder::take_as_new(const Packet& request) {
  const std::uint32_t expected = expected_;
  if (request.headers.traits().operation == wire::Operation::send) {
    take_next(request);
    expected_ = expected;
  } else {
    take_duplicate(request);
  }
}

// RPC-over-RDMA has no immediate data, and no credit covers the receive that an RDMA Write with
// Immediate takes (RFC 8166 3.3): both are refused.
void Responder::take_next(const Packet& request) {
  nak_sent_ = false;
  const OpcodeTraits& traits = request.headers.traits();
  const std::uint32_t psn = request.headers.base.psn;
  Checked refusal;
  switch (traits.immediate ? wire::Operation::none : traits.operation) {
    case wire::Operation::send:
      refusal = take_send(request);
      break;
    case wire::Operation::write:
      refusal = take_write(request);
      break;
    case wire::Operation::read_request:
      refusal = take_read(request);
      break;
    default:
      refusal = invalid(std::string(wire::name(request.headers.base.opcode)) + " is not supported");
      break;
  }
  if (refusal) {
    refuse(std::move(*refusal), psn);
  }
}

// For a policy: whether a READ is beyond the depth. Its repetitions find no answer either.
bool Responder::loses(const Packet& read) {
  if (policy_.answers_beyond_depth || ++reads_in_a_row_ <= terms_.reads) {
    return false;
  }
  lost_read_ = read.headers.base.psn;
  expected_ = psn_after(expected_, packets_of(read.headers.rdma.length));
  return true;
}

// Whether it asks for what a READ with its PSN, or with one before in its response, has asked for.
bool Responder::repeats(const Packet& read) const {
  const RdmaHeader& asked = read.headers.rdma;
  for (std::uint64_t i = executed_.first(); i != executed_.end(); ++i) {
    const RdmaHeader& known = executed_.at(i).read;
    const std::int32_t packets = psn_distance(executed_.at(i).psn, read.headers.base.psn);
    const auto skipped = std::uint64_t{terms_.path_mtu} * static_cast<std::uint32_t>(packets);
    if (packets >= 0 && asked.key == known.key && skipped <= known.length &&
        asked.address == known.address + skipped && asked.length <= known.length - skipped) {
      return true;
    }
  }
  return false;
}

// A READ is executed again, as its response may be lost. Of other requests the acknowledgement may
// be.
void Responder::take_duplicate(const Packet& request) {
  if (request.headers.traits().operation != wire::Operation::read_request) {
    if (request.headers.base.acknowledge) {
      acknowledge();
    }
    return;
  }
  const std::uint32_t psn = request.headers.base.psn;
  if (!policy_.repeats_responses || (lost_read_ && psn_distance(*lost_read_, psn) >= 0)) {
    return;
  }
  if (request.headers.rdma.length > kMostReadBytes || (policy_.knows_reads && !repeats(request))) {
    return;
  }
  const std::uint32_t end = psn_after(psn, packets_of(request.headers.rdma.length));
  if (psn_distance(end, expected_) < 0) {
    return;  // it asks for more than the request that it repeats
  }
  SoftwareRegion* source = nullptr;
  RdmaHeader read = request.headers.rdma;
  if (read.length > 0) {
    auto found = find(read, false);
    if (!found) {
      return;  // closed since: the peer has had its response, or will notice
    }
    source = *found;
    if (!policy_.repeats_parts && read.address != source->base()) {
      return;
    }
    if (!policy_.repeats_from_middle) {
      read.address = source->base();
    }
  }
  // Its own answer starts again. Those of newer READs stay: the network may have held this one
  // back, and the peer does not repeat the newer ones.
  const auto own = [&](const Answer& answer) {
    return answer.response && psn_distance(answer.psn, end) > 0 &&
           psn_distance(psn, psn_after(answer.psn, answer.packets)) > 0;
  };
  const bool answered = std::ranges::none_of(
      answers_, [&](const Answer& answer) { return own(answer) && !answer.duplicate; });
  std::erase_if(answers_, own);
  if (answers_.size() >= limits_.answers_a_read * std::size_t{terms_.reads}) {
    return;
  }
  const auto newer = std::ranges::find_if(
      answers_, [&](const Answer& answer) { return psn_distance(psn, answer.psn) >= 0; });
  answer_read(newer, read, psn, source, answered);
}

std::optional<Refusal> Responder::check_shape(const Packet& request, Message kind) const {
  const OpcodeTraits& traits = request.headers.traits();
  const std::string name(wire::name(request.headers.base.opcode));
  if (!policy_.checks_opcodes) {
    return std::nullopt;
  }
  if (traits.first != (message_ == Message::none) || (!traits.first && message_ != kind)) {
    return invalid(name + (message_ == Message::none ? " although no message has begun"
                                                     : " inside another message"));
  }
  const std::size_t bytes = request.payload.size();
  if (traits.last ? bytes > terms_.path_mtu || (bytes == 0 && !traits.first)
                  : bytes != terms_.path_mtu) {
    return invalid(
        text("%s with %zu octets at a path MTU of %u", name.c_str(), bytes, terms_.path_mtu));
  }
  return std::nullopt;
}

std::optional<Refusal> Responder::take_send(const Packet& request) {
  if (auto refusal = check_shape(request, Message::send)) {
    return refusal;
  }
  if (!receives_.ready()) {
    nak(static_cast<std::uint8_t>(kRnrNak | limits_.rnr_timer));
    return std::nullopt;
  }
  const OpcodeTraits& traits = request.headers.traits();
  const PostedReceive receive = receives_.front();
  const std::size_t bytes = request.payload.size();
  received_ = message_ == Message::send ? received_ : 0;  // by a policy a Write may have begun
  if (bytes > receive.buffer.size() - received_) {
    return invalid(text("Send of %llu octets or more for a posted receive of %zu",
                        static_cast<Longest>(received_) + bytes, receive.buffer.size()));
  }
  std::optional<std::uint32_t> invalidated;
  if (traits.invalidate) {
    const SoftwareRegion* region = domain_.table().find(request.headers.invalidate);
    const bool valid = region != nullptr && &region->domain() == &domain_ &&
                       region->open_to(windows_) && region->remotely_open();
    if (!valid && policy_.checks_invalidation) {
      return Refusal{kAccessError,
                     text("Send with Invalidate of R_Key 0x%08x, which is not valid on this "
                          "connection",
                          request.headers.invalidate)};
    }
    if (valid) {
      invalidated = request.headers.invalidate;
    }
  }
  if (splitter_.used()) {
    splitter_.put(receive.buffer, received_, request.payload);
  } else if (bytes > 0) {
    std::memcpy(receive.buffer.data() + received_, request.payload.data(), bytes);
  }
  reads_in_a_row_ = 0;
  received_ += bytes;
  message_ = traits.last ? Message::none : Message::send;
  expected_ = psn_after(expected_);
  if (traits.last) {
    ++msn_;
  }
  if (request.headers.base.acknowledge) {
    acknowledge();
  }
  if (traits.last) {
    const auto whole = static_cast<std::size_t>(std::exchange(received_, 0));
    receives_.pop();
    owner_.on_message(receive, receive.buffer.first(whole), invalidated);
  }
  return std::nullopt;
}

Expected<SoftwareRegion*, Refusal> Responder::find(const RdmaHeader& header, bool write) const {
  const char* const what = write ? "RDMA Write to" : "RDMA Read from";
  const auto refusal = [&](const char* why) {
    return tl::unexpected(
        Refusal{kAccessError, text("%s R_Key 0x%08x, %s (%u octets at 0x%016llx)", what, header.key,
                                   why, header.length, static_cast<Longest>(header.address))});
  };
  SoftwareRegion* region = domain_.table().find(header.key);
  if (region == nullptr) {
    return refusal("which is not valid");
  }
  if (&region->domain() != &domain_) {
    return refusal("which belongs to another protection domain");
  }
  if (!region->open_to(windows_)) {
    return refusal("which is a window of another connection");
  }
  if (write ? !region->rights().remote_write : !region->rights().remote_read) {
    return refusal("which does not have that right");
  }
  if (!region->contains(header.address, header.length)) {
    return refusal("whose memory it leaves");
  }
  return region;
}

std::optional<Refusal> Responder::take_write(const Packet& request) {
  if (auto refusal = check_shape(request, Message::write)) {
    return refusal;
  }
  const OpcodeTraits& traits = request.headers.traits();
  if (traits.first) {
    write_ = request.headers.rdma;
    received_ = 0;
  }
  const std::size_t bytes = request.payload.size();
  const std::uint64_t left = write_.length - std::min<std::uint64_t>(write_.length, received_);
  if (policy_.checks_lengths && (traits.last ? bytes != left : bytes >= left)) {
    return invalid(text("RDMA Write whose packets have %llu octets%s instead of %u",
                        static_cast<Longest>(received_) + bytes, traits.last ? "" : " or more",
                        write_.length));
  }
  const std::uint64_t address = write_.address + received_;
  if (write_.length > 0) {
    // Every packet: the owner may close the region between two of them.
    auto region = find(write_, true);
    if (!region && !policy_.refuses_write) {
      // For a policy: the octets are lost.
    } else if (!region) {
      owner_.on_write(write_.key, address, traits.first ? write_.length : bytes, {});
      return std::move(region.error());
    } else if (const std::size_t fits = std::min<std::uint64_t>(bytes, left); fits > 0) {
      std::byte* const to = (*region)->at(address);
      std::memcpy(to, request.payload.data(), fits);
      owner_.on_write(write_.key, address, fits, View(to, fits));
    }
  } else {
    owner_.on_write(write_.key, address, 0, {});
  }
  received_ += bytes;
  message_ = traits.last ? Message::none : Message::write;
  expected_ = psn_after(expected_);
  if (traits.last) {
    received_ = 0;
    ++msn_;
  }
  if (request.headers.base.acknowledge) {
    acknowledge();
  }
  return std::nullopt;
}

std::optional<Refusal> Responder::take_read(const Packet& request) {
  if (auto refusal = check_shape(request, Message::none)) {
    return refusal;
  }
  if (!request.payload.empty()) {
    return invalid("READ request with a payload");
  }
  if (request.headers.rdma.length > kMostReadBytes) {
    return invalid(text("READ request for %u octets", request.headers.rdma.length));
  }
  if (loses(request)) {
    return std::nullopt;
  }
  const auto outstanding = std::ranges::count_if(
      answers_, [](const Answer& answer) { return answer.response && !answer.duplicate; });
  if (outstanding >= terms_.reads) {
    return invalid(text("READ request beyond the %u that this side takes at a time",
                        static_cast<unsigned>(terms_.reads)));
  }
  SoftwareRegion* source = nullptr;
  if (request.headers.rdma.length > 0) {  // of none nothing is checked
    auto found = find(request.headers.rdma, false);
    if (!found && policy_.refuses_read) {
      owner_.on_read(request.headers.rdma);
      return std::move(found.error());
    }
    source = found ? *found : nullptr;
  }
  owner_.on_read(request.headers.rdma);
  if (executed_.size() >= std::max<std::size_t>(terms_.reads, 1)) {
    executed_.pop();
  }
  executed_.push() = {request.headers.base.psn, request.headers.rdma};
  ++msn_;
  expected_ = psn_after(expected_, packets_of(request.headers.rdma.length));
  answer_read(answers_.end(), request.headers.rdma, request.headers.base.psn, source, false);
  return std::nullopt;
}

void Responder::answer_read(Answers::iterator before, const RdmaHeader& read, std::uint32_t psn,
                            SoftwareRegion* source, bool duplicate) {
  Answer& answer = *answers_.emplace(before);
  answer.psn = psn;
  answer.response = true;
  answer.duplicate = duplicate;
  answer.read = read;
  answer.packets = packets_of(read.length);
  if (source != nullptr) {
    answer.memory = source->memory();
    answer.from = source->at(read.address);
  }
}

// One acknowledgement stands for all before it, and so does a NAK. Only the last one waits, however
// often a peer repeats its requests.
Responder::Answer& Responder::waiting_acknowledgement() {
  return answers_.empty() || answers_.back().response ? answers_.emplace_back() : answers_.back();
}

void Responder::acknowledge() {
  Answer& answer = waiting_acknowledgement();
  if (answer.syndrome != 0 && ack_kind(answer.syndrome) != AckKind::ack &&
      answer.psn == expected_) {
    return;  // a NAK that still holds
  }
  answer.psn = psn_after(expected_, wire::kPsnMask);
  answer.syndrome = kAckWithoutCredits;
}

void Responder::nak(std::uint8_t syndrome) {
  nak_sent_ = true;
  Answer& answer = waiting_acknowledgement();
  answer.psn = expected_;
  answer.syndrome = syndrome;
}

void Responder::refuse(Refusal refusal, std::uint32_t psn) {
  if (!ending_) {
    nak(refusal.syndrome);
  }
  // What goes before the NAK leaves before it, as far as the network takes it.
  while (started_ && !answers_.empty() && output_.room()) {
    send_one();
  }
  if (started_) {
    stop();
    owner_.on_refused_request(std::move(refusal), psn);
  }
}

bool Responder::only_acknowledges() const {
  return answers_.size() == 1 && !answers_.front().response &&
         ack_kind(answers_.front().syndrome) == AckKind::ack;
}

bool Responder::transmit() {
  for (std::uint32_t left = limits_.responses_a_turn;
       started_ && !answers_.empty() && left > 0 && output_.room(); --left) {
    send_one();
  }
  return started_ && !answers_.empty() && output_.room();
}

void Responder::send_one() {
  Answer& answer = answers_.front();
  PacketHeaders packet;
  packet.ack = {answer.syndrome, msn_};
  if (!answer.response) {
    // The READ between two acknowledgements may have been repeated with a PSN before both.
    const bool another_follows = answers_.size() > 1 && !answers_[1].response;
    packet.base.opcode = Opcode::acknowledge;
    packet.base.psn = answer.psn;
    answers_.pop_front();
    if (!another_follows) {
      output_.send(packet, {});
    }
    return;
  }
  if (!source_open(answer)) {
    const bool duplicate = answer.duplicate;
    const std::uint32_t psn = psn_after(answer.psn, answer.sent);
    answers_.pop_front();
    if (!duplicate) {
      if (!ending_) {
        packet.base.opcode = Opcode::acknowledge;
        packet.base.psn = psn;
        packet.ack.syndrome = kAccessError;
        output_.send(packet, {});
      }
      stop();
      owner_.on_source_closed(psn);
    }
    return;
  }
  const std::uint64_t offset = std::uint64_t{answer.sent} * terms_.path_mtu;
  const auto bytes = static_cast<std::size_t>(
      std::min<std::uint64_t>(terms_.path_mtu, answer.read.length - offset));
  const bool first = answer.sent == 0;
  const bool last = answer.sent + 1 == answer.packets;
  packet.base.opcode = first ? (last ? Opcode::read_response_only : Opcode::read_response_first)
                             : (last ? Opcode::read_response_last : Opcode::read_response_middle);
  packet.base.psn = psn_after(answer.psn, answer.sent);
  packet.ack.syndrome = kAckWithoutCredits;
  if (psn_distance(told_, packet.base.psn) >= 0) {
    told_ = psn_after(packet.base.psn);
    owner_.on_read_answered(answer.read, offset, bytes);
  }
  static constexpr std::array<std::byte, kMostPathMtuBytes> kZeros{};
  const View payload =
      answer.from == nullptr ? View(kZeros).first(bytes) : View(answer.from + offset, bytes);
  send_response(answer.sent, packet, payload);
  if (++answer.sent == answer.packets) {
    answers_.pop_front();
  }
}

void Responder::send_response(std::uint32_t number, const PacketHeaders& packet, View payload) {
  if (!bent_ || bent_->index != number) {
    output_.send(packet, {&payload, 1});
    return;
  }
  const SharedBend bent = bent_->every_time ? bent_ : std::exchange(bent_, nullptr);
  output_.send_bent(packet, {&payload, 1}, *bent);
}

bool Responder::source_open(const Answer& answer) const {
  if (answer.from == nullptr) {
    return true;  // no octets, or those of a policy
  }
  const SoftwareRegion* source = domain_.table().find(answer.read.key);
  return source != nullptr && source->memory() == answer.memory;
}

}  // namespace steertag::fabric::roce
