// Deviations of the client: what it does about RDMA_ERROR (RFC 8166 4.5).
#include <limits>

#include "deviations/families.h"

namespace steertag::deviations {
namespace {

constexpr std::uint32_t kMoreForReply = 4096;  // octets, each time

void fail_on_undecodable(ArrivingMessage& arriving) {
  const auto words = wire::peek(arriving.message());
  const bool is_error = words && words->proc == static_cast<std::uint32_t>(wire::Procedure::error);
  if (is_error && !decode(arriving.message()) && arriving.history.find(words->xid))
    arriving.fail(words->xid);
}

std::optional<wire::Header> error_of(const ArrivingMessage& arriving) {
  auto decoded = decode(arriving.message());
  if (!decoded || decoded->header.proc != wire::Procedure::error) return std::nullopt;
  return std::move(decoded->header);
}

void ignore(ArrivingMessage& arriving) {
  if (error_of(arriving)) arriving.take();
}

void ignore_later(ArrivingMessage& arriving) {
  if (arriving.history.connection > 1) ignore(arriving);
}

void give_to_oldest(ArrivingMessage& arriving) {
  auto error = error_of(arriving);
  const auto oldest = arriving.history.oldest();
  if (!error || !oldest || arriving.history.find(error->xid)) return;
  error->xid = *oldest;
  Bytes message;
  wire::encode(*error, message);
  arriving.replace(std::move(message));
}

void send_again(ArrivingMessage& arriving) {
  const auto error = error_of(arriving);
  SentCall* call = error ? arriving.history.find(error->xid) : nullptr;
  if (!call || call->resent == peer::kMostAttempts) return;
  ++call->resent;
  arriving.take();
  arriving.step.answers.push_back(call->message);
}

bool is_unknown_error(const ArrivingMessage& arriving) {
  const auto error = error_of(arriving);
  return error && !arriving.history.find(error->xid);
}

void ask_for_more(peer::FormStep& step) {
  if (step.retries == 0) return;
  step.form.reply_chunk = true;
  step.form.reply_chunk_bytes =
      step.request.reply.payload + std::size_t{step.retries} * kMoreForReply;
}

constexpr Deviation kRdmaErrors[] = {
    {.name = "undecodable-error-fails-call",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.5-9"},
     .sentence = "An RDMA_ERROR that does not decode fails its call.",
     .client = {.arrival = fail_on_undecodable}},
    {.name = "undecodable-error-disconnects",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.5-9"},
     .sentence = "An RDMA_ERROR that does not decode ends the connection.",
     .client = {.arrival = disconnect_over<is_bad_error>}},
    {.name = "unknown-error-disconnects",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.5-8"},
     .sentence = "An RDMA_ERROR with an unknown XID ends the connection.",
     .client = {.arrival = disconnect_over<is_unknown_error>}},
    {.name = "error-ignored",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.5-8", "RFC8267-6.7.2-2"},
     .sentence = "RDMA_ERROR is discarded.",
     .client = {.arrival = ignore}},
    {.name = "later-error-ignored",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.5-8"},
     .sentence = "RDMA_ERROR is discarded on each connection but the first.",
     .client = {.arrival = ignore_later}},
    {.name = "error-fails-any-call",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.5-8"},
     .sentence = "RDMA_ERROR with an unknown XID fails the oldest call.",
     .client = {.arrival = give_to_oldest}},
    {.name = "error-resent",
     .side = trace::Role::client,
     .breaks = {"RFC8267-6.4.2-8"},
     .sentence = "A call that was answered with RDMA_ERROR is sent again.",
     .client = {.arrival = send_again}},
    {.name = "error-retried-for-ever",
     .side = trace::Role::client,
     .breaks = {"RFC8267-3.1-4"},
     .sentence = "After RDMA_ERROR the call is made anew, without limit.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.requester.error_retries = std::numeric_limits<std::uint32_t>::max();
                    }}},
    {.name = "error-retried-larger",
     .side = trace::Role::client,
     .breaks = {"RFC8267-3.1-5"},
     .sentence = "After RDMA_ERROR the call is made anew with a larger reply chunk.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.requester.error_retries = peer::kMostAttempts;
                    },
                .form = ask_for_more}},
};

}  // namespace

std::span<const Deviation> rdma_errors_family() {
  return kRdmaErrors;
}

}  // namespace steertag::deviations
