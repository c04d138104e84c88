// Any packets of a peer as requests to the responder, between calls of its owner.
//
// Nothing outside the regions and posted receives is touched, responses have octets of readable
// memory alone, and what waits to be sent is bounded. The first octet chooses path MTU, READs and
// policy. Records follow, see `run`. Their PSNs count from the one that the responder expects.
#include <algorithm>
#include <array>
#include <memory>

#include "fabric/fuzz/roce_packets.h"
#include "fabric/roce/reliable/responder.h"
#include "wire/fuzz/check.h"

namespace {

using namespace steertag;
using namespace steertag::fabric;
using namespace steertag::fabric::roce;

constexpr std::uint32_t kFirstPsn = 0xfffff0;  // PSNs wrap soon
constexpr std::size_t kRegionBytes = 1024;
constexpr std::uint64_t kBase = 0x1000;
constexpr std::byte kSecret{0x77};
constexpr std::byte kPublic{0x33};

bool inside(View part, SoftwareRegion& region) {
  const View whole = region.bytes();
  return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
}

class Peer final : public ResponderOwner, public PacketOutput {
 public:
  explicit Peer(std::uint8_t choices)
      : terms_{kFirstPsn, 256U << (choices & 1),
               static_cast<std::uint16_t>(1 + (choices >> 1 & 3))} {
    fuzz::fill(readable_.bytes(), kPublic);
    fuzz::fill(foreign_.bytes(), kSecret);
    fuzz::fill(closed_.bytes(), kSecret);
    open(window_);
    open(others_window_);
    closed_.invalidate();
    responder_.start(terms_);
  }
  ~Peer() override {
    windows_.close_all();
    others_.close_all();
  }

  void run(fuzz::OctetSource input) {
    while (!input.empty()) {
      const std::uint8_t what = input.octet();
      switch (what & 7) {
        case 4:
          post(input.octet() * std::size_t{4});
          break;
        case 5:
          room_ = input.octet();
          transmit();
          break;
        case 6:
          change(*regions_[(what >> 3) % regions_.size()], input.octet());
          break;
        default:
          request(what, input);
      }
    }
    room_ = ~0U;
    transmit();
    check_memory();
  }

 private:
  void request(std::uint8_t what, fuzz::OctetSource& input) {
    PacketHeaders headers;
    headers.base.opcode = static_cast<Opcode>(input.octet() & 31);
    headers.base.acknowledge = (what & 1) != 0;
    const std::int32_t distance = input.signed_octet();
    headers.base.psn = fuzz::psn_at(cursor_, distance);
    const View payload = fuzz::payload_of(input.octet(), terms_.path_mtu);
    SoftwareRegion& region = *regions_[(what >> 3) % regions_.size()];
    headers.invalidate = headers.rdma.key = region.stag();
    if (headers.traits().reth) {
      headers.rdma.address = region.base() + static_cast<std::uint64_t>(input.signed_word());
      headers.rdma.length = input.word();
      if ((what & 2) != 0) headers.rdma.length <<= 16;
    }
    const Bytes octets = fuzz::packet_octets(headers, payload);
    const auto packet = roce::wire::parse_packet(octets);
    if (!packet || !packet->headers.traits().is_request()) return;
    if (distance == 0) cursor_ = psn_after(cursor_, psns_of(headers));
    in_a_row_ = 0;
    responder_.take(*packet);
  }

  std::uint32_t psns_of(const PacketHeaders& headers) const {
    if (headers.base.opcode != Opcode::read_request) return 1;
    const std::uint64_t length = headers.rdma.length;
    return static_cast<std::uint32_t>(
        std::max<std::uint64_t>(1, (length + terms_.path_mtu - 1) / terms_.path_mtu));
  }

  void post(std::size_t size) {
    buffers_.push_back(std::make_unique<Bytes>(size));
    responder_.receives().post(*buffers_.back(), buffers_.size());
  }

  void transmit() {
    in_a_row_ = 0;
    for (std::size_t turns = 0; responder_.transmit(); ++turns) {
      fuzz::check(turns < kMostTurns);
    }
  }

  void change(SoftwareRegion& region, std::uint8_t choice) {
    if (&region == &foreign_ || &region == &closed_ || &region == &readable_) return;
    if ((choice & 1) != 0) {
      close(region);
    } else if (!region.valid()) {
      open(region);
    }
  }

  // A window stays one of its own connection.
  void open(SoftwareRegion& region) {
    constexpr Rights kAll{true, true};
    if (&region == &window_) {
      region.open_window(windows_, kAll, kRegionBytes / 2);
    } else if (&region == &others_window_) {
      region.open_window(others_, kAll, kRegionBytes);
    } else {
      region.open(kAll, kRegionBytes);
    }
  }

  void close(SoftwareRegion& region) {
    region.invalidate();
    closed_one_ = true;
  }

  void check_memory() {
    for (SoftwareRegion* const region : regions_) fuzz::check(region->guards_intact());
    fuzz::check(fuzz::all_are(readable_.bytes(), kPublic));
    fuzz::check(fuzz::all_are(foreign_.bytes(), kSecret));
    fuzz::check(fuzz::all_are(closed_.bytes(), kSecret));
    fuzz::check(fuzz::all_are(others_window_.bytes(), std::byte{0}));
  }

  // ResponderOwner
  void on_message(const PostedReceive& receive, MutableView bytes,
                  std::optional<std::uint32_t> invalidated) override {
    fuzz::check(!stopped_ && delivered_ + 1 == receive.id);
    ++delivered_;
    fuzz::check(bytes.data() == receive.buffer.data() && bytes.size() <= receive.buffer.size());
    if (!invalidated) return;
    SoftwareRegion* const region = table_.find(*invalidated);
    fuzz::check(region != nullptr && region->open_to(windows_) && &region->domain() == &domain_);
    close(*region);
  }
  void on_write(std::uint32_t key, std::uint64_t address, std::uint64_t length,
                View payload) override {
    if (payload.empty()) return;  // refused, or of no octets
    SoftwareRegion* const region = table_.find(key);
    fuzz::check(region != nullptr && region->rights().remote_write && region->open_to(windows_) &&
                region->contains(address, length) && inside(payload, *region));
  }
  void on_read(const RdmaHeader& /*request*/) override {}
  void on_read_answered(const RdmaHeader& request, std::uint64_t offset,
                        std::uint64_t length) override {
    fuzz::check(offset + length <= request.length && length <= terms_.path_mtu);
  }
  void on_refused_request(Refusal refusal, std::uint32_t /*psn*/) override {
    fuzz::check(!refusal.detail.empty());
    stopped_ = true;
  }
  void on_source_closed(std::uint32_t /*psn*/) override { stopped_ = true; }

  // PacketOutput
  bool room() override { return room_ > 0; }
  void send(PacketHeaders packet, std::span<const View> payload) override {
    fuzz::check(!stopped_);
    if (room_ > 0) --room_;
    if (packet.base.opcode == Opcode::acknowledge) {
      // One stands for all that wait. A repeated READ between two goes unanswered if its region is
      // closed since.
      fuzz::check(++in_a_row_ == 1 || closed_one_);
      const AckKind kind = ack_kind(packet.ack.syndrome);
      if (kind == AckKind::sequence_nak || kind == AckKind::rnr_nak) cursor_ = packet.base.psn;
      return;
    }
    in_a_row_ = 0;
    fuzz::check(packet.traits().operation == roce::wire::Operation::read_response);
    for (const View piece : payload) {
      fuzz::check(piece.empty() || inside(piece, readable_) || inside(piece, writable_) ||
                  inside(piece, window_));
    }
  }

  static constexpr std::size_t kMostTurns = 1 << 16;

  ResponseTerms terms_;
  StagTable table_{[next = std::uint64_t{0}]() mutable { return ++next; }};
  SoftwareDomain domain_{table_};
  SoftwareDomain other_{table_};
  Windows windows_;
  Windows others_;
  SoftwareRegion writable_{domain_, kRegionBytes, {true, true}, kBase};
  SoftwareRegion readable_{domain_, kRegionBytes, {true, false}, kBase};
  SoftwareRegion foreign_{other_, kRegionBytes, {true, true}, kBase};
  SoftwareRegion window_{domain_, kRegionBytes, {}, kBase};
  SoftwareRegion others_window_{domain_, kRegionBytes, {}, kBase};
  SoftwareRegion closed_{domain_, kRegionBytes, {true, true}, kBase};
  std::array<SoftwareRegion*, 6> regions_{&writable_, &readable_,      &foreign_,
                                          &window_,   &others_window_, &closed_};
  roce::Limits limits_;
  SendSplitter splitter_;
  Responder responder_{*this, *this, domain_, windows_, splitter_, limits_};
  std::vector<std::unique_ptr<Bytes>> buffers_;
  std::uint32_t cursor_ = kFirstPsn;
  std::uint32_t room_ = ~0U;
  std::uint32_t in_a_row_ = 0;  // acknowledgements that one call sent
  bool closed_one_ = false;
  WorkId delivered_ = 0;
  bool stopped_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  Peer(data[0]).run(fuzz::OctetSource(fuzz::view_of(data + 1, size - 1)));
  return 0;
}
