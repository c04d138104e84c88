// Deviations of the server's roce provider: below messages, in InfiniBand's transport.
#include "deviations/families.h"
#include "fabric/roce/packets/policy.h"

namespace steertag::deviations {
namespace {

using peer::ServerOptions;

void open_frames_to_all(ServerOptions& options) {
  options.direct_policy.grants.own_domains = false;
  options.direct_policy.grants.binds_windows = false;
  options.direct_policy.grants.read_only = false;
}

constexpr Deviation kRoce[] = {
    {.name = "psn-unchecked",
     .breaks = {"IBA-9.7-1"},
     .sentence = "Requests with any later PSN are taken.",
     .server = {.options = [](ServerOptions& options) { options.roce.checks_sequence = false; }},
     .script_shows = false},
    {.name = "psn-gap-unreported",
     .breaks = {"IBA-9.7-2"},
     .sentence = "A gap in the PSNs is not reported.",
     .server = {.options = [](ServerOptions& options) { options.roce.reports_gaps = false; }},
     .script_shows = false},
    {.name = "psn-gap-reported-always",
     .breaks = {"IBA-9.7-2"},
     .sentence = "Each packet behind a gap in the PSNs has a NAK.",
     .server = {.options = [](ServerOptions& options) { options.roce.reports_gap_once = false; }},
     .script_shows = false},
    {.name = "repeated-send-executed",
     .breaks = {"IBA-9.7-3"},
     .sentence = "A repeated Send is another message.",
     .server = {.options = [](ServerOptions& options) { options.roce.knows_duplicates = false; }},
     .script_shows = false},
    {.name = "repeated-read-unanswered",
     .breaks = {"IBA-9.7-4"},
     .sentence = "A repeated RDMA Read request has no response.",
     .server = {.options = [](ServerOptions& options) { options.roce.repeats_responses = false; }},
     .script_shows = false},
    {.name = "repeated-read-part-unanswered",
     .breaks = {"IBA-9.7-4"},
     .sentence = "A repeated RDMA Read request that begins in the middle has no response.",
     .server = {.options = [](ServerOptions& options) { options.roce.repeats_parts = false; }},
     .script_shows = false},
    {.name = "repeated-read-from-start",
     .breaks = {"IBA-9.7-4"},
     .sentence = "A repeated RDMA Read request that begins in the middle gets the first octets.",
     .server = {.options =
                    [](ServerOptions& options) { options.roce.repeats_from_middle = false; }},
     .script_shows = false},
    {.name = "opcode-sequence-unchecked",
     .breaks = {"IBA-9.7-5"},
     .sentence = "A Middle or Last packet may begin a message.",
     .server = {.options = [](ServerOptions& options) { options.roce.checks_opcodes = false; }},
     .script_shows = false},
    {.name = "request-shape-unchecked",
     .breaks = {"IBA-9.7-5", "IBA-9.7-6"},
     .sentence = "Requests may have any opcode and any length.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.roce.checks_opcodes = false;
                      options.roce.checks_lengths = false;
                      options.roce.refuses_write = false;
                    }},
     .script_shows = false},
    {.name = "read-response-unchecked",
     .breaks = {"IBA-9.7-5"},
     .sentence = "READ responses may have any opcode and syndrome.",
     .server = {.options = [](ServerOptions& options) { options.roce.checks_responses = false; }},
     .script_shows = false},
    {.name = "read-response-psn-unchecked",
     .breaks = {"IBA-9.7-5"},
     .sentence = "READ responses may have any PSN.",
     .server = {.options =
                    [](ServerOptions& options) { options.roce.checks_response_psn = false; }},
     .script_shows = false},
    {.name = "read-response-length-unchecked",
     .breaks = {"IBA-9.7-6"},
     .sentence = "READ responses may have other octets than the RDMA Read asked for.",
     .server = {.options =
                    [](ServerOptions& options) { options.roce.checks_response_lengths = false; }},
     .script_shows = false},
    {.name = "write-length-unchecked",
     .breaks = {"IBA-9.7-6"},
     .sentence = "The packets of an RDMA Write may have other lengths than its header says.",
     .server = {.options = [](ServerOptions& options) { options.roce.checks_lengths = false; }},
     .script_shows = false},
    {.name = "frame-write-length-unchecked",
     .breaks = {"IBA-9.7-6", "ODAFS-3"},
     .sentence = "Frames can be written, by packets with other lengths than their header says.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.roce.checks_lengths = false;
                      options.direct_policy.grants.read_only = false;
                    }},
     .script_shows = false},
    {.name = "reads-beyond-depth-lost",
     .breaks = {"IBA-9.7-7"},
     .sentence = "RDMA Reads without a Send between them have no response beyond the depth.",
     .server = {.options =
                    [](ServerOptions& options) { options.roce.answers_beyond_depth = false; }},
     .script_shows = false},
    {.name = "receive-not-waited-for",
     .breaks = {"IBA-9.7-8"},
     .sentence = "A Send for which the client has no receive is not repeated.",
     .server = {.options = [](ServerOptions& options) { options.roce.waits_for_receives = false; }},
     .script_shows = false},
    {.name = "write-key-unchecked",
     .breaks = {"IBA-10.6-1"},
     .sentence = "An RDMA Write to other memory is acknowledged.",
     .server = {.options = [](ServerOptions& options) { options.roce.refuses_write = false; }},
     .script_shows = false},
    {.name = "read-key-unchecked",
     .breaks = {"IBA-10.6-2"},
     .sentence = "An RDMA Read of other memory gets zeros.",
     .server = {.options = [](ServerOptions& options) { options.roce.refuses_read = false; }},
     .script_shows = false},
    {.name = "frames-open-to-all",
     .breaks = {"ODAFS-5", "IBA-10.6-2", "IBA-10.6-1"},
     .sentence = "Every optimistic connection can read and write the frames of all.",
     .server = {.options = open_frames_to_all},
     .script_shows = false},
    {.name = "frames-open-after-end",
     .breaks = {"ODAFS-13", "IBA-10.6-2", "IBA-10.6-1"},
     .sentence = "Other optimistic connections can read and write the frames of an ended one.",
     .server = {.options =
                    [](ServerOptions& options) {
                      open_frames_to_all(options);
                      options.direct_policy.grants.ends_with_user = false;
                    }},
     .script_shows = false},
    {.name = "invalidated-key-unchecked",
     .breaks = {"IBA-10.6-3"},
     .sentence = "Send with Invalidate may name any R_Key.",
     .server = {.options =
                    [](ServerOptions& options) { options.roce.checks_invalidation = false; }},
     .script_shows = false},
    {.name = "partition-unchecked",
     .breaks = {"IBA-10.9-1"},
     .sentence = "Packets of any partition are taken.",
     .server = {.options = [](ServerOptions& options) { options.roce.checks_partition = false; }},
     .script_shows = false},
    {.name = "invariant-crc-unchecked",
     .breaks = {"IBA-A17-1"},
     .sentence = "Packets with a wrong invariant CRC are taken.",
     .server = {.options = [](ServerOptions& options) { options.roce.checks_crc = false; }},
     .script_shows = false},
    {.name = "repeated-request-connects",
     .breaks = {"IBA-12-1"},
     .sentence = "A repeated REQ makes another connection.",
     .server = {.options =
                    [](ServerOptions& options) { options.roce.startup.knows_requests = false; }},
     .script_shows = false},
    {.name = "repeated-request-ends",
     .breaks = {"IBA-12-1"},
     .sentence = "A repeated REQ ends the connection that it made.",
     .server = {.options =
                    [](ServerOptions& options) { options.roce.takes_repeated_request = false; }},
     .script_shows = false},
    {.name = "lost-ready-fatal",
     .breaks = {"IBA-12-7"},
     .sentence = "A REP is not repeated by time, and a call does not stand for the RTU.",
     .server = {.options = [](ServerOptions& options) { options.roce.repairs_startup = false; }},
     .script_shows = false},
    {.name = "read-depths-raised",
     .breaks = {"IBA-12-8"},
     .sentence = "A REP offers more READs at a time than the REQ allows.",
     .server = {.options = [](ServerOptions& options) { options.roce.limits_depths = false; }},
     .script_shows = false},
    {.name = "misplaced-read-answered",
     .breaks = {"IBA-9.7-9"},
     .sentence = "A READ request in the place of another request has a response.",
     .server = {.options = [](ServerOptions& options) { options.roce.knows_reads = false; }},
     .script_shows = false},
    {.name = "foreign-service-accepted",
     .breaks = {"IBA-12-2"},
     .sentence = "A REQ for a service that the server does not have is accepted.",
     .server = {.options =
                    [](ServerOptions& options) { options.roce.startup.checks_service = false; }},
     .script_shows = false},
    {.name = "misplaced-message-ends",
     .breaks = {"IBA-12-3"},
     .sentence = "An RTU, REP or MRA on an established connection ends it.",
     .server = {.options = [](ServerOptions& options) { options.roce.ignores_misplaced = false; }},
     .script_shows = false},
    {.name = "stray-disconnect-reply-obeyed",
     .breaks = {"IBA-12-3"},
     .sentence = "A DREP that was not asked for ends the connection.",
     .server =
         {.options = [](ServerOptions& options) { options.roce.expects_disconnect_reply = false; }},
     .script_shows = false},
    {.name = "disconnect-unanswered",
     .breaks = {"IBA-12-4"},
     .sentence = "A DREQ has no answer.",
     .server = {.options = [](ServerOptions& options) { options.roce.answers_disconnect = false; }},
     .script_shows = false},
    {.name = "foreign-disconnect-obeyed",
     .breaks = {"IBA-12-5"},
     .sentence = "A DREQ for another queue pair ends the connection.",
     .server = {.options = [](ServerOptions& options) { options.roce.checks_disconnect = false; }},
     .script_shows = false},
    {.name = "request-without-addresses-remembered",
     .breaks = {"IBA-A11-1"},
     .sentence = "The REQ behind one without addresses is rejected.",
     .server =
         {.options = [](ServerOptions& options) { options.roce.startup.forgets_requests = false; }},
     .script_shows = false},
    {.name = "stale-request-remembered",
     .breaks = {"IBA-12-6"},
     .sentence = "The REQ behind one of a queue pair in use is rejected.",
     .server =
         {.options = [](ServerOptions& options) { options.roce.startup.forgets_stale = false; }},
     .script_shows = false},
};

}  // namespace

std::span<const Deviation> roce_family() {
  return kRoce;
}

}  // namespace steertag::deviations
