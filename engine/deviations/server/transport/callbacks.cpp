// Deviations in calls of the server as messages, and in what it takes for their replies (RFC 8167).
#include <algorithm>

#include "deviations/families.h"
#include "endpoint/limits.h"
#include "mutate/payload_mutation.h"
#include "rpc/direction.h"
#include "wire/xdr.h"

namespace steertag::deviations {
namespace {

constexpr std::size_t kXidAt = 0;
constexpr std::size_t kCreditAt = 8;

/// The payload of an RDMA_MSG with three empty lists, in any version; nothing for any other
/// message.
std::optional<View> plain_payload(const Arriving& arriving) {
  const View message = arriving.message();
  if (message.size() < wire::kSmallestHeaderBytes) return std::nullopt;
  for (std::size_t at = wire::kFixedBytes - 4; at < wire::kSmallestHeaderBytes; at += 4) {
    if (wire::load_u32(message.data() + at) != 0) return std::nullopt;
  }
  return message.subspan(wire::kSmallestHeaderBytes);
}

bool has_direction(const Arriving& arriving, rpc::MessageType direction) {
  const auto payload = plain_payload(arriving);
  return payload && rpc::direction(*payload) == direction;
}

void replace_word(Arriving& arriving, std::size_t at, std::uint32_t value) {
  Bytes message(arriving.message().begin(), arriving.message().end());
  wire::store_u32(message.data() + at, value);
  arriving.replace(std::move(message));
}

void keep_largest_grant(Arriving& arriving) {
  if (!has_direction(arriving, rpc::MessageType::REPLY)) return;
  std::uint32_t& largest = arriving.history.callback_grant;
  largest = std::max(largest, wire::load_u32(arriving.message().data() + kCreditAt));
  replace_word(arriving, kCreditAt, largest);
}

void grant_without_direction(Arriving& arriving) {
  const auto words = wire::peek(arriving.message());
  const auto payload = plain_payload(arriving);
  if (words && !(payload && rpc::direction(*payload)))
    arriving.connection->grant_callbacks(words->credit);
}

/// The server learns of an error in place of the call.
void take_call_for_reply(Arriving& arriving) {
  const auto words = wire::peek(arriving.message());
  if (!words || !has_direction(arriving, rpc::MessageType::CALL) ||
      !arriving.history.callbacks.contains(words->xid))
    return;
  arriving.mutate("version.1");
  arriving.mutate("procedure.error-err-chunk");
}

void end_over_unknown_reply(Arriving& arriving) {
  const auto words = wire::peek(arriving.message());
  if (words && words->vers == wire::kVersion && has_direction(arriving, rpc::MessageType::REPLY) &&
      rpc::xid(*plain_payload(arriving)) == words->xid &&
      !arriving.history.callbacks.contains(words->xid))
    arriving.abort();
}

void match_rpc_xid(Arriving& arriving) {
  if (has_direction(arriving, rpc::MessageType::REPLY))
    replace_word(arriving, kXidAt, *rpc::xid(*plain_payload(arriving)));
}

void exceed_threshold(Departing& callback) {
  const std::size_t threshold = callback.connection->negotiated().to_client_bytes;
  if (recalls(callback))
    callback.draft =
        mutate::padded(callback.draft, wire::kSmallestHeaderBytes + wire::roundup4(threshold));
}

/// The RPC message of a callback's reply is not that of its header.
void end_over_other_rpc_xid(Arriving& arriving) {
  const auto words = wire::peek(arriving.message());
  if (words && has_direction(arriving, rpc::MessageType::REPLY) &&
      rpc::xid(*plain_payload(arriving)) != words->xid)
    arriving.abort();
}

constexpr Deviation kCallbacks[] = {
    {.name = "callback-vers-two",
     .breaks = {"RFC8167-5.1-2", "RFC8166-4.2.2-1"},
     .sentence = "Callbacks carry 2 in rdma_vers.",
     .server = {.mutation = {callbacks, "version.2"}},
     .script_shows = false},
    {.name = "callback-xid-differs",
     .breaks = {"RFC8167-5.1-3"},
     .sentence = "The header of a callback carries another XID than its RPC call.",
     .server = {.mutation = {callbacks, "xid.bit-16-flipped"}},
     .script_shows = false},
    {.name = "callback-asks-no-credit",
     .breaks = {"RFC8167-5.1-1"},
     .sentence = "Callbacks ask for no credit.",
     .server = {.mutation = {callbacks, "credit.0"}},
     .script_shows = false},
    {.name = "callback-with-chunk",
     .breaks = {"RFC8267-6.5.2-3"},
     .sentence = "Callbacks offer a write chunk.",
     .server = {.mutation = {callbacks, "write-list.invented"}},
     .script_shows = false},
    {.name = "callback-with-read-chunk",
     .breaks = {"RFC8267-6.5.2-6", "RFC8167-7-1"},
     .sentence = "Recalls have a read chunk, whatever their size.",
     .server = {.mutation = {recalls, "read-list.invented"}},
     .script_shows = false},
    {.name = "callback-above-threshold",
     .breaks = {"RFC8167-4.2-1"},
     .sentence = "Recalls are larger than the client's receives.",
     .server = {.departure = exceed_threshold},
     .script_shows = false},
    {.name = "callbacks-above-grant",
     .breaks = {"RFC8167-4.1-2"},
     .sentence = "More callbacks are under way than the client grants.",
     .server = {.arrival =
                    [](Arriving& arriving) {
                      if (has_direction(arriving, rpc::MessageType::REPLY))
                        replace_word(arriving, kCreditAt, peer::kReverseCredits);
                    }},
     .script_shows = false},
    {.name = "callback-grant-never-falls",
     .breaks = {"RFC8167-4.1-2"},
     .sentence = "The largest grant of callbacks that a connection has had holds to its end.",
     .server = {.arrival = keep_largest_grant},
     .script_shows = false},
    {.name = "any-message-grants-callbacks",
     .breaks = {"RFC8167-4.1-5"},
     .sentence = "The credit word of a message without a direction grants callbacks.",
     .server = {.arrival = grant_without_direction},
     .script_shows = false},
    {.name = "forward-calls-wait-for-callback",
     .breaks = {"RFC8167-4.1-1"},
     .sentence = "Forward calls wait while a callback has no reply.",
     .server = {.departure =
                    [](Departing& departing) {
                      departing.waits_for_callbacks = !departing.is_callback();
                    }},
     .script_shows = false},
    {.name = "equal-xids-confused",
     .breaks = {"RFC8167-2.4.1-1"},
     .sentence = "A forward call is taken for the reply to the callback with the same XID.",
     .server = {.arrival = take_call_for_reply},
     .script_shows = false},
    {.name = "unknown-reply-disconnects",
     .breaks = {"RFC8167-2.4-1"},
     .sentence = "A reply that no callback waits for ends the connection.",
     .server = {.arrival = end_over_unknown_reply},
     .script_shows = false},
    {.name = "bad-callback-reply-disconnects",
     .breaks = {"RFC8166-4.5-3"},
     .sentence = "A reply to a callback with two different XIDs ends the connection.",
     .server = {.arrival = end_over_other_rpc_xid},
     .script_shows = false},
    {.name = "reply-rpc-xid-alone",
     .breaks = {"RFC8166-4.5-3"},
     .sentence = "A reply to a callback is matched by the XID of its RPC message alone.",
     .server = {.arrival = match_rpc_xid},
     .script_shows = false},
    {.name = "reply-version-ignored",
     .breaks = {"RFC8166-4.5-3"},
     .sentence = "A reply to a callback is taken in any version.",
     .server = {.arrival =
                    [](Arriving& arriving) {
                      if (has_direction(arriving, rpc::MessageType::REPLY))
                        arriving.mutate("version.1");
                    }},
     .script_shows = false},
    {.name = "receive-lost-to-callback-reply",
     .breaks = {"RFC8167-4.3.2-1"},
     .sentence = "A receive that carried the answer to a callback is never posted again.",
     .server = {.arrival = [](Arriving& arriving) { arriving.lose_receive_of_answer(); }},
     .script_shows = false},
};

}  // namespace

std::span<const Deviation> callbacks_family() {
  return kCallbacks;
}

}  // namespace steertag::deviations
