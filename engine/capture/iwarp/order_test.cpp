// Reordered, duplicated or missing packets: events keep an order that both ends can have observed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "capture/iwarp/testing.h"

namespace steertag::capture::iwarp {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;
using namespace testing;

/// Empty if `lines` has events of `whole` in the same order, with a loss of the same actor at each
/// gap. Otherwise it describes the fault.
std::string unexplained(const Lines& whole, const Lines& lines) {
  const Lines expected = events(whole);
  std::size_t next = 0;
  Lines losses;
  const auto skip_to = [&](std::size_t end) -> std::string {
    for (; next < end; ++next) {
      const std::string actor = expected[next].substr(0, expected[next].find(' '));
      const bool reported = std::any_of(losses.begin(), losses.end(), [&](const std::string& loss) {
        return loss.starts_with(actor + " loss");
      });
      if (!reported) return "left out without a loss: " + expected[next];
    }
    return {};
  };
  for (const std::string& line : lines) {
    if (is_loss(line)) {
      losses.push_back(without_frame(line));
      continue;
    }
    if (line.ends_with(" end")) continue;
    const auto found =
        std::find(expected.begin() + std::ptrdiff_t(next), expected.end(), without_frame(line));
    if (found == expected.end()) return "not in the whole capture, or in another order: " + line;
    if (auto wrong = skip_to(std::size_t(found - expected.begin())); !wrong.empty()) return wrong;
    ++next;
    losses.clear();
  }
  // A capture that ends early does not know what it lacks.
  return {};
}

std::string text(const Lines& lines) {
  std::string result;
  for (const std::string& line : lines) result += line + '\n';
  return result;
}

TEST(TcpOrder, SwappedPacketsTellTheSame) {
  const Packets packets = conversation();
  const Lines whole = reported(packets);
  for (std::size_t distance = 1; distance <= 3; ++distance) {
    for (std::size_t i = 0; i + distance < packets.size(); ++i) {
      Packets swapped = packets;
      std::swap(swapped[i], swapped[i + distance]);
      const Lines lines = reported(swapped);
      EXPECT_EQ(unexplained(whole, lines), "") << i + 1 << " with " << i + distance + 1;
      EXPECT_EQ(lines, whole) << i + 1 << " with " << i + distance + 1;
    }
  }
}

TEST(TcpOrder, ADelayedPacketTellsTheSame) {
  const Packets packets = conversation();
  const Lines whole = reported(packets);
  for (std::size_t distance = 2; distance <= 8; ++distance) {
    for (std::size_t i = 3; i + distance < packets.size(); ++i) {
      Packets delayed = packets;
      const auto first = delayed.begin() + std::ptrdiff_t(i);
      std::rotate(first, first + 1, first + std::ptrdiff_t(distance) + 1);
      EXPECT_EQ(reported(delayed), whole) << i + 1 << " behind " << i + distance + 1;
    }
  }
}

TEST(TcpOrder, EveryPacketMayBeMissing) {
  const Packets packets = conversation();
  const Lines whole = reported(packets);
  for (std::size_t i = 0; i < packets.size(); ++i) {
    Packets rest = packets;
    rest.erase(rest.begin() + std::ptrdiff_t(i));
    const Lines lines = reported(rest);
    EXPECT_EQ(unexplained(whole, lines), "") << "without frame " << i + 1 << '\n' << text(lines);
    if (!packets[i].payload.empty()) {
      EXPECT_TRUE(has_loss(lines)) << "without frame " << i + 1;
      EXPECT_GE(events(lines).size() + 5, events(whole).size()) << text(lines);
    }
  }
}

TEST(TcpOrder, TwoPacketsMayBeMissing) {
  const Packets packets = conversation();
  const Lines whole = reported(packets);
  for (std::size_t i = 0; i < packets.size(); ++i) {
    for (std::size_t j = i + 1; j < packets.size(); ++j) {
      Packets rest = packets;
      rest.erase(rest.begin() + std::ptrdiff_t(j));
      rest.erase(rest.begin() + std::ptrdiff_t(i));
      const Lines lines = reported(rest);
      EXPECT_EQ(unexplained(whole, lines), "")
          << "without frames " << i + 1 << " and " << j + 1 << '\n'
          << text(lines);
    }
  }
}

TEST(TcpOrder, TheMissingIsToldAtOnceWhenEnoughFollows) {
  Script script;
  script.startups().client(send(1, call(1))).server(send(1, reply(1)));
  const std::size_t missing = script.packets.size();
  script.client(send(2, call(2)));
  for (std::uint32_t i = 2; i < 60; ++i) {
    script.server(send(i, reply(2))).client(send(i + 1, call(3)));
  }
  Capture capture;
  std::size_t told_at = 0;
  for (const Packet& packet : script.packets) {
    if (packet.frame == missing + 1) continue;
    capture.read(packet);
    const Lines& lines =
        capture.all.connections.empty() ? Lines{} : capture.all.connections.front().lines;
    if (told_at == 0 && has_loss(lines)) told_at = packet.frame;
  }
  EXPECT_EQ(told_at, missing + 2 + kMostPacketsUntilMissing);
}

TEST(TcpOrder, AHoleThatIsNotAcknowledgedWaitsForTheRetransmission) {
  Script script;
  script.startups();
  const std::size_t before = script.packets.size();
  script.client(send(1, call(1)));
  for (std::uint32_t i = 2; i < 200; ++i) script.client(send(i, call(2)));
  const Lines whole = reported(script.packets);
  Packets packets = script.packets;
  const auto lost = packets.begin() + std::ptrdiff_t(before);
  std::rotate(lost, lost + 1, packets.end());
  const Lines lines = reported(packets);
  EXPECT_EQ(lines, whole);
}

TEST(TcpOrder, AHoleThatStaysIsGivenUpAtALimit) {
  Script script;
  script.startups().client(send(1, call(1)));
  const std::size_t lost = script.packets.size() - 1;
  const Bytes big = write(0, octets(60000));
  std::size_t kept = 0;
  for (std::size_t bytes = 0; bytes <= kMostKeptBytes; bytes += big.size(), ++kept) {
    script.client(big);
  }
  Packets packets = script.packets;
  packets.erase(packets.begin() + std::ptrdiff_t(lost));
  Capture capture;
  capture.read(packets);
  const Lines& lines = capture.all.connections.front().lines;
  ASSERT_EQ(lines.size(), 3 + kept) << "all that was buffered is reported";
  EXPECT_EQ(lines[2], "7 client loss: more would have to be kept than the limits allow");
}

TEST(TcpOrder, ManyHolesTogetherHaveALimit) {
  Capture capture;
  Script script;
  script.startups().client(send(1, call(1)));
  const Bytes big = write(0, octets(60000));
  for (int i = 0; i < 64; ++i) script.client(big);  // below the limit of one connection
  Packets packets = script.packets;
  packets.erase(packets.begin() + 5);
  const std::size_t enough = kMostKeptBytesInAll / (64 * big.size()) + 1;
  for (std::size_t i = 0; i < enough; ++i) {
    capture.read(packets, {static_cast<std::uint16_t>(10000 + i)});
  }
  EXPECT_FALSE(has_loss(capture.all.connections.front().lines));
  EXPECT_TRUE(has_loss(capture.all.connections.back().lines));
}

TEST(TcpOrder, DuplicatesAndProbesChangeNothing) {
  const Packets packets = conversation();
  const Lines whole = reported(packets);
  Packets noisy;
  for (const Packet& packet : packets) {
    noisy.push_back(packet);
    Packet probe = packet;
    if (!packet.payload.empty()) {
      noisy.push_back(packet);  // a retransmission
      probe.payload = part(packet.payload, packet.payload.size() / 2, packet.payload.size());
      probe.sequence += std::uint32_t(packet.payload.size() / 2);
      noisy.push_back(probe);  // of a part
      probe.payload = octets(1, 0);
      probe.sequence = packet.sequence + std::uint32_t(packet.payload.size()) - 1;
      noisy.push_back(probe);  // a keepalive (RFC 9293 3.8.4): an octet that was acknowledged
    }
    probe.payload.clear();
    probe.flags = kAck;
    if ((packet.flags & kAck) != 0) noisy.push_back(probe);
  }
  EXPECT_EQ(reported(noisy), whole);
}

TEST(TcpOrder, OfOverlappingCopiesTheFirstCounts) {
  const Bytes message = send(1, call(1)) + send(2, call(2));
  for (std::size_t begin = 0; begin < message.size(); begin += 7) {
    Script script;
    script.startups();
    script.client(message).server(send(1, reply(1)));
    const Lines whole = reported(script.packets);
    Packets packets = script.packets;
    // The second part arrives first; a copy with other octets overlaps it.
    Packet second = packets[5];
    second.sequence += std::uint32_t(begin);
    second.payload = part(message, begin, message.size());
    Packet& first = packets[5];
    for (std::size_t i = begin; i < message.size(); ++i) first.payload[i] = std::byte{0xee};
    packets.insert(packets.begin() + 5, second);
    if (begin == 0) continue;
    EXPECT_EQ(without_frames(reported(packets)), without_frames(whole)) << begin;
  }
}

TEST(TcpOrder, ARetransmissionThatAcknowledgesItsAnswerGoesBeforeIt) {
  Script script;
  script.startups().client(send(1, call(1))).server(send(1, reply(1))).client(send(2, call(2)));
  const Lines whole = reported(script.packets);
  // The capture lacks the first copy of the reply. The second copy was sent after the next call
  // arrived, and acknowledges that call.
  Packets packets = script.packets;
  packets[6].acknowledgment = packets[7].sequence + std::uint32_t(packets[7].payload.size());
  std::swap(packets[6], packets[7]);
  std::swap(packets[6].frame, packets[7].frame);
  EXPECT_EQ(without_frames(reported(packets)), without_frames(whole));
}

TEST(TcpOrder, AHoleIsToldAgainBehindWhatWasSentDuringIt) {
  Script script;
  script.startups().client(send(1, call(1))).server(send(1, reply(1))).client(send(2, call(2)));
  script.server(read_request(1, 8)).client(read_response(0, octets(8)));
  // While the client is silent, nothing proves that the server sent its first reply.
  for (std::uint64_t i = 0; i < kMostPacketsUntilMissing; ++i) script.server(write(i, octets(1)));
  script.client(send(3, call(3)));
  const std::string next = std::to_string(script.packets.size()) + " client send";
  Packets packets;
  for (const Packet& packet : script.packets) {
    const bool lost = packet.frame == 7 || packet.frame == 8 || packet.frame == 10;
    if (!lost) packets.push_back(packet);
  }
  const Lines lines = reported(packets);
  const auto at = [&](const std::string& start) {
    return std::find_if(lines.begin(), lines.end(),
                        [&](const std::string& line) { return line.starts_with(start); });
  };
  const auto read = at("9 server rdma_read");
  ASSERT_LT(read, at(next)) << text(lines);
  EXPECT_TRUE(std::any_of(
      read, at(next),
      [](const std::string& line) { return is_loss(line) && line.find("client") != line.npos; }))
      << "the response to the read is missing:\n"
      << text(lines);
}

TEST(TcpOrder, WhatDoesNotWaitKeepsTheOrderOfTheCapture) {
  Script script;
  script.startups().client(send(1, call(1)));
  script.server(read_request(1, 8)).client(send(2, call(2))).server(read_request(2, 8));
  // Neither end had received the other's packet when it sent its own.
  script.packets[7].acknowledgment = script.packets[5].acknowledgment;
  script.packets[8].acknowledgment = script.packets[6].acknowledgment;
  const Lines whole = reported(script.packets);
  Packets packets = script.packets;
  std::rotate(packets.begin() + 5, packets.begin() + 6, packets.end());
  EXPECT_EQ(reported(packets), whole);
}

TEST(TcpOrder, SplitPacketsTellTheSame) {
  const Packets packets = conversation();
  const Lines whole = reported(packets);
  for (std::size_t i = 0; i < packets.size(); ++i) {
    for (std::size_t at = 1; at < packets[i].payload.size(); ++at) {
      Packets split = packets;
      Packet front = split[i];
      front.payload.resize(at);
      split[i].payload = part(packets[i].payload, at, packets[i].payload.size());
      split[i].sequence += std::uint32_t(at);
      split.insert(split.begin() + std::ptrdiff_t(i), front);
      ASSERT_EQ(reported(split), whole) << "frame " << i + 1 << " at octet " << at;
      std::swap(split[i], split[i + 1]);
      ASSERT_EQ(without_frames(reported(split)), without_frames(whole))
          << "frame " << i + 1 << " at octet " << at << ", swapped";
    }
  }
}

TEST(TcpOrder, MergedPacketsTellTheSame) {
  const Packets packets = conversation();
  const Lines whole = without_frames(reported(packets));
  Packets merged;
  for (const Packet& packet : packets) {
    if (!merged.empty() && merged.back().sender == packet.sender && !packet.payload.empty() &&
        !merged.back().payload.empty()) {
      merged.back().payload = merged.back().payload + packet.payload;
    } else {
      merged.push_back(packet);
    }
  }
  EXPECT_LT(merged.size(), packets.size());
  EXPECT_EQ(without_frames(reported(merged)), whole);
}

RC_GTEST_PROP(TcpOrderProperty, AnyOrderWithinAWindowTellsTheSame, ()) {
  const Packets packets = conversation();
  const auto delays = *rc::gen::container<std::vector<int>>(packets.size(), rc::gen::inRange(0, 6));
  std::vector<std::pair<std::size_t, std::size_t>> order;
  for (std::size_t i = 3; i < packets.size(); ++i)
    order.emplace_back(i + std::size_t(delays[i]), i);
  std::sort(order.begin(), order.end());
  Packets shuffled(packets.begin(), packets.begin() + 3);
  for (const auto& [key, i] : order) shuffled.push_back(packets[i]);
  RC_ASSERT(reported(shuffled) == reported(packets));
}

RC_GTEST_PROP(TcpOrderProperty, AnyLossAndAnyOrderTellNothingElse, ()) {
  const Packets packets = conversation();
  const auto delays = *rc::gen::container<std::vector<int>>(packets.size(), rc::gen::inRange(0, 4));
  const auto fates = *rc::gen::container<std::vector<int>>(packets.size(), rc::gen::inRange(0, 5));
  std::vector<std::pair<std::size_t, std::size_t>> order;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    if (fates[i] != 0) order.emplace_back(i + std::size_t(delays[i]), i);
  }
  std::sort(order.begin(), order.end());
  Packets rest;
  for (const auto& [key, i] : order) rest.push_back(packets[i]);
  const Lines lines = reported(rest);
  Lines whole = reported(packets);
  // The judge must not assume that an Accept was seen.
  const auto accepts = [](const std::string& line) { return line.find(" accept ") != line.npos; };
  if (std::none_of(lines.begin(), lines.end(), accepts)) std::erase_if(whole, accepts);
  const std::string wrong = unexplained(whole, lines);
  if (!wrong.empty()) RC_LOG() << wrong << '\n' << text(lines);
  RC_ASSERT(wrong.empty());
}

}  // namespace
}  // namespace steertag::capture::iwarp
