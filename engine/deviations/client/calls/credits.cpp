// Deviations of the client: which grant of credits it assumes, and what it requests.
// RFC 8166 3.3.1.
#include <algorithm>

#include "deviations/families.h"

namespace steertag::deviations {
namespace {

void grant_of_discarded(ArrivingMessage& arriving) {
  const auto words = wire::peek(arriving.message());
  if (words && !decode(arriving.message())) arriving.step.grant = words->credit;
}

void grant_of_call(ArrivingMessage& arriving) {
  const auto decoded = decode(arriving.message());
  if (decoded && decoded->is_call()) arriving.step.grant = decoded->header.credit;
}

/// RFC 8167 4.1: of a message that does not say whether it is a call or a reply.
void grant_of_undirected(ArrivingMessage& arriving) {
  const auto words = wire::peek(arriving.message());
  if (!words) return;
  const auto decoded = decode(arriving.message());
  const bool directed =
      decoded && decoded->header.proc == wire::Procedure::msg && rpc::direction(decoded->payload);
  if (!directed) arriving.step.grant = words->credit;
}

void open_window(ArrivingMessage& arriving) {
  constexpr std::uint32_t kOneMore = 3;  // one is in reserve
  if (arriving.step.granted == 1) arriving.step.grant = kOneMore;
}

/// The client sees a grant of all credits that it asks for.
void grant_all(ArrivingMessage& arriving) {
  auto decoded = decode(arriving.message());
  if (!decoded || !decoded->is_reply()) return;
  decoded->header.credit = peer::kMostCredits;
  Bytes message;
  wire::encode(decoded->header, message);
  message.insert(message.end(), decoded->payload.begin(), decoded->payload.end());
  arriving.replace(std::move(message));
}

/// The client sees no grant below the one before.
void keep_largest_grant(ArrivingMessage& arriving) {
  auto decoded = decode(arriving.message());
  if (!decoded || !decoded->is_reply()) return;
  decoded->header.credit = std::max(decoded->header.credit, arriving.step.granted);
  Bytes message;
  wire::encode(decoded->header, message);
  message.insert(message.end(), decoded->payload.begin(), decoded->payload.end());
  arriving.replace(std::move(message));
}

constexpr Deviation kCredits[] = {
    {.name = "discarded-grant-used",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.3.3-4"},
     .sentence = "The grant of a message that does not decode counts.",
     .client = {.arrival = grant_of_discarded}},
    {.name = "reverse-credit-taken",
     .side = trace::Role::client,
     .breaks = {"RFC8167-4.1-1"},
     .sentence = "The credit word of a call of the other direction counts as grant.",
     .client = {.arrival = grant_of_call}},
    {.name = "undirected-credit-taken",
     .side = trace::Role::client,
     .breaks = {"RFC8167-4.1-5"},
     .sentence = "The credit word of a message without a direction counts as grant.",
     .client = {.arrival = grant_of_undirected}},
    {.name = "invalid-reply-opens-window",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.3.3-4"},
     .sentence = "After any first message there is a credit more.",
     .client = {.arrival = open_window}},
    {.name = "grant-ignored",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.3.1-4"},
     .sentence = "As many calls are under way as were asked for, whatever is granted.",
     .client = {.up = [](peer::UpStep& step, ClientHistory&) { step.grant = peer::kMostCredits; },
                .arrival = grant_all}},
    {.name = "grant-never-falls",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.3.1-4"},
     .sentence = "A grant below the one before it is ignored.",
     .client = {.arrival = keep_largest_grant}},
    {.name = "several-calls-at-first",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.3.3-3", "RFC8166-3.3.3-4"},
     .sentence = "A new connection starts with the grant of the one before it.",
     .client = {.up = [](peer::UpStep& step,
                         ClientHistory& history) { step.grant = history.grant; }}},
    {.name = "idle-grant-kept",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.3.3-3", "RFC8166-3.3.3-4"},
     .sentence =
         "Behind a connection that ended without a call, the next one starts with its grant.",
     .client = {.up =
                    [](peer::UpStep& step, ClientHistory& history) {
                      if (history.ended_idle) step.grant = history.grant;
                    }}},
    {.name = "asks-for-no-credits",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.3.1-1", "RFC8166-3.3.1-6"},
     .sentence = "Calls carry 0 in rdma_credit.",
     .client = {.mutation = {calls, "credit.0"}}},
    {.name = "no-credit-in-reserve",
     .side = trace::Role::client,
     .breaks = {"RFC8267-6.7.2-1"},
     .sentence = "With NFS version 4 all credits are used for calls of the user.",
     .client = {.options = [](peer::FileClientOptions& options) { options.reserve = 0; }}},
};

}  // namespace

std::span<const Deviation> credits_family() {
  return kCredits;
}

}  // namespace steertag::deviations
