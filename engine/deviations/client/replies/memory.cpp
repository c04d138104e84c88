// Deviations of the client: what the server may do to its memory, and until when (RFC 8166 8.1).
#include "deviations/families.h"

namespace steertag::deviations {
namespace {

void close_argument(DepartingCall& call) {
  if (call.step.argument && is_small(call.step.limits)) call.step.argument->invalidate();
}

constexpr Deviation kMemory[] = {
    {.name = "memory-left-open",
     .side = trace::Role::client,
     .breaks = {"RFC8166-8.1-1"},
     .sentence = "Memory stays open to the server after the reply.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.requester.memory.closes_after_reply = false;
                    }}},
    {.name = "memory-left-open-beside-invalidated",
     .side = trace::Role::client,
     .breaks = {"RFC8166-8.1-1"},
     .sentence = "Of a call that has an STag closed by the server the other memory stays open.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.requester.memory.closes_others = false;
                    }}},
    {.name = "long-call-left-open",
     .side = trace::Role::client,
     .breaks = {"RFC8166-8.1-1"},
     .sentence = "The memory of a long call stays open to the server after the reply.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.requester.memory.closes_long_calls = false;
                    }}},
    {.name = "unused-reply-chunk-left-open",
     .side = trace::Role::client,
     .breaks = {"RFC8166-8.1-1"},
     .sentence = "A reply chunk stays open to the server after a reply in the Send.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.requester.memory.closes_unused = false;
                    }}},
    {.name = "memory-open-both-ways",
     .side = trace::Role::client,
     .breaks = {"RFC8166-8.1-1"},
     .sentence = "What the server is to write it can read too.",
     .client = {.form = [](peer::FormStep& step) { step.result.remote_read = true; }}},
    {.name = "memory-open-after-error",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.4.1-2", "ODAFS-37"},
     .sentence = "Memory stays open to the server after RDMA_ERROR.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.requester.memory.closes_after_error = false;
                    }}},
    {.name = "memory-open-after-timeout",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.4.1-2"},
     .sentence = "Memory stays open to a server that did not answer in time.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.requester.memory.closes_after_timeout = false;
                    }}},
    {.name = "read-chunk-closed-early",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.4.5.1-2"},
     .sentence =
         "With thresholds of 1024 octets read chunks are closed as soon as the call is sent.",
     .client = {.departure = close_argument}},
};

}  // namespace

std::span<const Deviation> memory_family() {
  return kMemory;
}

}  // namespace steertag::deviations
