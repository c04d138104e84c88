// Deviations of the client: how many receives it posts, and how large they are (RFC 8167 4.3.1).
#include <algorithm>

#include "deviations/families.h"

namespace steertag::deviations {
namespace {

/// More than a use of the files of a test has calls under way.
constexpr std::uint32_t kFewReceives = 8;
/// One for a call of the server, and one for a reply.
constexpr std::uint32_t kFewReceivesAgain = 2;
/// The calls of a client of NFS version 4.1 up to its session: EXCHANGE_ID and CREATE_SESSION.
constexpr std::uint64_t kCallsToSession = 2;

using Receive = peer::ClientArrival::Receive;

void post_few(peer::ConnectStep& step) {
  step.endpoint.receives = kFewReceives;
}

void post_for_replies(peer::ConnectStep& step) {
  step.endpoint.receives = step.credits + peer::kSpareReceives;
}

void hold_of_calls(ArrivingMessage& arriving) {
  if (is_server_call(arriving)) arriving.step.receive = Receive::hold;
}

void post_few_again(peer::ConnectStep& step) {
  if (step.number > 1) step.endpoint.receives = kFewReceivesAgain;
}

void drop_of_calls(ArrivingMessage& arriving) {
  if (arriving.history.connection > 1 && is_server_call(arriving))
    arriving.step.receive = Receive::drop;
}

void post_one(peer::ConnectStep& step) {
  if (step.number == 1) step.endpoint.receives = 1;
}

void post_rest(ArrivingMessage& arriving) {
  if (arriving.history.connection > 1) return;
  hold_of_calls(arriving);
  const auto decoded = decode(arriving.message());
  const bool ends = decoded && decoded->is_reply() && arriving.history.find(decoded->header.xid);
  if (ends && arriving.history.ended + 1 == kCallsToSession)
    arriving.step.more_receives =
        peer::kDefaultCredits + peer::kSpareReceives + peer::kReverseGrant;
}

void post_none_late(peer::ConnectStep& step) {
  constexpr std::uint64_t kMost = 64;
  if (step.number > kMost) step.endpoint.receives = 0;
}

void post_fewer(peer::ConnectStep& step) {
  std::uint32_t& receives = step.endpoint.receives;
  receives -= static_cast<std::uint32_t>(std::min<std::uint64_t>(receives, step.refused));
}

void post_small(peer::ConnectStep& step) {
  step.endpoint.announced.receive_bytes = 1024;
  step.endpoint.receive_bytes = 1000;
}

/// Whether the client has to discard the message: it ends no call, and is no call of the server.
bool is_useless(const ArrivingMessage& arriving) {
  if (is_server_call(arriving)) return false;
  const auto decoded = decode(arriving.message());
  return !decoded || !arriving.history.find(decoded->header.xid);
}

/// Whether or not it decodes.
bool is_unexpected_nomsg(const ArrivingMessage& arriving) {
  const auto words = wire::peek(arriving.message());
  return words && has_procedure(arriving, wire::Procedure::nomsg) &&
         !arriving.history.find(words->xid);
}

void disconnect_over_row(ArrivingMessage& arriving) {
  constexpr std::uint32_t kMost = 3;
  std::uint32_t& calls = arriving.history.calls_in_row;
  calls = is_server_call(arriving) ? calls + 1 : 0;
  if (calls > kMost) arriving.disconnect();
}

template <bool (*kIs)(const ArrivingMessage&)>
void drop_of(ArrivingMessage& arriving) {
  if (kIs(arriving)) arriving.step.receive = Receive::drop;
}

constexpr Deviation kReceives[] = {
    {.name = "few-receives",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.3.1-10"},
     .sentence = "Eight receives are posted, and again only when no call is under way.",
     .client = {.connect = post_few,
                .arrival =
                    [](ArrivingMessage& arriving) { arriving.step.receive = Receive::hold; }}},
    {.name = "receives-for-replies-only",
     .side = trace::Role::client,
     .breaks = {"RFC8167-4.3.1-1"},
     .sentence = "There are no receives for calls of the server, which use those for replies.",
     .client = {.connect = post_for_replies, .arrival = hold_of_calls}},
    {.name = "few-receives-after-reconnect",
     .side = trace::Role::client,
     .breaks = {"RFC8167-4.3.1-2"},
     .sentence = "On later connections there are two receives; a call of the server uses one up.",
     .client = {.connect = post_few_again, .arrival = drop_of_calls}},
    {.name = "receives-come-with-session",
     .side = trace::Role::client,
     .breaks = {"RFC8167-6-2"},
     .sentence = "The first connection has one receive until two calls were answered.",
     .client = {.connect = post_one, .arrival = post_rest}},
    {.name = "receives-end-with-connections",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.3.1-10"},
     .sentence = "From the 65th connection on no receives are posted.",
     .client = {.connect = post_none_late}},
    {.name = "receives-lost-to-rejections",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.3.1-10"},
     .sentence = "Each connection that does not come up leaves a receive less to those behind it.",
     .client = {.connect = post_fewer}},
    {.name = "receive-lost-to-discarded",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.3.1-10"},
     .sentence = "A receive that carried a message without use is never posted again.",
     .client = {.arrival = drop_of<is_useless>}},
    {.name = "receive-lost-to-duplicate",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.3.1-10"},
     .sentence = "A receive that carried a reply no call waits for is never posted again.",
     .client = {.arrival = drop_of<is_unexpected>}},
    {.name = "receive-lost-to-nomsg",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.3.1-10"},
     .sentence = "A receive that carried RDMA_NOMSG no call waits for is never posted again.",
     .client = {.arrival = drop_of<is_unexpected_nomsg>}},
    {.name = "receive-lost-to-callback",
     .side = trace::Role::client,
     .breaks = {"RFC8167-4.3.1-1"},
     .sentence = "A receive that carried a call of the server is never posted again.",
     .client = {.arrival = drop_of<is_server_call>}},
    {.name = "callbacks-in-row-disconnect",
     .side = trace::Role::client,
     .breaks = {"RFC8167-4.3.1-1"},
     .sentence = "The fourth call of the server in a row ends the connection.",
     .client = {.arrival = disconnect_over_row}},
    {.name = "receives-below-1024",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.3.3-5"},
     .sentence = "1024 octets are announced, and receives have 1000.",
     .client = {.connect = post_small}},
};

}  // namespace

std::span<const Deviation> receives_family() {
  return kReceives;
}

}  // namespace steertag::deviations
