// Any octets as an incoming stream of FPDUs, in pieces of any size.
//
// Nothing outside the regions and posted receives is touched. The size of pieces does not matter,
// nor whether the owner places octets of Sends. The first octet chooses CRC and pieces.
#include <algorithm>
#include <array>
#include <cstring>

#include "fabric/iwarp/message_receiver.h"
#include "wire/fuzz/check.h"

namespace {

using namespace steertag;
using namespace steertag::fabric;
using namespace steertag::fabric::iwarp;

constexpr std::size_t kRegionBytes = 256;
constexpr std::size_t kReceiveBytes = 2 * kHeadBytes + 96;
constexpr std::size_t kReceives = 4;

// STags and bases that a fuzzer can guess: 1, 3, 5 at 0x1000.
RandomSource counting() {
  return [next = std::uint64_t{0}]() mutable { return ++next; };
}

/// Places octets as the head of their message says.
class Placer final : public HeadReader {
 public:
  Placement on_head(View head) override {
    fuzz::check(head.size() == kHeadBytes);
    const auto from = std::to_integer<std::size_t>(head[0]) * 2;
    const auto length = std::to_integer<std::size_t>(head[1]) * 2;
    return {from, MutableView(place_).first(length)};
  }

 private:
  Bytes place_ = Bytes(2 * 255);
};

/// Counts deliveries and digests their order and content.
class Counter final : public Delivery {
 public:
  explicit Counter(SendSplitter& splitter) : splitter_(splitter) {}
  void on_message(const PostedReceive& receive, MutableView bytes,
                  std::optional<std::uint32_t> invalidated) override {
    fuzz::check(bytes.size() <= receive.buffer.size());
    splitter_.gather(bytes);
    splitter_.end();
    mix(1 + bytes.size() + invalidated.value_or(0));
    for (const std::byte octet : bytes) mix(std::to_integer<std::uint64_t>(octet));
  }
  void on_write_segment(const Segment& segment, View payload) override {
    mix(2 + segment.offset + payload.size());
  }
  void on_read_request(const ReadRequest& request, std::uint32_t /*msn*/,
                       SoftwareRegion* source) override {
    fuzz::check(request.length == 0 || (source != nullptr && source->rights().remote_read &&
                                        source->contains(request.source_offset, request.length)));
    mix(3 + request.length);
  }
  void on_read_refused(const ReadRequest& request, const ReadRefusal& refusal,
                       bool recoverable) override {
    fuzz::check(is_of_read_memory(refusal.cause));
    mix(4 + request.length + (recoverable ? refusal.read_msn : 0));
  }
  void on_response_segment(const Segment& /*segment*/, View payload) override {
    mix(5 + payload.size());
  }
  void on_read_done(WorkId id) override { mix(6 + id); }
  void on_refusal(const ReadRefusal& refusal) override { mix(9 + refusal.read_msn); }
  void on_refused(WorkId id, const ReadRefusal& refusal) override {
    fuzz::check(is_of_read_memory(refusal.cause) && refusal.read_msn == 1);
    mix(8 + id + refusal.cause.code);
  }
  void on_terminate(View body) override {
    mix(7 + body.size());
    open_ = false;
  }
  bool open() const override { return open_; }
  std::uint64_t digest() const { return digest_; }

 private:
  void mix(std::uint64_t value) { digest_ = (digest_ ^ value) * 0x100000001b3; }
  SendSplitter& splitter_;
  std::uint64_t digest_ = 0xcbf29ce484222325;
  bool open_ = true;
};

// Streams whose first FPDU is tagged recover from refused Reads.
bool recovers(View stream) {
  return stream.size() > kUlpduLengthBytes && starts_tagged(stream[kUlpduLengthBytes]);
}

std::uint64_t run(View stream, bool crc, std::size_t piece, bool direct, bool splits = false) {
  StagTable table(counting());
  SoftwareDomain domain(table);
  SoftwareDomain other(table);
  SoftwareRegion writable(domain, kRegionBytes, {false, true}, 0x1000);
  SoftwareRegion readable(domain, kRegionBytes, {true, false}, 0x1000);
  SoftwareRegion foreign(other, kRegionBytes, {true, true}, 0x1000);
  SendSplitter splitter;
  Placer placer;
  if (splits) splitter.use(&placer);
  Counter counter(splitter);
  const ReceivePolicy policy;
  MessageReceiver receiver(domain, counter, policy, splitter);
  receiver.limit_inbound_reads(2);
  if (recovers(stream)) receiver.recover_read_faults();
  std::vector<Bytes> buffers(kReceives, Bytes(kReceiveBytes));
  for (std::size_t i = 0; i < kReceives; ++i) receiver.receives().post(buffers[i], i);
  auto sink = std::make_shared<std::byte[]>(64);
  receiver.expect({9, 0, 64, 0, sink, sink.get(), 77});
  FpduReceiver fpdus(receiver);
  fpdus.use_crc(crc);
  bool violated = false;
  while (!stream.empty() && counter.open() && !violated) {
    const MutableView place = direct ? fpdus.direct() : MutableView{};
    const std::size_t count =
        std::min({stream.size(), piece, place.empty() ? piece : place.size()});
    if (place.empty()) {
      violated = fpdus.take(stream.first(count)).has_value();
    } else {
      std::copy_n(stream.begin(), count, place.begin());
      violated = fpdus.placed(count).has_value();
    }
    stream = stream.subspan(count);
  }
  for (const SoftwareRegion* region : {&writable, &readable, &foreign}) {
    fuzz::check(region->guards_intact());
  }
  static constexpr std::array<std::byte, kRegionBytes> kZeroes{};
  fuzz::check(std::memcmp(readable.bytes().data(), kZeroes.data(), kRegionBytes) == 0);
  fuzz::check(std::memcmp(foreign.bytes().data(), kZeroes.data(), kRegionBytes) == 0);
  return counter.digest() + (violated ? 1 : 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const bool crc = (data[0] & 1) != 0;
  const std::size_t piece = std::size_t{1} + (data[0] >> 1);
  const View stream = fuzz::view_of(data + 1, size - 1);
  const std::uint64_t whole = run(stream, crc, std::max<std::size_t>(size, 1), false);
  fuzz::check(run(stream, crc, piece, false) == whole);
  fuzz::check(run(stream, crc, piece, true) == whole);
  fuzz::check(run(stream, crc, piece, false, true) == whole);
  fuzz::check(run(stream, crc, piece, true, true) == whole);
  return 0;
}
