// Deviations of the client: what of a reply it does not compare with its call (RFC 8166 6.1).
#include "deviations/families.h"

namespace steertag::deviations {
namespace {

constexpr Deviation kReplyChecks[] = {
    {.name = "returned-length-ignored",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.4.6.1-1", "RFC8166-4.3.2.2-5"},
     .sentence = "A write chunk counts as filled, whatever length comes back.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.requester.reply.compares_length = false;
                    }}},
    {.name = "inline-result-taken",
     .side = trace::Role::client,
     .breaks = {"RFC8166-6.1-6"},
     .sentence = "A result that came inline despite its write chunk is taken.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.requester.reply.refuses_inline = false;
                    }}},
    {.name = "reduced-ineligible-taken",
     .side = trace::Role::client,
     .breaks = {"RFC8166-6.1-5"},
     .sentence = "What a write chunk holds beside an empty result is overlooked.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.requester.reply.refuses_ineligible = false;
                    }}},
    {.name = "returned-segments-ignored",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.4.3-2"},
     .sentence = "Handles and offsets of chunks that come back are not compared.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.requester.reply.compares_segments = false;
                    }}},
};

}  // namespace

std::span<const Deviation> reply_checks_family() {
  return kReplyChecks;
}

}  // namespace steertag::deviations
