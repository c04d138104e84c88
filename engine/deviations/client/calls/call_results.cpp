// Deviations of the client: the write and reply chunks that it offers (RFC 8166 3.4.6, 4.3).
#include <algorithm>

#include "deviations/families.h"
#include "wire/xdr.h"

namespace steertag::deviations {
namespace {

constexpr std::uint32_t kReplyBytes = 1024;
// Of chunks that no item is for.
constexpr std::uint32_t kNeedlessBytes = 64;
constexpr std::size_t kMostWriteBytes = 65536;

void round_down(peer::FormStep& step) {
  if (step.form.write_chunk_bytes >= 4)
    step.form.write_chunk_bytes -= step.form.write_chunk_bytes % 4;
}

void round_up(peer::FormStep& step) {
  step.form.write_chunk_bytes = wire::roundup4(step.form.write_chunk_bytes);
}

void offer_needless_reply(peer::FormStep& step) {
  if (step.form.reply_chunk) return;
  step.form.reply_chunk = true;
  step.form.reply_chunk_bytes = kReplyBytes;
}

void offer_needless_write(peer::FormStep& step) {
  if (!is_small(step.limits) || step.request.reply.eligible != 0) return;
  step.form.write_chunk = true;
  step.form.write_chunk_bytes = kNeedlessBytes;
}

bool calls_for_one_result(const DepartingCall& call) {
  return calls_of_small_thresholds(call) && call.header().write_list.size() == 1;
}

bool calls_after_unused_chunk(const DepartingCall& call) {
  return call.history.has_unused_chunk;
}

void wrap(DepartingCall& call) {
  if (!is_small(call.step.limits)) return;
  call.mutate("write-chunk.offset-wraps");
  call.mutate("reply-chunk.offset-wraps");
}

constexpr Deviation kCallResults[] = {
    {.name = "write-chunk-rounded-down",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.4.6-2"},
     .sentence = "Write chunks are rounded down to a multiple of four octets.",
     .client = {.form = round_down}},
    {.name = "write-chunk-of-64-kib",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.4.6-2"},
     .sentence = "No write chunk has room for more than 64 KiB.",
     .client = {.form =
                    [](peer::FormStep& step) {
                      step.form.write_chunk_bytes =
                          std::min(step.form.write_chunk_bytes, kMostWriteBytes);
                    }}},
    {.name = "write-chunk-rounded-up",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.4.6.2-1"},
     .sentence = "Write chunks have room for roundup.",
     .client = {.form = round_up}},
    {.name = "unused-chunk-offered-again",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.3.2.2-3"},
     .sentence = "After an unused write chunk the next one has its lengths, which are zero.",
     .client = {.mutation = {calls_after_unused_chunk, "write-list.unused"}}},
    {.name = "reply-chunk-missing",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.3.3-1"},
     .sentence = "No reply chunk is offered, however large the reply may be.",
     .client = {.form = [](peer::FormStep& step) { step.form.reply_chunk = false; }}},
    {.name = "reply-chunk-needless",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.3.3-2"},
     .sentence = "Each call offers a reply chunk.",
     .client = {.form = offer_needless_reply}},
    {.name = "two-write-chunks",
     .side = trace::Role::client,
     .breaks = {"RFC8267-6.4.2-3", "RFC8166-4.3.2.1-1"},
     .sentence = "With thresholds of 1024 octets a result is offered two write chunks.",
     .client = {.mutation = {calls_for_one_result, "write-list.doubled"}}},
    {.name = "write-chunk-needless",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.3.2-2"},
     .sentence =
         "With thresholds of 1024 octets calls without an eligible result have a write chunk.",
     .client = {.form = offer_needless_write}},
    {.name = "call-segment-wraps",
     .side = trace::Role::client,
     .breaks = {"RFC8166-2.3.2-1"},
     .sentence = "With thresholds of 1024 octets segments for results end behind 64 bits.",
     .client = {.departure = wrap}},
};

}  // namespace

std::span<const Deviation> call_results_family() {
  return kCallResults;
}

}  // namespace steertag::deviations
