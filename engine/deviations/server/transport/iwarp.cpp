// Deviations of the server's iwarp provider: below messages, in MPA, DDP and RDMAP.
#include "deviations/families.h"
#include "fabric/iwarp/policy.h"

namespace steertag::deviations {
namespace {

using fabric::iwarp::Policy;
using peer::ServerOptions;

// RFC 5040 4.4
constexpr std::uint32_t kSendQueue = 0;

// The first Send of a stream, without octets, as an FPDU with its CRC.
constexpr std::uint8_t kEmptySend[] = {0x00, 0x12, 0x41, 0x43, 0, 0, 0, 0, 0,    0,    0,    0,
                                       0,    0,    0,    1,    0, 0, 0, 0, 0x58, 0x7b, 0xe8, 0xc4};

/// The policy of a connection whose client sends no private data; null with another client. Nothing
/// works with these deviations, so that cases need a client that they spare.
Policy* unspared(Connecting& connecting) {
  if (!connecting.client_data.empty()) return nullptr;
  return &connecting.step.endpoint.connection.iwarp;
}

void send_behind_reply(Connecting& connecting) {
  Policy* const policy = unspared(connecting);
  if (!policy) return;
  const View octets = std::as_bytes(std::span(kEmptySend));
  policy->reply.behind.assign(octets.begin(), octets.end());
  ++policy->segments.first_send_msn;
}

constexpr Deviation kIwarp[] = {
    {.name = "startup-key-ignored",
     .breaks = {"RFC5044-7.1.1-1", "RFC5044-7.1.2-3"},
     .sentence = "Any MPA key counts as that of a request.",
     .server = {.options =
                    [](ServerOptions& options) { options.iwarp.startup.checks_key = false; }},
     .script_shows = false},
    {.name = "plain-reply",
     .breaks = {"RFC6581-10-1"},
     .sentence = "An enhanced MPA request gets a reply of revision 1.",
     .server = {.options =
                    [](ServerOptions& options) { options.iwarp.reply.answers_enhanced = false; }},
     .script_shows = false},
    {.name = "enhanced-reply-revision-one",
     .breaks = {"RFC6581-6-1"},
     .sentence = "An enhanced MPA reply says that it has revision 1.",
     .server = {.options =
                    [](ServerOptions& options) { options.iwarp.reply.enhanced_revision = 1; }},
     .script_shows = false},
    {.name = "reserved-startup-bits-set",
     .breaks = {"RFC5044-7.1.1-2"},
     .sentence = "Reserved bits of the MPA reply are set.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.iwarp.reply.reserved_flags = std::byte{0x0f};
                    }},
     .script_shows = false},
    {.name = "reply-depth-raised",
     .breaks = {"RFC6581-9.1-1"},
     .sentence = "The ORD of the MPA reply is above the IRD of the request.",
     .server = {.options = [](ServerOptions& options) { options.iwarp.reply.limits_ord = false; }},
     .script_shows = false},
    {.name = "reply-depths-invented",
     .breaks = {"RFC6581-9.1-2"},
     .sentence = "Depths that are not to be negotiated are answered with others.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.iwarp.reply.echoes_unnegotiated = false;
                    }},
     .script_shows = false},
    {.name = "peer-to-peer-unanswered",
     .breaks = {"RFC6581-9.2-1"},
     .sentence = "The MPA reply does not have the request's A.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.iwarp.reply.echoes_peer_to_peer = false;
                    }},
     .script_shows = false},
    {.name = "stray-rtr-flag",
     .breaks = {"RFC6581-9.2-2"},
     .sentence = "The MPA reply offers an RTR although the request has no A.",
     .server = {.options =
                    [](ServerOptions& options) { options.iwarp.reply.offers_unasked_rtr = true; }},
     .script_shows = false},
    {.name = "markers-left-out",
     .breaks = {"RFC5044-4.3-1"},
     .sentence = "A request for markers is accepted, and none are inserted.",
     .server = {.options =
                    [](ServerOptions& options) { options.iwarp.startup.rejects_markers = false; }},
     .script_shows = false},
    {.name = "crc-left-out",
     .breaks = {"RFC5044-4.4-1"},
     .sentence = "Without C in the request there is no CRC, although the reply has C.",
     .server = {.options =
                    [](ServerOptions& options) { options.iwarp.reply.counts_own_crc = false; }},
     .script_shows = false},
    {.name = "crc-unchecked",
     .breaks = {"RFC5044-8-1"},
     .sentence = "FPDUs with a wrong CRC are taken.",
     .server = {.options =
                    [](ServerOptions& options) { options.iwarp.receive.checks_crc = false; }},
     .script_shows = false},
    {.name = "control-unchecked",
     .breaks = {"RFC5040-4.1-1"},
     .sentence = "Segments of any RDMAP version and opcode are taken for Sends.",
     .server = {.options =
                    [](ServerOptions& options) { options.iwarp.receive.checks_control = false; }},
     .script_shows = false},
    {.name = "sequence-unchecked",
     .breaks = {"RFC5041-7.1-1"},
     .sentence = "Sends with any MSN are taken.",
     .server = {.options =
                    [](ServerOptions& options) { options.iwarp.receive.checks_send_msn = false; }},
     .script_shows = false},
    {.name = "solicited-send-refused",
     .breaks = {"RFC5040-5.3-1"},
     .sentence = "Send with Solicited Event is an unexpected opcode.",
     .server = {.options =
                    [](ServerOptions& options) { options.iwarp.receive.takes_solicited = false; }},
     .script_shows = false},
    {.name = "invalidation-unchecked",
     .breaks = {"RFC5040-5.3-2"},
     .sentence = "Send with Invalidate may name any STag.",
     .server = {.options =
                    [](ServerOptions& options) { options.iwarp.receive.invalidates = false; }},
     .script_shows = false},
    {.name = "empty-write-checked",
     .breaks = {"RFC5041-5.2-1"},
     .sentence = "The STag of an RDMA Write without octets is checked.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.iwarp.receive.checks_empty_write = true;
                    }},
     .script_shows = false},
    {.name = "empty-read-unanswered",
     .breaks = {"RFC5040-5.2.1-1"},
     .sentence = "Read Requests for no octets are not answered.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.iwarp.receive.answers_empty_read = false;
                    }},
     .script_shows = false},
    {.name = "refused-read-answered",
     .breaks = {"RFC5040-7.2-1", "RFC8166-3.1-1", "RFC8166-8.1-2", "RFC5041-8.3.1-1"},
     .sentence = "Read Requests for memory that is not open are answered with zeros.",
     .server = {.options =
                    [](ServerOptions& options) { options.iwarp.receive.refuses_read = false; }},
     .script_shows = false},
    {.name = "read-depth-ignored",
     .breaks = {"RFC5040-6.1-1", "RFC8166-3.3.1-12"},
     .sentence = "More Read Requests are under way than the client takes.",
     .server = {.options =
                    [](ServerOptions& options) { options.iwarp.segments.limits_reads = false; }},
     .script_shows = false},
    {.name = "terminate-code-wrong",
     .breaks = {"RFC5041-7.2-1"},
     .sentence = "Terminates of DDP errors give other codes.",
     .server = {.options =
                    [](ServerOptions& options) { options.iwarp.receive.ddp_code_offset = 0x40; }},
     .script_shows = false},
    {.name = "reserved-segment-bits-set",
     .breaks = {"RFC5041-4.1-1"},
     .sentence = "The reserved bits of the DDP control octet are set.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.iwarp.segments.reserved_ddp = std::byte{0x3c};
                    }},
     .script_shows = false},
    {.name = "reserved-control-bits-set",
     .breaks = {"RFC5040-4.1-1"},
     .sentence = "The reserved bits of the RDMAP control octet are set.",
     .server = {.options =
                    [](ServerOptions& options) {
                      options.iwarp.segments.reserved_rdmap = std::byte{0x30};
                    }},
     .script_shows = false},
    {.name = "tagged-offset-stays",
     .breaks = {"RFC5041-4.2-1"},
     .sentence = "All segments of an RDMA Write have the offset of the first.",
     .server = {.options =
                    [](ServerOptions& options) { options.iwarp.segments.advances_offset = false; }},
     .script_shows = false},
    {.name = "send-sequence-from-zero",
     .breaks = {"RFC5041-4.3-1"},
     .sentence = "The first Send has the MSN 0.",
     .server = {.accept =
                    [](Connecting& connecting) {
                      if (Policy* policy = unspared(connecting))
                        policy->segments.first_send_msn = 0;
                    }},
     .script_shows = false},
    {.name = "pad-not-zero",
     .breaks = {"RFC5044-4.1-1"},
     .sentence = "The octets between a ULPDU and its CRC are ones.",
     .server = {.options =
                    [](ServerOptions& options) { options.iwarp.segments.pad = std::byte{0xff}; }},
     .script_shows = false},
    {.name = "crc-big-endian",
     .breaks = {"RFC5044-4.4-2"},
     .sentence = "The CRC goes with its most significant octet first.",
     .server = {.accept =
                    [](Connecting& connecting) {
                      if (Policy* policy = unspared(connecting))
                        policy->segments.crc_order = std::endian::big;
                    }},
     .script_shows = false},
    {.name = "read-request-long",
     .breaks = {"RFC5040-4.4-1"},
     .sentence = "RDMA Read Requests have four octets more.",
     .server = {.options =
                    [](ServerOptions& options) { options.iwarp.segments.read_request_bytes += 4; }},
     .script_shows = false},
    {.name = "read-response-elsewhere",
     .breaks = {"RFC5040-4.4-2"},
     .sentence = "RDMA Read Responses name another STag than their request.",
     .server = {.options =
                    [](ServerOptions& options) { options.iwarp.segments.response_stag_mask = 1; }},
     .script_shows = false},
    {.name = "terminate-as-send",
     .breaks = {"RFC5040-4.8-1"},
     .sentence = "Terminates go to the queue of Sends.",
     .server =
         {.options =
              [](ServerOptions& options) { options.iwarp.segments.terminate_queue = kSendQueue; }},
     .script_shows = false},
    {.name = "startup-words-last",
     .breaks = {"RFC6581-9-1"},
     .sentence = "The depths follow the private data of an MPA reply.",
     .server = {.accept =
                    [](Connecting& connecting) {
                      if (Policy* policy = unspared(connecting))
                        policy->reply.enhanced_data_first = false;
                    }},
     .script_shows = false},
    {.name = "sends-before-first-fpdu",
     .breaks = {"RFC5044-7.1.2-1"},
     .sentence = "A Send without octets follows the MPA reply at once.",
     .server = {.accept = send_behind_reply},
     .script_shows = false},
};

}  // namespace

std::span<const Deviation> iwarp_family() {
  return kIwarp;
}

}  // namespace steertag::deviations
