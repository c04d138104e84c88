// Any acknowledgements and READ responses of a peer, between calls of the requester's owner.
//
// Operations end in order and once, responses stay in their sinks, and what leaves are octets of
// the operations. A response with a wrong opcode or syndrome is not placed. The first octet chooses
// path MTU, READs, RNR retries and the burst of READs. Records follow, see `run`. Their PSNs count
// from the last that was sent, or from the next response.
#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "fabric/fuzz/roce_packets.h"
#include "fabric/roce/reliable/requester.h"
#include "wire/fuzz/check.h"

namespace {

using namespace steertag;
using namespace steertag::fabric;
using namespace steertag::fabric::roce;

constexpr std::uint32_t kFirstPsn = 0xfffff0;  // PSNs wrap soon
constexpr std::size_t kGuard = 64;
constexpr std::byte kOurs{0x33};
constexpr std::byte kUntouched{0xa5};
constexpr std::size_t kMostPosted = 64;
constexpr std::uint8_t kAck = 0x1f;
constexpr std::array<std::uint32_t, 4> kBursts{4, 1, 32, 64};  // packets of a READ request
constexpr std::uint8_t kRightSize = 255;

// The memory of one operation.
struct Work {
  Bytes octets;  // of a READ: guards around its sink
  std::size_t length = 0;
};

class Peer final : public RequesterOwner, public PacketOutput {
 public:
  explicit Peer(std::uint8_t choices)
      : terms_{kFirstPsn, 256U << (choices & 1), static_cast<std::uint16_t>(choices >> 1 & 3),
               static_cast<std::uint8_t>(choices >> 3 & 7), 2 * kBursts[choices >> 6]},
        burst_(kBursts[choices >> 6]) {
    requester_.start(terms_);
  }

  void run(fuzz::OctetSource input) {
    while (!input.empty() && !failed_) {
      const std::uint8_t what = input.octet();
      switch (what & 7) {
        case 0:
        case 1:
          post(what, input.word());
          break;
        case 2:
          acknowledge(what, input.octet(), input.signed_octet());
          break;
        case 3:
        case 4:
          respond(what, input.signed_octet(), input.octet());
          break;
        case 5:
          now_ += Time{input.octet()} * 10'000'000;
          requester_.on_deadline(now_);
          break;
        case 6:
          room_ = input.octet();
          break;
        default:
          requester_.transmit(now_);
      }
    }
    for (const std::unique_ptr<Work>& work : reads_) check_guards(*work);
  }

 private:
  void post(std::uint8_t what, std::uint16_t length) {
    if (requester_.posted() >= kMostPosted) return;
    const auto kind = static_cast<Operation>((what >> 3) % 3);
    if (kind == Operation::rdma_read && terms_.reads == 0) return;
    auto work = std::make_unique<Work>();
    work->length = length;
    Outgoing& operation = requester_.post(kind, ++posted_);
    operation.length = length;
    operation.stag = 7;
    operation.offset = 0x1000;
    if (kind == Operation::rdma_read) {
      work->octets.assign(length + 2 * kGuard, kUntouched);
      operation.sink = work->octets.data() + kGuard;
      reads_.push_back(std::move(work));
    } else {
      work->octets.assign(length, kOurs);
      const View whole(work->octets);
      const std::size_t first = std::min<std::size_t>(length, what);
      operation.parts = {whole.first(first), View{}, whole.subspan(first)};
      operation.invalidate = (what & 1) != 0;
      sent_.push_back(std::move(work));
    }
    requester_.transmit(now_);
  }

  void acknowledge(std::uint8_t what, std::uint8_t syndrome, std::int32_t distance) {
    PacketHeaders headers;
    headers.base.opcode = (what & 0x80) != 0 ? Opcode::atomic_acknowledge : Opcode::acknowledge;
    headers.base.psn = fuzz::psn_at((what & 8) != 0 ? response_ : last_psn_, distance);
    headers.ack.syndrome = syndrome;
    const Bytes octets = fuzz::packet_octets(headers, {});
    const auto packet = roce::wire::parse_packet(octets);
    fuzz::check(packet.has_value());
    requester_.take_acknowledge(*packet, now_);
  }

  // Mostly right for its place: others end the connection.
  void respond(std::uint8_t what, std::int32_t distance, std::uint8_t size) {
    PacketHeaders headers;
    headers.base.psn = fuzz::psn_at((what & 0x80) != 0 ? last_psn_ : response_, distance);
    const auto [opcode, right_size] = right_response(headers.base.psn);
    const bool arbitrary = (what & 0x60) == 0x60;
    headers.base.opcode =
        arbitrary ? static_cast<Opcode>(static_cast<std::uint8_t>(Opcode::read_response_first) +
                                        (what >> 3 & 3))
                  : opcode;
    headers.ack.syndrome = (what & 0x78) == 0x50 ? size : kAck;
    const Bytes payload(right_size, std::byte{0x5a});
    const Bytes octets = fuzz::packet_octets(
        headers, size == kRightSize ? View(payload) : fuzz::payload_of(size, terms_.path_mtu));
    const auto packet = roce::wire::parse_packet(octets);
    fuzz::check(packet.has_value());
    given_ = *packet;
    if (distance == 0) advance();
    requester_.take_response(*packet, now_);
    given_.reset();
  }

  // A READ request whose response has not come whole.
  struct Asked {
    std::uint32_t psn;
    std::uint32_t packets;
    std::uint32_t length;
  };

  void ask(const PacketHeaders& request) {
    const std::uint32_t packets =
        std::max(1U, (request.rdma.length + terms_.path_mtu - 1) / terms_.path_mtu);
    // A repetition: what was asked for before is asked for again.
    if (!asked_.empty() && psn_distance(asked_.back().psn, request.base.psn) <= 0) asked_.clear();
    if (asked_.empty()) response_ = request.base.psn;
    begun_.insert(request.base.psn);
    asked_.push_back({request.base.psn, packets, request.rdma.length});
  }
  void advance() {
    response_ = psn_after(response_);
    if (asked_.empty()) return;
    const Asked& front = asked_.front();
    if (psn_distance(psn_after(front.psn, front.packets), response_) < 0) return;
    asked_.pop_front();
    if (!asked_.empty()) response_ = asked_.front().psn;
  }
  // Opcode and octets of the response's packet with this PSN.
  std::pair<Opcode, std::size_t> right_response(std::uint32_t psn) const {
    for (const Asked& asked : asked_) {
      const std::int32_t distance = psn_distance(asked.psn, psn);
      const auto place = static_cast<std::uint32_t>(distance);
      if (distance < 0 || place >= asked.packets) continue;
      const bool last = place + 1 == asked.packets;
      const std::size_t size = last ? asked.length - place * terms_.path_mtu : terms_.path_mtu;
      if (place == 0)
        return {last ? Opcode::read_response_only : Opcode::read_response_first, size};
      return {last ? Opcode::read_response_last : Opcode::read_response_middle, size};
    }
    return {Opcode::read_response_middle, terms_.path_mtu};
  }

  // What the requester placed was a packet for this place.
  void check_shape(std::uint64_t offset, std::uint64_t end, std::uint64_t length) const {
    const std::uint64_t number = offset / terms_.path_mtu;
    const OpcodeTraits& traits = given_->headers.traits();
    fuzz::check(traits.last == ((number + 1) % burst_ == 0 || end == length));
    fuzz::check(number % burst_ == 0 ? traits.first
                                     : !traits.first || begun_.contains(given_->headers.base.psn));
    fuzz::check(!traits.aeth || ack_kind(given_->headers.ack.syndrome) == AckKind::ack);
  }

  static void check_guards(const Work& work) {
    const auto intact = [&](std::size_t from) {
      return fuzz::all_are(View(work.octets).subspan(from, kGuard), kUntouched);
    };
    fuzz::check(intact(0) && intact(kGuard + work.length));
  }

  // RequesterOwner
  void on_sending(const Outgoing& operation, std::uint64_t offset, std::uint64_t length) override {
    fuzz::check(offset + length <= operation.length);
  }
  void on_response(const Outgoing& operation, std::uint64_t offset, View payload) override {
    fuzz::check(operation.kind == Operation::rdma_read);
    fuzz::check(offset + payload.size() <= operation.length && given_.has_value());
    check_shape(offset, offset + payload.size(), operation.length);
  }
  void on_done(Operation /*kind*/, WorkId id) override { fuzz::check(!failed_ && id == ++done_); }
  void on_requester_failed(CloseReason reason) override {
    fuzz::check(!failed_ && !reason.detail.empty());
    failed_ = true;
    requester_.stop();
  }

  // PacketOutput
  bool room() override { return room_ > 0; }
  void send(PacketHeaders packet, std::span<const View> payload) override {
    fuzz::check(!failed_ && room_ > 0);
    --room_;
    last_psn_ = packet.base.psn;
    std::size_t bytes = 0;
    for (const View piece : payload) {
      fuzz::check(fuzz::all_are(piece, kOurs));
      bytes += piece.size();
    }
    fuzz::check(bytes <= terms_.path_mtu);
    if (packet.base.opcode == Opcode::read_request) {
      fuzz::check(bytes == 0 && terms_.reads > 0);
      ask(packet);
    }
  }

  RequestTerms terms_;
  std::uint32_t burst_;
  fabric::Limits limits_;
  Requester requester_{*this, *this, limits_};
  std::vector<std::unique_ptr<Work>> sent_;
  std::vector<std::unique_ptr<Work>> reads_;
  Time now_ = 1;
  std::uint32_t last_psn_ = kFirstPsn;
  std::uint32_t response_ = kFirstPsn;
  std::deque<Asked> asked_;
  std::set<std::uint32_t> begun_;  // PSNs of all READ requests
  std::optional<Packet> given_;
  std::uint32_t room_ = ~0U;
  WorkId posted_ = 0;
  WorkId done_ = 0;
  bool failed_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  Peer(data[0]).run(fuzz::OctetSource(fuzz::view_of(data + 1, size - 1)));
  return 0;
}
