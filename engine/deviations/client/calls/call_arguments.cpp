// Deviations of the client: the read chunks of its calls (RFC 8166 3.4.5, 3.5.3).
#include <algorithm>
#include <array>

#include "deviations/families.h"
#include "wire/xdr.h"

namespace steertag::deviations {
namespace {

constexpr std::array<std::byte, 8> kZeros{};
constexpr std::array<std::byte, 3> kLeftOver{std::byte{0x5a}, std::byte{0x5a}, std::byte{0x5a}};

std::vector<wire::ReadSegment>& read_list(DepartingCall& call) {
  return call.header().read_list;
}

/// Whether there is a read chunk for an item that needs roundup.
bool has_odd_item(const DepartingCall& call) {
  return call.step.argument && call.step.request.item.size() % 4 != 0;
}

void leave_lists_uncounted(peer::FormStep& step) {
  const std::size_t without_lists = wire::kSmallestHeaderBytes + step.request.stream.size() +
                                    wire::roundup4(step.request.item.size());
  if (without_lists <= step.limits.to_server_bytes)
    step.form.read_chunk = step.form.long_call = false;
}

/// The count word is the stream's last.
void put_count(peer::Request& request, std::size_t count) {
  wire::store_u32(request.stream.data() + request.stream.size() - 4,
                  static_cast<std::uint32_t>(count));
}

void count_item_roundup(peer::FormStep& step) {
  peer::Request& request = step.request;
  if (!request.has_item) return;
  request.wish.roundup_in_read_chunk = step.form.read_chunk;
  const std::size_t item = request.item.size();
  put_count(request, step.form.read_chunk ? wire::roundup4(item) : item);
}

void count_nothing(peer::FormStep& step) {
  if (step.request.has_item && is_small(step.limits))
    put_count(step.request, step.form.read_chunk ? 0 : step.request.item.size());
}

void divide_into_seventeen(peer::FormStep& step) {
  if (is_small(step.limits)) step.request.wish.segments = peer::kMostRequestSegments + 1;
}

void count_from_header(DepartingCall& call) {
  if (!is_small(call.step.limits) || call.is_long()) return;
  Bytes header;
  wire::encode(call.header(), header);
  for (wire::ReadSegment& each : read_list(call)) {
    if (each.position != 0) each.position += static_cast<std::uint32_t>(header.size());
  }
}

void unalign(DepartingCall& call) {
  if (!has_odd_item(call)) return;
  for (wire::ReadSegment& each : read_list(call)) {
    if (each.position != 0) ++each.position;
  }
}

void shorten_last_segment(DepartingCall& call) {
  if (has_odd_item(call)) --read_list(call).back().target.length;
}

void move_last_segment(DepartingCall& call) {
  std::vector<wire::ReadSegment>& list = read_list(call);
  const auto data =
      std::ranges::find_if(list, [](const wire::ReadSegment& each) { return each.position != 0; });
  if (data - list.begin() > 1) (data - 1)->position = 4;
}

void move_long_call(DepartingCall& call) {
  if (!call.is_long()) return;
  for (wire::ReadSegment& each : read_list(call)) {
    if (each.position == 0) each.position = 4;
  }
}

void cut_long_call(DepartingCall& call) {
  if (!call.is_long()) return;
  std::vector<wire::ReadSegment>& list = read_list(call);
  const auto last = std::find_if(list.rbegin(), list.rend(),
                                 [](const wire::ReadSegment& each) { return each.position == 0; });
  if (last != list.rend()) --last->target.length;
}

void follow_long_call(DepartingCall& call) {
  if (is_small(call.step.limits) && call.is_long()) call.step.parts.emplace_back(kZeros);
}

void add_needless(DepartingCall& call) {
  const auto end = static_cast<std::uint32_t>(call.step.request.stream.size());
  if (is_small(call.step.limits) && read_list(call).empty())
    read_list(call).push_back({end, {call.header().xid, 0, 0}});
}

void halve(DepartingCall& call) {
  if (!is_small(call.step.limits) || !call.step.argument) return;
  wire::ReadSegment rest = read_list(call).back();
  const std::uint32_t half = rest.target.length / 8 * 4;
  read_list(call).back().target.length = half;
  rest.position += half;
  rest.target.offset += half;
  rest.target.length -= half;
  read_list(call).push_back(rest);
}

void lengthen(DepartingCall& call) {
  if (is_small(call.step.limits) && call.step.argument) read_list(call).back().target.length += 8;
}

void leave_roundup(DepartingCall& call) {
  const std::size_t item = call.step.request.item.size();
  if (call.step.argument && !call.is_long())
    call.step.parts.push_back(View(kZeros).first(wire::roundup4(item) - item));
}

/// Of an item in the Send the roundup is the last part.
void spoil_roundup(DepartingCall& call) {
  const std::size_t roundup = -call.step.request.item.size() % 4;
  std::vector<View>& parts = call.step.parts;
  const bool is_inline = is_small(call.step.limits) && !call.is_long() && !call.step.argument;
  if (is_inline && roundup > 0 && parts.back().size() == roundup)
    parts.back() = View(kLeftOver).first(roundup);
}

constexpr Deviation kCallArguments[] = {
    {.name = "chunk-lists-uncounted",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.3.2-1", "RFC8797-4.2-4"},
     .sentence = "Whether a call fits inline is decided without the octets of its chunk lists.",
     .client = {.form = leave_lists_uncounted}},
    {.name = "position-in-message",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.4.5-2"},
     .sentence = "With thresholds of 1024 octets positions count from the start of the Send.",
     .client = {.departure = count_from_header}},
    {.name = "position-unaligned",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.4.5-3"},
     .sentence = "The position of an item that needs roundup is one too high.",
     .client = {.departure = unalign}},
    {.name = "read-chunk-short",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.4.5.2-4", "RFC8166-3.4.4.1-2"},
     .sentence = "The read chunk of an item that needs roundup lacks the item's last octet.",
     .client = {.departure = shorten_last_segment}},
    {.name = "roundup-counted",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.4.5.2-2"},
     .sentence = "The roundup in a read chunk is counted in the item's length word.",
     .client = {.form = count_item_roundup}},
    {.name = "roundup-in-read-chunk",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.4.5.2-1"},
     .sentence = "Read chunks include roundup.",
     .client = {.form =
                    [](peer::FormStep& step) { step.request.wish.roundup_in_read_chunk = true; }}},
    {.name = "long-call-position-four",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.5.3-3", "RFC8166-3.5.3-9"},
     .sentence = "The last segment of a long call has position four.",
     .client = {.departure = move_last_segment}},
    {.name = "long-call-with-octets",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.5.3-2"},
     .sentence =
         "With thresholds of 1024 octets there are octets behind the header of a long call.",
     .client = {.departure = follow_long_call}},
    {.name = "long-call-cut",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.5.3-9"},
     .sentence = "The position-zero chunk lacks the last octet of its call.",
     .client = {.departure = cut_long_call}},
    {.name = "long-call-elsewhere",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.2.4-8"},
     .sentence = "The read chunk of a long call has position four.",
     .client = {.departure = move_long_call}},
    {.name = "two-read-chunks",
     .side = trace::Role::client,
     .breaks = {"RFC8267-6.4.2-2"},
     .sentence = "With thresholds of 1024 octets an argument comes as two read chunks.",
     .client = {.departure = halve}},
    {.name = "seventeen-segments",
     .side = trace::Role::client,
     .breaks = {"RFC8267-6.4.2-4"},
     .sentence = "With thresholds of 1024 octets chunks have seventeen segments.",
     .client = {.form = divide_into_seventeen}},
    {.name = "read-chunk-needless",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.3.1-2"},
     .sentence =
         "With thresholds of 1024 octets calls without an eligible argument have a read chunk.",
     .client = {.departure = add_needless}},
    {.name = "call-count-word-zero",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.4.4.1-1"},
     .sentence =
         "With thresholds of 1024 octets the count word of an item in a read chunk is zero.",
     .client = {.form = count_nothing}},
    {.name = "call-chunk-beyond-item",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.4.4.4-1"},
     .sentence =
         "With thresholds of 1024 octets a read chunk is eight octets longer than its item.",
     .client = {.departure = lengthen}},
    {.name = "call-roundup-not-zero",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4-3"},
     .sentence = "With thresholds of 1024 octets the roundup of an item in a Send is not zeros.",
     .client = {.departure = spoil_roundup}},
    {.name = "call-roundup-left-inline",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.4.4.4-2", "RFC8166-4-3"},
     .sentence = "The roundup of an item in a read chunk stays in the payload stream.",
     .client = {.departure = leave_roundup}},
};

}  // namespace

std::span<const Deviation> call_arguments_family() {
  return kCallArguments;
}

}  // namespace steertag::deviations
