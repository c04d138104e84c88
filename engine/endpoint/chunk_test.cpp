// Chunk marshalling and the choice of forms, without a network.
#include "endpoint/chunk.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cstring>
#include <map>

#include "client/rdma/call_form.h"
#include "endpoint/limits.h"
#include "wire/xdr.h"

namespace steertag::peer {
namespace {

Bytes octets(std::size_t length, std::size_t first) {
  Bytes made(length);
  for (std::size_t i = 0; i < length; ++i) made[i] = static_cast<std::byte>(first + i);
  return made;
}

/// The requester's memory, as far as tests need it: one region per STag.
using Memory = std::map<std::uint32_t, Bytes>;

/// Cuts octets into segments of the given lengths, each in memory of its own.
std::vector<wire::Segment> scatter(const Bytes& whole, const std::vector<std::uint32_t>& lengths,
                                   Memory& memory) {
  std::vector<wire::Segment> segments;
  std::size_t at = 0;
  for (std::size_t i = 0; at < whole.size() || i < lengths.size(); ++i) {
    const std::size_t wish = i < lengths.size() ? lengths[i] : whole.size();
    const std::size_t length = std::min(wish, whole.size() - at);
    const auto stag = static_cast<std::uint32_t>(memory.size() + 1);
    memory[stag] = Bytes(whole.begin() + static_cast<std::ptrdiff_t>(at),
                         whole.begin() + static_cast<std::ptrdiff_t>(at + length));
    segments.push_back({stag, static_cast<std::uint32_t>(length), 0x1000});
    at += length;
  }
  return segments;
}

Bytes rebuild(const PullPlan& plan, const Memory& memory) {
  Bytes sink(plan.size, std::byte{0xee});
  for (const RemoteRead& read : plan.reads)
    std::memcpy(sink.data() + read.sink_offset,
                memory.at(read.stag).data() + (read.offset - 0x1000), read.length);
  for (const LocalCopy& copy : plan.copies)
    std::memcpy(sink.data() + copy.sink_offset, copy.from.data(), copy.from.size());
  for (const LocalCopy& copy : plan.roundups)
    std::memcpy(sink.data() + copy.sink_offset, copy.from.data(), copy.from.size());
  return sink;
}

const auto kLengths =
    rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange<std::uint32_t>(0, 40));

RC_GTEST_PROP(PullPlan, RebuildsTheUnreducedCall, ()) {
  // A stream of words with two items taken out of it.
  const auto head = 4 * *rc::gen::inRange<std::size_t>(1, 20);
  const auto middle = 4 * *rc::gen::inRange<std::size_t>(0, 20);
  const auto tail = 4 * *rc::gen::inRange<std::size_t>(0, 20);
  const auto first_length = *rc::gen::inRange<std::size_t>(1, 100);
  const auto second_length = *rc::gen::inRange<std::size_t>(1, 100);
  const bool is_long = *rc::gen::arbitrary<bool>();

  const Bytes stream = octets(head + middle + tail, 7);
  const Bytes first = octets(first_length, 77);
  const Bytes second = octets(second_length, 177);
  Bytes expected(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(head));
  const auto add = [&](const Bytes& part) {
    expected.insert(expected.end(), part.begin(), part.end());
  };
  const auto first_at = static_cast<std::uint32_t>(expected.size());
  add(first);
  expected.resize(wire::roundup4(expected.size()));
  expected.insert(expected.end(), stream.begin() + static_cast<std::ptrdiff_t>(head),
                  stream.begin() + static_cast<std::ptrdiff_t>(head + middle));
  const auto second_at = static_cast<std::uint32_t>(expected.size());
  add(second);
  expected.resize(wire::roundup4(expected.size()));
  expected.insert(expected.end(), stream.end() - static_cast<std::ptrdiff_t>(tail), stream.end());

  Memory memory;
  std::vector<wire::ReadSegment> list;
  const auto offer = [&](std::uint32_t position, const Bytes& part) {
    for (const wire::Segment& segment : scatter(part, *kLengths, memory))
      list.push_back({position, segment});
  };
  if (is_long) offer(0, stream);
  offer(second_at, second);  // the order of positions in the list is free
  offer(first_at, first);

  PullPlan plan;
  const View payload = is_long ? View{} : View(stream);
  RC_ASSERT(plan_pull(list, payload, kLargestCall, plan) == PullFault::none);
  RC_ASSERT(plan.size == expected.size());
  RC_ASSERT(rebuild(plan, memory) == expected);
}

TEST(PullPlan, FaultsAreTold) {
  PullPlan plan;
  const Bytes payload = octets(40, 0);
  const auto fault = [&](std::vector<wire::ReadSegment> list, View inline_payload) {
    return plan_pull(list, inline_payload, 1000, plan);
  };
  EXPECT_EQ(fault({{44, {1, 4, 0}}}, payload), PullFault::position_too_high);
  EXPECT_EQ(fault({{8, {1, 8, 0}}, {12, {1, 4, 0}}}, payload), PullFault::position_overlaps);
  EXPECT_EQ(fault({{0, {1, 4, 0}}}, payload), PullFault::double_payload);
  EXPECT_EQ(fault({{40, {1, 4, 0}}}, {}), PullFault::no_payload);
  EXPECT_EQ(fault({{0, {1, 0, 0}}}, {}), PullFault::no_payload);
  EXPECT_EQ(fault({{40, {1, 961, 0}}}, payload), PullFault::too_large);
  EXPECT_EQ(fault({{40, {1, 0xffffffff, 0}}, {40, {1, 0xffffffff, 0}}}, payload),
            PullFault::too_large);
  EXPECT_EQ(
      fault(std::vector<wire::ReadSegment>(kMostSegmentsPerChunk + 1, {40, {1, 1, 0}}), payload),
      PullFault::too_complex);
  std::vector<wire::ReadSegment> many;
  for (std::uint32_t i = 1; i <= kMostChunks + 1; ++i) many.push_back({4 * i, {1, 0, 0}});
  EXPECT_EQ(fault(many, payload), PullFault::too_complex);
  EXPECT_EQ(fault({{40, {1, 960, 0}}}, payload), PullFault::none);
}

RC_GTEST_PROP(FillChunk, PlacesEveryOctetInOrderAndNoOther, ()) {
  const auto part_lengths = *kLengths;
  std::vector<Bytes> storage;
  std::vector<View> parts;
  Bytes expected;
  for (const std::uint32_t length : part_lengths)
    storage.push_back(octets(length, expected.size()));
  for (const Bytes& part : storage) {
    parts.emplace_back(part);
    expected.insert(expected.end(), part.begin(), part.end());
  }
  std::vector<wire::Segment> offered;
  std::uint64_t room = 0;
  for (const std::uint32_t length : *kLengths) {
    offered.push_back({static_cast<std::uint32_t>(offered.size()), length, 0x1000});
    room += length;
  }
  if (room < expected.size()) {
    offered.push_back({static_cast<std::uint32_t>(offered.size()),
                       static_cast<std::uint32_t>(expected.size() - room), 0x1000});
  }
  std::vector<wire::Segment> returned = offered;
  std::vector<RemoteWrite> writes;
  fill_chunk(parts, returned, writes);

  Bytes placed;
  bool full_before = true;
  for (std::size_t i = 0; i < returned.size(); ++i) {
    RC_ASSERT(returned[i].length <= offered[i].length);
    RC_ASSERT(full_before || returned[i].length == 0);
    full_before = full_before && returned[i].length == offered[i].length;
    std::uint64_t next = offered[i].offset;
    for (const RemoteWrite& write : writes) {
      if (write.stag != offered[i].handle) continue;
      RC_ASSERT(write.offset == next);
      RC_ASSERT(write.goes_on == (next != offered[i].offset));
      RC_ASSERT(!write.from.empty());
      next += write.from.size();
      placed.insert(placed.end(), write.from.begin(), write.from.end());
    }
    RC_ASSERT(next == offered[i].offset + returned[i].length);
  }
  RC_ASSERT(placed == expected);
}

TEST(JoinedWrites, AreThoseThatFillConsecutiveOctetsOfASegment) {
  const Bytes whole = octets(100, 0);
  const std::vector<View> parts{View(whole).first(10), View(whole).subspan(10, 50),
                                View(whole).subspan(60)};
  // The second segment follows the first in the same memory: still a segment of its own.
  std::vector<wire::Segment> segments{{7, 40, 0}, {7, 60, 40}};
  std::vector<RemoteWrite> writes;
  fill_chunk(parts, segments, writes);
  ASSERT_EQ(writes.size(), 4U);
  const std::span<const RemoteWrite> all(writes);
  EXPECT_EQ(joined_writes(all, 32), 2U);
  EXPECT_EQ(joined_writes(all.subspan(2), 32), 2U);
  EXPECT_EQ(joined_writes(all.subspan(3), 32), 1U);
  EXPECT_EQ(joined_writes(all, 1), 1U);
}

RC_GTEST_PROP(CallForm, FitsTheThresholds, ()) {
  CallSize size;
  size.stream = 4 * *rc::gen::inRange<std::size_t>(10, 2000);
  size.has_item = *rc::gen::arbitrary<bool>();
  size.item = size.has_item ? *rc::gen::inRange<std::size_t>(0, 10000) : 0;
  size.reply.payload = 4 * *rc::gen::inRange<std::size_t>(6, 3000);
  size.reply.eligible =
      *rc::gen::arbitrary<bool>() ? *rc::gen::inRange<std::size_t>(0, size.reply.payload - 20) : 0;
  FormWish wish;
  const auto use = rc::gen::element(Use::when_needed, Use::always, Use::never);
  wish.read_chunk = *use;
  wish.write_chunk = *use;
  wish.reply_chunk = *use;
  wish.long_call = *use;
  wish.segments = *rc::gen::inRange<std::uint32_t>(1, 17);
  wish.chunk_from = *rc::gen::inRange<std::size_t>(1, 20'000);
  wire::Negotiated limits;
  limits.to_server_bytes = limits.to_client_bytes = 1024U * *rc::gen::inRange(1U, 9U);

  const CallForm form = choose_form(size, wish, limits);
  if (!form.possible) return;
  wire::Header header;
  const std::vector<wire::Segment> chunk(wish.segments);
  if (form.write_chunk) header.write_list.add(chunk);
  header.has_reply_chunk = form.reply_chunk;
  if (form.reply_chunk) header.reply_chunk = chunk;
  const std::size_t reply_header = wire::encoded_size(header);
  const std::size_t read_chunks = (form.read_chunk ? 1U : 0U) + (form.long_call ? 1U : 0U);
  header.read_list.resize(read_chunks * wish.segments);
  std::size_t call = wire::encoded_size(header);
  if (!form.long_call) call += size.stream + (form.read_chunk ? 0 : wire::roundup4(size.item));
  RC_ASSERT(call <= limits.to_server_bytes);
  // RFC 8166 4.3.3: what may not fit inline has a reply chunk to go to.
  const std::size_t reply = form.write_chunk ? size.reply.reduced() : size.reply.payload;
  RC_ASSERT(form.reply_chunk || reply_header + reply <= limits.to_client_bytes);
  RC_ASSERT(!form.reply_chunk || form.reply_chunk_bytes >= reply);
}

TEST(ChooseForm, DataFromAWishedSizeTakesAChunkThoughItFits) {
  CallSize size;
  size.stream = 100;
  size.has_item = true;
  size.item = 512;
  size.reply = {600, 512};
  wire::Negotiated limits;
  limits.to_server_bytes = limits.to_client_bytes = 4096;
  FormWish wish;
  const CallForm plain = choose_form(size, wish, limits);
  EXPECT_FALSE(plain.write_chunk || plain.read_chunk);
  wish.chunk_from = 513;
  const CallForm below = choose_form(size, wish, limits);
  EXPECT_FALSE(below.write_chunk || below.read_chunk);
  wish.chunk_from = 512;
  const CallForm form = choose_form(size, wish, limits);
  EXPECT_TRUE(form.write_chunk && form.read_chunk);
  EXPECT_EQ(form.write_chunk_bytes, 512U);
}

}  // namespace
}  // namespace steertag::peer
