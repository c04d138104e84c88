// Deviations of a client with direct access: what it believes, and what follows a failed Read.
// Specified in docs/direct-access.md.
#include "deviations/families.h"

namespace steertag::deviations {
namespace {

using peer::FileClientOptions;

constexpr Deviation kOptimisticReads[] = {
    {.name = "first-generation-unchecked",
     .side = trace::Role::client,
     .breaks = {"ODAFS-15"},
     .sentence = "The generation in front of a frame is not compared.",
     .client = {.options =
                    [](FileClientOptions& options) {
                      options.optimistic.checks.first_generation = false;
                    }}},
    {.name = "last-generation-unchecked",
     .side = trace::Role::client,
     .breaks = {"ODAFS-15"},
     .sentence = "The generation behind the data of a frame is not compared.",
     .client = {.options =
                    [](FileClientOptions& options) {
                      options.optimistic.checks.last_generation = false;
                    }}},
    {.name = "check-unchecked",
     .side = trace::Role::client,
     .breaks = {"ODAFS-15", "ODAFS-24"},
     .sentence = "The check of a frame is not computed.",
     .client = {.options =
                    [](FileClientOptions& options) { options.optimistic.checks.check = false; }}},
    {.name = "refused-octets-delivered",
     .side = trace::Role::client,
     .breaks = {"ODAFS-17"},
     .sentence = "A frame is believed as it comes.",
     .client = {.options =
                    [](FileClientOptions& options) {
                      options.optimistic.checks = {false, false, false};
                    }}},
    {.name = "incomplete-octets-delivered",
     .side = trace::Role::client,
     .breaks = {"ODAFS-17"},
     .sentence = "The user gets what the sinks of Reads hold when their connection ends.",
     .client = {.options =
                    [](FileClientOptions& options) { options.optimistic.drops_lost = false; }}},
    {.name = "fault-reported-to-user",
     .side = trace::Role::client,
     .breaks = {"ODAFS-16"},
     .sentence = "A failed Read is an error of its user.",
     .client = {.options =
                    [](FileClientOptions& options) { options.optimistic.reports_faults = true; }}},
    {.name = "second-rpc-after-failure",
     .side = trace::Role::client,
     .breaks = {"ODAFS-16"},
     .sentence = "What a Read did not give is asked for by two RPCs.",
     .client = {.options =
                    [](FileClientOptions& options) { options.optimistic.asks_once = false; }}},
    {.name = "nfs-unused",
     .side = trace::Role::client,
     .breaks = {"ODAFS-16", "ODAFS-41"},
     .sentence = "What direct access does not give is an error of the user.",
     .client = {.options =
                    [](FileClientOptions& options) { options.optimistic.uses_nfs = false; }}},
    {.name = "reference-inside-block-used",
     .side = trace::Role::client,
     .breaks = {"ODAFS-16"},
     .sentence = "A reference is used for the block in which it begins.",
     .client = {.options =
                    [](FileClientOptions& options) { options.optimistic.checks_offsets = false; }}},
    {.name = "full-directory-fails",
     .side = trace::Role::client,
     .breaks = {"ODAFS-21"},
     .sentence = "The user gets an error once the directory of references is full.",
     .client = {.options = [](FileClientOptions& options) { options.optimistic.evicts = false; }}},
    {.name = "lost-reads-unanswered",
     .side = trace::Role::client,
     .breaks = {"ODAFS-18"},
     .sentence = "Reads in flight when their connection ends are forgotten.",
     .client = {.options =
                    [](FileClientOptions& options) { options.optimistic.answers_lost = false; }}},
    {.name = "optimistic-end-spreads",
     .side = trace::Role::client,
     .breaks = {"ODAFS-19"},
     .sentence = "The RPC connection ends with the optimistic one.",
     .client = {.options =
                    [](FileClientOptions& options) { options.optimistic.ends_alone = false; }}},
    {.name = "hellos-unlimited",
     .side = trace::Role::client,
     .breaks = {"ODAFS-20"},
     .sentence = "HELLO follows each end of an optimistic connection at once.",
     .client = {.options =
                    [](FileClientOptions& options) { options.optimistic.limits_hellos = false; }}},
    {.name = "references-kept-over-opens",
     .side = trace::Role::client,
     .breaks = {"ODAFS-22"},
     .sentence = "References of a file that was closed serve its next OPEN, whatever has changed.",
     .client = {.options =
                    [](FileClientOptions& options) { options.optimistic.forgets_closed = false; }}},
    {.name = "references-used-after-recall",
     .side = trace::Role::client,
     .breaks = {"ODAFS-23"},
     .sentence = "References of a file are used although its delegation was recalled and returned.",
     .client = {.options =
                    [](FileClientOptions& options) { options.optimistic.heeds_recalls = false; }}},
    {.name = "cached-flag-set",
     .side = trace::Role::client,
     .breaks = {"ODAFS-38"},
     .sentence = "R is set although memory stays open over calls.",
     .client = {.options =
                    [](FileClientOptions& options) {
                      options.requester.memory.clears_flag = false;
                    }}},
    {.name = "cached-invalidation-taken",
     .side = trace::Role::client,
     .breaks = {"ODAFS-38"},
     .sentence = "A Send with Invalidate of memory that stays open over calls is taken.",
     .client = {.options =
                    [](FileClientOptions& options) {
                      options.requester.memory.refuses_invalidation = false;
                    }}},
    {.name = "cached-memory-open-after-fault",
     .side = trace::Role::client,
     .breaks = {"ODAFS-37"},
     .sentence = "Memory stays open to the server after a reply that breaks a rule.",
     .client = {.options =
                    [](FileClientOptions& options) {
                      options.requester.memory.closes_after_fault = false;
                    }}},
    {.name = "cached-memory-open-on-next",
     .side = trace::Role::client,
     .breaks = {"ODAFS-37"},
     .sentence = "Memory that stays open over calls is open on the next connection too.",
     .client = {.options =
                    [](FileClientOptions& options) {
                      options.requester.memory.closes_with_connection = false;
                    }}},
    {.name = "cached-memory-open-for-less",
     .side = trace::Role::client,
     .breaks = {"ODAFS-37"},
     .sentence = "Memory that is open for a READ serves one of fewer octets with the same STag.",
     .client = {.options =
                    [](FileClientOptions& options) {
                      options.requester.memory.registration.compares_length = false;
                    }}},
    {.name = "cached-memory-left-open",
     .side = trace::Role::client,
     .breaks = {"ODAFS-37"},
     .sentence = "The STag of memory that another call needs stays open.",
     .client = {.options =
                    [](FileClientOptions& options) {
                      options.requester.memory.registration.closes_reused = false;
                    }}},
    {.name = "placed-for-the-oldest",
     .side = trace::Role::client,
     .breaks = {"ODAFS-39"},
     .sentence = "Data of any reply goes to the pre-posted buffer of the call that was sent first.",
     .client = {.options =
                    [](FileClientOptions& options) {
                      options.requester.placement.compares_xid = false;
                    }}},
    {.name = "cut-reply-placed",
     .side = trace::Role::client,
     .breaks = {"ODAFS-40"},
     .sentence = "A pre-posted buffer counts as filled, whatever length the message has.",
     .client = {.options =
                    [](FileClientOptions& options) {
                      options.requester.placement.compares_length = false;
                    }}},
};

}  // namespace

std::span<const Deviation> optimistic_reads_family() {
  return kOptimisticReads;
}

}  // namespace steertag::deviations
