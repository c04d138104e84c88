// One call of the requester.
#include "client/rdma/outgoing_call.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "nfs/eligible_items.h"
#include "rpc/direction.h"
#include "wire/xdr.h"

namespace steertag::peer {
namespace {

constexpr std::array<std::byte, 4> kZeros{};

/// Divides `length` octets of a region from `from` on into `count` segments of about equal length.
std::vector<wire::Segment> divide(const fabric::Region& region, std::size_t length,
                                  std::uint32_t count, std::size_t from = 0) {
  std::vector<wire::Segment> segments;
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::size_t share = (length - at + (count - i) - 1) / (count - i);
    segments.push_back(
        {region.stag(), static_cast<std::uint32_t>(share), region.base() + from + at});
    at += share;
  }
  return segments;
}

std::vector<std::uint32_t> chunk_lengths(const wire::Header& header) {
  std::vector<std::uint32_t> lengths;
  for (std::size_t chunk = 0; chunk < header.write_list.size(); ++chunk)
    lengths.push_back(static_cast<std::uint32_t>(wire::chunk_length(header.write_list[chunk])));
  return lengths;
}

void copy(std::span<const View> parts, MutableView to) {
  std::size_t at = 0;
  for (const View part : parts) {
    if (part.empty()) continue;  // memcpy takes no null pointer, whatever the length
    std::memcpy(to.data() + at, part.data(), part.size());
    at += part.size();
  }
}

bool same_but_lengths(std::span<const wire::Segment> offered,
                      std::span<const wire::Segment> returned) {
  return std::equal(offered.begin(), offered.end(), returned.begin(), returned.end(),
                    [](const wire::Segment& a, const wire::Segment& b) {
                      return a.handle == b.handle && a.offset == b.offset && b.length <= a.length;
                    });
}

CallError bad(std::string detail) {
  return {CallErrc::bad_reply, std::move(detail)};
}

}  // namespace

OutgoingCall::OutgoingCall(std::uint32_t xid, Request request, CallCallback callback,
                           ReplyPolicy policy)
    : policy_(policy), xid_(xid), request_(std::move(request)), callback_(std::move(callback)) {
  request_.wish.segments =
      std::clamp(request_.wish.segments, std::uint32_t{1}, kMostRequestSegments);
  wire::store_u32(request_.stream.data(), xid_);
}

void OutgoingCall::show_request(ClientInterposer& interposer) {
  const std::uint32_t now = attempts + retries;
  if (shown_ == now) return;
  RequestStep step{request_, shown_.has_value()};
  interposer.on_request(step);
  shown_ = now;
}

void OutgoingCall::show_departure(ClientInterposer& interposer, const wire::Negotiated& limits) {
  CallDeparture departure{request_, limits, header_, parts_, argument_ ? &*argument_ : nullptr};
  interposer.on_departure(departure);
  behind_ = std::move(departure.behind);
  if (departure.header_octets) header_bytes_ = std::move(*departure.header_octets);
}

bool OutgoingCall::offer_result(const CallMemory& memory, const CallForm& form,
                                fabric::Rights writable) {
  if (form.write_chunk && form.write_chunk_bytes == 0) header_.write_list.open();
  if (form.write_chunk && form.write_chunk_bytes > 0) {
    // The server writes all that its reply counts, and cannot read. Zeros would cost as much as the
    // data. A call that is made again gets zeros. The memory may hold its earlier result, which
    // would hide a server that writes nothing now.
    const bool again = attempts + retries > 0 || writable.remote_read;
    result_ =
        memory.acquire(form.write_chunk_bytes, writable, again ? Contents::zeros : Contents::any);
    if (!result_) return false;
    const auto add = [&](std::size_t length, std::size_t from) {
      header_.write_list.add(divide(*result_, length, request_.wish.segments, from));
    };
    std::size_t from = 0;
    for (const std::size_t length : request_.results)
      add(length, std::exchange(from, from + length));
    if (request_.results.empty()) add(form.write_chunk_bytes, 0);
  }
  if (form.reply_chunk) {
    reply_ = memory.acquire(form.reply_chunk_bytes, writable);
    if (!reply_) return false;
    header_.has_reply_chunk = true;
    header_.reply_chunk = divide(*reply_, form.reply_chunk_bytes, request_.wish.segments);
  }
  const bool is_inline = !form.write_chunk && !form.reply_chunk && request_.reply.eligible > 0 &&
                         request_.results.empty();
  // Without memory the data comes as any inline reply's.
  if (memory.pre_posts && is_inline)
    pre_posted_ = memory.pool.acquire(request_.reply.eligible, {}, nullptr, Contents::any,
                                      Registration::cached);
  return true;
}

bool OutgoingCall::offer_arguments(const CallMemory& memory, const CallForm& form) {
  const fabric::Rights readable{true, false};
  const View stream = request_.stream;
  const std::size_t roundup = wire::roundup4(request_.item.size()) - request_.item.size();
  std::vector<View> inline_parts{stream};
  if (!form.read_chunk && request_.has_item) {
    inline_parts.push_back(request_.item);
    inline_parts.push_back(View(kZeros).first(roundup));
  }
  const auto list = [&](std::uint32_t position, const fabric::Region& region, std::size_t length) {
    for (const wire::Segment& segment : divide(region, length, request_.wish.segments))
      header_.read_list.push_back({position, segment});
  };
  if (form.long_call) {
    std::size_t length = 0;
    for (const View part : inline_parts) length += part.size();
    position_zero_ = memory.acquire(length, readable);
    if (!position_zero_) return false;
    copy(inline_parts, position_zero_->bytes());
    list(0, *position_zero_, length);
    inline_parts.clear();
  }
  if (form.read_chunk) {
    // RFC 8166 3.4.5.2: roundup may be part of the chunk, then it is zeros.
    const std::size_t length =
        request_.item.size() + (request_.wish.roundup_in_read_chunk ? roundup : 0);
    argument_ = memory.acquire(length, readable);
    if (!argument_) return false;
    const View item[] = {request_.item, View(kZeros).first(length - request_.item.size())};
    copy(item, argument_->bytes());
    list(static_cast<std::uint32_t>(stream.size()), *argument_, length);
  }
  parts_.insert(parts_.end(), inline_parts.begin(), inline_parts.end());
  return true;
}

Expected<void, CallErrc> OutgoingCall::marshal(const CallMemory& memory,
                                               const wire::Negotiated& limits,
                                               std::uint32_t credits,
                                               ClientInterposer* interposer) {
  release_memory();
  remotely_invalidated = false;
  if (interposer) show_request(*interposer);
  const CallSize size{request_.stream.size(), request_.has_item, request_.item.size(),
                      request_.reply, std::max<std::size_t>(request_.results.size(), 1)};
  CallForm form = choose_form(size, request_.wish, limits);
  fabric::Rights writable{false, true};
  if (interposer) {
    FormStep step{request_, form, writable, limits, retries};
    interposer->on_form(step);
  }
  if (!form.possible) return tl::unexpected(CallErrc::too_large);
  header_.clear();
  header_.xid = xid_;
  header_.credit = credits;
  header_.proc = form.long_call ? wire::Procedure::nomsg : wire::Procedure::msg;
  parts_.clear();
  parts_.emplace_back();
  if (!offer_result(memory, form, writable) || !offer_arguments(memory, form)) {
    release_memory();
    return tl::unexpected(CallErrc::no_memory);
  }
  header_bytes_.clear();
  if (interposer) show_departure(*interposer, limits);
  if (header_bytes_.empty()) wire::encode(header_, header_bytes_);
  parts_.front() = header_bytes_;
  return {};
}

bool OutgoingCall::owns(std::uint32_t stag) const {
  const auto is = [&](const PooledRegion& region) { return region && region->stag() == stag; };
  return is(argument_) || is(position_zero_) || is(result_) || is(reply_);
}

void OutgoingCall::rename(std::uint32_t xid) {
  xid_ = xid;
  wire::store_u32(request_.stream.data(), xid_);
}

void OutgoingCall::leave_memory(std::vector<PooledRegion>& open) {
  for (PooledRegion* region : regions()) {
    if (*region) open.push_back(std::move(*region));
  }
}

void OutgoingCall::leave_position_zero(std::vector<PooledRegion>& open) {
  if (position_zero_) open.push_back(std::move(position_zero_));
}

void OutgoingCall::leave_reply_chunk(std::vector<PooledRegion>& open) {
  if (reply_) open.push_back(std::move(reply_));
}

void OutgoingCall::close_memory() {
  for (PooledRegion* region : regions()) {
    if (*region) (*region)->invalidate();
  }
}

void OutgoingCall::release_memory() {
  for (PooledRegion* region : regions()) region->release();
}

std::optional<CallError> OutgoingCall::check_echo(const wire::Header& header) const {
  // RFC 8166 3.4.6, 4.3.3: the chunks of the call, with other lengths.
  if (header.write_list.size() != header_.write_list.size())
    return bad("the write list has another number of chunks than in the call");
  for (std::size_t chunk = 0; chunk < header.write_list.size(); ++chunk) {
    if (!same_but_lengths(header_.write_list[chunk], header.write_list[chunk]))
      return bad("a write chunk came back with other segments");
  }
  if (header.has_reply_chunk != header_.has_reply_chunk ||
      !same_but_lengths(header_.reply_chunk, header.reply_chunk))
    return bad("the reply chunk came back with other segments");
  if (header.proc == wire::Procedure::msg && wire::chunk_length(header.reply_chunk) > 0)
    return bad("RDMA_MSG with a used reply chunk");
  return std::nullopt;
}

std::optional<CallError> OutgoingCall::check_item(const wire::Header& header, CallReply& reply) {
  const std::uint64_t placed =
      header.write_list.empty() ? 0 : wire::chunk_length(header.write_list[0]);
  if (!reply.rpc.success())
    return placed > 0 ? std::optional(bad("an RPC error with a used write chunk")) : std::nullopt;
  const auto items = nfs::eligible_results(reply.payload, request_.program, request_.version,
                                           request_.procedure, chunk_lengths(header));
  const bool empty = items.empty() || items.front().absent || items.front().length == 0;
  if (empty && !policy_.refuses_ineligible) return std::nullopt;
  if (items.empty() || items.front().absent) {
    // RFC 8166 6.1: only the eligible result may be there.
    if (placed > 0) return bad("a write chunk was used for a result that is not eligible");
    return std::nullopt;
  }
  const nfs::EligibleItem* const item = &items.front();
  if (!result_) return std::nullopt;
  // RFC 8166 6.1: with a write chunk on offer an eligible result must not be inline.
  if (item->length > 0 && placed == 0 && !policy_.refuses_inline) return std::nullopt;
  if (item->length > 0 && placed == 0)
    return bad("an eligible result came inline although a write chunk was offered");
  // RFC 8166 3.4.6.2: exactly as long as the item.
  if (placed != item->length && policy_.compares_length)
    return bad("the write chunk holds " + std::to_string(placed) + " octets, the result has " +
               std::to_string(item->length));
  reply.item_reduced = true;
  const std::uint64_t taken =
      policy_.compares_length ? item->length : wire::chunk_length(header_.write_list[0]);
  reply.item = View(result_->bytes()).first(std::min<std::size_t>(taken, result_->bytes().size()));
  return std::nullopt;
}

std::optional<CallError> OutgoingCall::check_items(const wire::Header& header,
                                                   CallReply& reply) const {
  const std::vector<std::uint32_t> placed = chunk_lengths(header);
  if (!reply.rpc.success()) {
    const bool used = std::ranges::any_of(placed, [](std::uint32_t length) { return length > 0; });
    return used ? std::optional(bad("an RPC error with a used write chunk")) : std::nullopt;
  }
  const auto items = nfs::eligible_results(reply.payload, request_.program, request_.version,
                                           request_.procedure, placed);
  if (items.size() != request_.results.size() || items.size() != placed.size())
    return bad("another number of results than was asked for");
  std::size_t from = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::uint64_t length = items[i].absent ? 0 : items[i].length;
    // RFC 8166 3.4.6.2, 6.1: with its write chunk the result is there, and nowhere else.
    if (placed[i] != length)
      return bad("write chunk " + std::to_string(i) + " holds " + std::to_string(placed[i]) +
                 " octets, its result has " + std::to_string(length));
    reply.items.push_back(View(result_->bytes()).subspan(from, placed[i]));
    from += request_.results[i];
  }
  reply.item_reduced = true;
  return std::nullopt;
}

fabric::Placement OutgoingCall::place(View payload) {
  if (!pre_posted_ || rpc::xid(payload) != xid_) return {};
  const auto length = static_cast<std::uint32_t>(request_.reply.eligible);
  const auto items = nfs::eligible_results(payload, request_.program, request_.version,
                                           request_.procedure, {&length, 1});
  const bool whole = !items.empty() && !items.front().absent && items.front().length == length;
  if (!whole) return {};
  return {items.front().position, pre_posted_->bytes().first(length)};
}

std::optional<CallError> OutgoingCall::check_placed(View data, CallReply& reply) {
  const auto length = static_cast<std::uint32_t>(data.size());
  const auto items = nfs::eligible_results(reply.payload, request_.program, request_.version,
                                           request_.procedure, {&length, 1});
  const bool whole = items.size() == 1 && !items.front().absent && items.front().length == length &&
                     items.front().position == reply.payload.size();
  if (!whole) return bad("data was placed that the whole reply does not have");
  reply.item_reduced = true;
  reply.item = data;
  return std::nullopt;
}

std::optional<Expected<CallReply, CallError>> OutgoingCall::accept(const wire::Header& header,
                                                                   View payload, bool closes_memory,
                                                                   std::optional<View> placed) {
  const auto broken = policy_.compares_segments ? check_echo(header) : std::nullopt;
  const bool is_long = header.proc == wire::Procedure::nomsg;
  if (is_long && (!reply_ || wire::chunk_length(header.reply_chunk) == 0)) return std::nullopt;
  if (!is_long && rpc::xid(payload) != xid_) return std::nullopt;
  if (closes_memory) close_memory();
  if (broken) return tl::unexpected(*broken);
  CallReply reply;
  reply.header = &header;
  reply.remotely_invalidated = remotely_invalidated;
  reply.payload = payload;
  if (is_long) {
    const View room = reply_->bytes();
    // No longer than the room, unless the segments were not compared.
    reply.payload =
        room.first(std::min<std::uint64_t>(wire::chunk_length(header.reply_chunk), room.size()));
  }
  wire::Reader reader(reply.payload);
  reply.rpc.decode(reader);
  if (!reader.ok() || reply.rpc.xid != xid_)
    return tl::unexpected(bad(reader.ok() ? "the RPC reply has another XID"
                                          : "the RPC reply header: " + reader.fault().message()));
  reply.results = reader.rest();
  const bool has_items = !request_.results.empty() && result_;
  const auto fault = placed      ? check_placed(*placed, reply)
                     : has_items ? check_items(header, reply)
                                 : check_item(header, reply);
  if (fault) return tl::unexpected(*fault);
  return reply;
}

}  // namespace steertag::peer
