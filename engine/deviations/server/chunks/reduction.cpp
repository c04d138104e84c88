// Deviations in which results of a reply go to write chunks, and what stays in the payload stream.
#include <algorithm>
#include <memory>

#include "deviations/families.h"
#include "wire/xdr.h"

namespace steertag::deviations {
namespace {

using Item = peer::ReplyPayload::Item;

constexpr std::size_t kStatusEnd = 28;  // RPC reply header and status word

std::size_t chunks_of(const peer::ReplyStep& reply) {
  return reply.header ? reply.header->write_list.size() : 0;
}

std::uint64_t room_for(const peer::ReplyStep& reply, std::size_t item) {
  return item < chunks_of(reply) ? wire::chunk_length(reply.header->write_list[item]) : 0;
}

/// Items whose write chunk can take them, by their number.
template <class Change>
void each_reduced(peer::ReplyStep& reply, Change&& change) {
  const std::size_t most = std::min(chunks_of(reply), reply.reply.items().size());
  for (std::size_t i = 0; i < most; ++i) {
    const Item& item = reply.reply.items()[i];
    if (!item.reduced && item.length > 0 && room_for(reply, i) >= item.length) change(i);
  }
}

/// The stream has `octets` more, or less, before all items from this one on.
void shift_items(peer::ReplyPayload& payload, std::size_t from, std::ptrdiff_t octets) {
  for (std::size_t i = from; i < payload.items().size(); ++i)
    payload.items()[i].at += static_cast<std::size_t>(octets);
}

std::ptrdiff_t place(const Item& item) {
  return static_cast<std::ptrdiff_t>(item.at);
}

void insert_before(peer::ReplyPayload& payload, std::size_t item, View octets) {
  payload.stream().insert(payload.stream().begin() + place(payload.items()[item]), octets.begin(),
                          octets.end());
  shift_items(payload, item + 1, static_cast<std::ptrdiff_t>(octets.size()));
}

Bytes take_count_word(peer::ReplyPayload& payload, std::size_t item) {
  const auto end = payload.stream().begin() + place(payload.items()[item]);
  Bytes word(end - 4, end);
  payload.stream().erase(end - 4, end);
  shift_items(payload, item, -4);
  return word;
}

/// Items from this one on become octets of the stream.
void leave_inline(peer::ReplyPayload& payload, std::size_t from) {
  while (payload.items().size() > from) {
    std::vector<View> parts;
    payload.item_parts(payload.items()[from], parts);
    Bytes octets;
    for (const View part : parts) octets.insert(octets.end(), part.begin(), part.end());
    octets.resize(wire::roundup4(octets.size()));
    insert_before(payload, from, octets);
    payload.items().erase(payload.items().begin() + static_cast<std::ptrdiff_t>(from));
  }
}

/// A result that is not there uses up the write chunk of this number.
void pass_over(peer::ReplyPayload& payload, std::size_t chunk) {
  std::vector<Item>& items = payload.items();
  if (chunk > items.size()) return;
  const std::size_t at = chunk < items.size() ? items[chunk].at : payload.stream().size();
  items.insert(items.begin() + static_cast<std::ptrdiff_t>(chunk), Item{at, 0, 0, 0, true});
}

void cut_to_room(peer::ReplyStep& reply) {
  const std::size_t most = std::min(chunks_of(reply), reply.reply.items().size());
  for (std::size_t i = 0; i < most; ++i) {
    Item& item = reply.reply.items()[i];
    std::uint64_t left = room_for(reply, i);
    if (reply.header->write_list[i].empty() || left >= item.length) continue;
    item.length = static_cast<std::uint32_t>(left);
    for (std::size_t slice = 0; slice < item.slice_count; ++slice) {
      View& octets = reply.reply.slices()[item.first_slice + slice].bytes;
      octets = octets.first(std::min<std::uint64_t>(octets.size(), left));
      left -= octets.size();
    }
  }
}

void reduce_ineligible(peer::ReplyStep& reply) {
  Bytes& stream = reply.reply.stream();
  if (!reply.rdma || !reply.reply.items().empty() || stream.size() <= kStatusEnd) return;
  auto owned = std::make_shared<Bytes>(stream.begin() + kStatusEnd, stream.end());
  stream.resize(kStatusEnd);
  const std::size_t first = reply.reply.slices().size();
  reply.reply.slices().push_back({View(*owned), owned});
  reply.reply.add_item(first, static_cast<std::uint32_t>(owned->size()));
}

void move_count_word(peer::ReplyStep& reply) {
  each_reduced(reply, [&](std::size_t i) {
    peer::ReplyPayload& payload = reply.reply;
    if (room_for(reply, i) < std::uint64_t{payload.items()[i].length} + 4) return;
    auto word = std::make_shared<Bytes>(take_count_word(payload, i));
    Item& item = payload.items()[i];
    std::vector<peer::Slice> slices{{View(*word), word}};
    for (std::size_t slice = 0; slice < item.slice_count; ++slice)
      slices.push_back(payload.slices()[item.first_slice + slice]);
    item.first_slice = payload.slices().size();
    item.slice_count = slices.size();
    item.length += 4;
    payload.slices().insert(payload.slices().end(), slices.begin(), slices.end());
  });
}

void leave_tail_inline(peer::ReplyStep& reply) {
  each_reduced(reply, [&](std::size_t i) {
    Item& item = reply.reply.items()[i];
    View& last = reply.reply.slices()[item.first_slice + item.slice_count - 1].bytes;
    if (item.length <= 4 || last.size() < 4) return;
    const Bytes tail(last.end() - 4, last.end());
    last = last.first(last.size() - 4);
    item.length -= 4;
    insert_before(reply.reply, i, tail);
  });
}

void leave_roundup_inline(peer::ReplyStep& reply) {
  each_reduced(reply, [&](std::size_t i) {
    const std::uint32_t length = reply.reply.items()[i].length;
    insert_before(reply.reply, i, Bytes(wire::roundup4(length) - length));
  });
}

void swallow_results(peer::ReplyStep& reply) {
  const std::size_t most = std::min(chunks_of(reply), reply.reply.items().size());
  for (std::size_t i = 0; i < most; ++i) {
    if (reply.header->write_list[i].empty()) reply.reply.items()[i].reduced = true;
  }
}

void pass_over_empty_chunks(peer::ReplyStep& reply) {
  for (std::size_t i = 0; i < chunks_of(reply); ++i) {
    if (reply.header->write_list[i].empty()) pass_over(reply.reply, i);
  }
}

void refuse_results_beyond_list(peer::ReplyStep& reply) {
  const std::size_t chunks = chunks_of(reply);
  if (chunks > 0 && chunks < reply.reply.items().size()) reply.outcome = peer::Outcome::chunk_error;
}

void ignore_write_chunks(peer::ReplyStep& reply) {
  if (chunks_of(reply) > 0) leave_inline(reply.reply, 0);
}

constexpr Deviation kReduction[] = {
    {.name = "write-chunk-ignored",
     .breaks = {"RFC8166-4.3.2-3", "RFC8267-6.1-3"},
     .sentence = "Eligible results are sent inline although a write chunk was offered.",
     .server = {.reply = ignore_write_chunks}},
    {.name = "data-server-chunk-ignored",
     .breaks = {"RFC8267-6.4.1-4"},
     .sentence = "A data server sends the data of READ inline although a write chunk was offered.",
     .server = {.reply = ignore_write_chunks},
     .script_shows = false,
     .at_data_servers = true},
    {.name = "small-write-chunk-cut",
     .breaks = {"RFC8166-3.4.6.2-3", "RFC8166-4.3.2.3-2"},
     .sentence = "A result that is larger than its write chunk is cut off.",
     .server = {.reply = cut_to_room}},
    {.name = "data-server-chunk-cuts-result",
     .breaks = {"RFC8267-3.1-1"},
     .sentence = "A data server cuts off a result that is larger than its write chunk.",
     .server = {.reply = cut_to_room},
     .script_shows = false,
     .at_data_servers = true},
    {.name = "reduces-ineligible-result",
     .breaks = {"RFC8166-3.4.2-2", "RFC8267-4-5"},
     .sentence = "Results that are not eligible are placed in an offered write chunk.",
     .server = {.reply = reduce_ineligible}},
    {.name = "length-word-removed",
     .breaks = {"RFC8166-3.4.4.1-1"},
     .sentence = "The count of a reduced result is removed from the payload stream.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      each_reduced(reply,
                                   [&](std::size_t i) { (void)take_count_word(reply.reply, i); });
                    }}},
    {.name = "count-word-in-chunk",
     .breaks = {"RFC8166-3.4.4.4-1"},
     .sentence = "The count word of a reduced result is moved into its write chunk too.",
     .server = {.reply = move_count_word},
     .script_shows = false},
    {.name = "roundup-left-inline",
     .breaks = {"RFC8166-3.4.4.4-2"},
     .sentence = "The roundup of a reduced result stays in the payload stream.",
     .server = {.reply = leave_roundup_inline},
     .script_shows = false},
    {.name = "item-tail-left-inline",
     .breaks = {"RFC8166-3.4.4.1-2", "RFC8166-4.3.2-3"},
     .sentence = "The last four octets of a reduced result stay in the payload stream.",
     .server = {.reply = leave_tail_inline},
     .script_shows = false},
    {.name = "empty-chunk-swallows-result",
     .breaks = {"RFC8166-4.3.2.3-2"},
     .sentence = "A result whose write chunk is empty is left out.",
     .server = {.reply = swallow_results},
     .script_shows = false},
    {.name = "write-chunks-shifted",
     .breaks = {"RFC8267-6.4.1-3", "RFC8166-4.3.2.1-2"},
     .sentence = "The first of several write chunks is passed over.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      if (chunks_of(reply) > 1) pass_over(reply.reply, 0);
                    }},
     .script_shows = false},
    {.name = "empty-chunk-passed-over",
     .breaks = {"RFC8267-6.4.1-5"},
     .sentence = "An empty write chunk uses up no result.",
     .server = {.reply = pass_over_empty_chunks},
     .script_shows = false},
    {.name = "results-beyond-list-refused",
     .breaks = {"RFC8267-6.4.1-7"},
     .sentence = "A COMPOUND with more results than write chunks is answered with ERR_CHUNK.",
     .server = {.reply = refuse_results_beyond_list},
     .script_shows = false},
    {.name = "second-write-chunk-ignored",
     .breaks = {"RFC8267-6.4.1-4"},
     .sentence = "Only the first write chunk is used.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      if (chunks_of(reply) > 1) leave_inline(reply.reply, 1);
                    }},
     .script_shows = false},
};

}  // namespace

std::span<const Deviation> reduction_family() {
  return kReduction;
}

}  // namespace steertag::deviations
