// How messages are cut into segments.
#include "fabric/iwarp/transmitter.h"

#include <gtest/gtest.h>

namespace steertag::fabric::iwarp {
namespace {

/// Notes the lengths of segments; nothing is read.
class Lengths final : public TransmitProgress {
 public:
  void on_framed(const Outgoing& /*operation*/, std::uint64_t offset,
                 std::size_t payload_bytes) override {
    EXPECT_EQ(offset, total);
    total += payload_bytes;
    lengths.push_back(payload_bytes);
  }
  void on_read_queued(const Outgoing& /*operation*/, std::uint32_t /*sink_stag*/) override {}
  void on_left(Outgoing::Kind /*kind*/, WorkId /*id*/) override {}
  bool may_read() const override { return true; }
  bool source_open(Outgoing& /*operation*/) override { return true; }

  std::vector<std::size_t> lengths;
  std::uint64_t total = 0;
};

/// The lengths of the segments of an RDMA Write whose FPDUs hold at most `most` octets of it.
std::vector<std::size_t> cut(std::size_t length, std::size_t most) {
  Lengths progress;
  const SegmentPolicy policy;
  Transmitter transmitter(progress, policy);
  transmitter.set_mulpdu(most + kTaggedHeaderBytes);
  const Bytes octets(length);
  Outgoing& write = transmitter.post(Outgoing::Kind::rdma_write, 1);
  write.parts.emplace_back(octets);
  write.length = length;
  std::array<iovec, kMostIovecs> room;
  while (transmitter.stage()) {
    std::size_t count = 0;
    for (const iovec& piece : transmitter.gather(room)) {
      count += piece.iov_len;
    }
    transmitter.sent(count);
  }
  EXPECT_EQ(progress.total, length);
  return progress.lengths;
}

TEST(Transmitter, AMessageThatFitsIsOneSegment) {
  EXPECT_EQ(cut(0, 1000), (std::vector<std::size_t>{0}));
  EXPECT_EQ(cut(1000, 1000), (std::vector<std::size_t>{1000}));
}

TEST(Transmitter, TheSegmentsOfALargerMessageHaveAboutOneLength) {
  EXPECT_EQ(cut(65'536, 65'400), (std::vector<std::size_t>{32'768, 32'768}));
  EXPECT_EQ(cut(1001, 1000), (std::vector<std::size_t>{504, 497}));
  for (const std::size_t length : {std::size_t{2999}, std::size_t{70'000}, std::size_t{1} << 20}) {
    for (const std::size_t most : {std::size_t{999}, std::size_t{1446}, std::size_t{65'400}}) {
      const std::vector<std::size_t> lengths = cut(length, most);
      EXPECT_EQ(lengths.size(), (length + most - 1) / most) << "more segments than are needed";
      EXPECT_LE(*std::ranges::max_element(lengths), most);
      EXPECT_GT(lengths.back(), lengths.front() / 2) << length << " octets by " << most;
    }
  }
}

/// The stream of a Read Response whose socket takes `first` octets, and then no more for a while.
/// Meanwhile its owner may change the memory.
Bytes response_in_two(std::size_t first, bool changes) {
  Lengths progress;
  const SegmentPolicy policy;
  Transmitter transmitter(progress, policy);
  transmitter.use_crc(true);
  transmitter.set_mulpdu(1000 + kTaggedHeaderBytes);
  Bytes memory(3000, std::byte{0x11});
  Outgoing& response = transmitter.respond();
  response.parts.emplace_back(memory);
  response.length = memory.size();
  std::array<iovec, kMostIovecs> room;
  Bytes stream;
  const auto take = [&](std::size_t most) {
    const std::size_t before = stream.size();
    for (const iovec& piece : transmitter.gather(room)) {
      const View octets(static_cast<const std::byte*>(piece.iov_base), piece.iov_len);
      const View taken = octets.first(std::min(octets.size(), before + most - stream.size()));
      stream.insert(stream.end(), taken.begin(), taken.end());
    }
    transmitter.sent(stream.size() - before);
  };
  EXPECT_TRUE(transmitter.stage());
  take(first);
  if (changes) {
    std::ranges::fill(memory, std::byte{0x22});
  }
  while (transmitter.stage()) {
    take(memory.size());
  }
  return stream;
}

TEST(Transmitter, MemoryThatChangesLeavesTheCrcOfAReadResponseRight) {
  for (const std::size_t first : {0U, 1U, 500U, 1100U, 2500U}) {
    EXPECT_EQ(response_in_two(first, true), response_in_two(first, false))
        << first << " octets had left";
  }
}

}  // namespace
}  // namespace steertag::fabric::iwarp
