// Deviations of the client's providers: how they take the packets and FPDUs of the server.
#include "deviations/families.h"
#include "fabric/iwarp/policy.h"
#include "fabric/roce/packets/policy.h"

namespace steertag::deviations {
namespace {

using PacketPolicy = fabric::roce::Policy;

template <bool PacketPolicy::*kCheck>
void leave_out(peer::ConnectStep& step) {
  step.endpoint.connection.roce.*kCheck = false;
}

template <bool PacketPolicy::*kCheck>
void leave_out_of_reads(peer::FileClientOptions& options) {
  options.optimistic.roce.*kCheck = false;
}

void take_any_shape(peer::ConnectStep& step) {
  leave_out<&PacketPolicy::checks_opcodes>(step);
  leave_out<&PacketPolicy::checks_lengths>(step);
  leave_out<&PacketPolicy::refuses_write>(step);
}

using SegmentPolicy = fabric::iwarp::ReceivePolicy;

template <bool SegmentPolicy::*kChoice, bool kValue = false>
void choose(peer::ConnectStep& step) {
  step.endpoint.connection.iwarp.receive.*kChoice = kValue;
}

constexpr Deviation kReplyPackets[] = {
    {.name = "client-crc-unchecked",
     .side = trace::Role::client,
     .breaks = {"RFC5044-8-1"},
     .sentence = "FPDUs of the server with a wrong CRC are taken.",
     .client = {.connect = choose<&SegmentPolicy::checks_crc>}},
    {.name = "client-control-unchecked",
     .side = trace::Role::client,
     .breaks = {"RFC5040-4.1-1"},
     .sentence = "Segments of the server with any RDMAP version and opcode are taken for Sends.",
     .client = {.connect = choose<&SegmentPolicy::checks_control>}},
    {.name = "client-msn-unchecked",
     .side = trace::Role::client,
     .breaks = {"RFC5041-7.1-1"},
     .sentence = "Sends of the server with any MSN are taken.",
     .client = {.connect = choose<&SegmentPolicy::checks_send_msn>}},
    {.name = "client-solicited-send-refused",
     .side = trace::Role::client,
     .breaks = {"RFC5040-5.3-1"},
     .sentence = "Send with Solicited Event of the server is an unexpected opcode.",
     .client = {.connect = choose<&SegmentPolicy::takes_solicited>}},
    {.name = "client-empty-write-checked",
     .side = trace::Role::client,
     .breaks = {"RFC5041-5.2-1"},
     .sentence = "The STag of an RDMA Write without octets has to be open.",
     .client = {.connect = choose<&SegmentPolicy::checks_empty_write, true>}},
    {.name = "client-psn-unchecked",
     .side = trace::Role::client,
     .breaks = {"IBA-9.7-1"},
     .sentence = "Packets of the server with any later PSN are taken.",
     .client = {.connect = leave_out<&PacketPolicy::checks_sequence>}},
    {.name = "client-psn-gap-unreported",
     .side = trace::Role::client,
     .breaks = {"IBA-9.7-2"},
     .sentence = "A gap in the server's PSNs is not reported.",
     .client = {.connect = leave_out<&PacketPolicy::reports_gaps>}},
    {.name = "client-psn-gap-reported-always",
     .side = trace::Role::client,
     .breaks = {"IBA-9.7-2"},
     .sentence = "Each packet behind a gap in the server's PSNs has a NAK.",
     .client = {.connect = leave_out<&PacketPolicy::reports_gap_once>}},
    {.name = "client-repeated-reply-taken",
     .side = trace::Role::client,
     .breaks = {"IBA-9.7-3"},
     .sentence = "A repeated Send of the server is another message.",
     .client = {.connect = leave_out<&PacketPolicy::knows_duplicates>}},
    {.name = "client-repeated-read-unanswered",
     .side = trace::Role::client,
     .breaks = {"IBA-9.7-4"},
     .sentence = "A repeated RDMA Read request of the server has no response.",
     .client = {.connect = leave_out<&PacketPolicy::repeats_responses>}},
    {.name = "client-repeated-read-part-unanswered",
     .side = trace::Role::client,
     .breaks = {"IBA-9.7-4"},
     .sentence = "A repeated RDMA Read request that begins in the middle has no response.",
     .client = {.connect = leave_out<&PacketPolicy::repeats_parts>}},
    {.name = "client-repeated-read-from-start",
     .side = trace::Role::client,
     .breaks = {"IBA-9.7-4"},
     .sentence = "A repeated RDMA Read request that begins in the middle gets the first octets.",
     .client = {.connect = leave_out<&PacketPolicy::repeats_from_middle>}},
    {.name = "client-opcode-sequence-unchecked",
     .side = trace::Role::client,
     .breaks = {"IBA-9.7-5"},
     .sentence = "A Middle or Last packet of the server may begin a message.",
     .client = {.connect = leave_out<&PacketPolicy::checks_opcodes>}},
    {.name = "client-read-response-unchecked",
     .side = trace::Role::client,
     .breaks = {"IBA-9.7-5"},
     .sentence = "READ responses may have any opcode and syndrome.",
     .client = {.options = leave_out_of_reads<&PacketPolicy::checks_responses>}},
    {.name = "client-read-response-psn-unchecked",
     .side = trace::Role::client,
     .breaks = {"IBA-9.7-5"},
     .sentence = "READ responses may have any PSN.",
     .client = {.options = leave_out_of_reads<&PacketPolicy::checks_response_psn>}},
    {.name = "client-read-response-length-unchecked",
     .side = trace::Role::client,
     .breaks = {"IBA-9.7-6"},
     .sentence = "READ responses may have other octets than the RDMA Read asked for.",
     .client = {.options = leave_out_of_reads<&PacketPolicy::checks_response_lengths>}},
    {.name = "client-packet-shape-unchecked",
     .side = trace::Role::client,
     .breaks = {"IBA-9.7-5", "IBA-9.7-6"},
     .sentence = "Packets of the server may have any opcode and any length.",
     .client = {.connect = take_any_shape}},
    {.name = "client-write-length-unchecked",
     .side = trace::Role::client,
     .breaks = {"IBA-9.7-6"},
     .sentence = "The packets of an RDMA Write may have other lengths than its header says.",
     .client = {.connect = leave_out<&PacketPolicy::checks_lengths>}},
    {.name = "client-reads-beyond-depth-lost",
     .side = trace::Role::client,
     .breaks = {"IBA-9.7-7"},
     .sentence = "RDMA Reads without a Send between them have no response beyond the depth.",
     .client = {.connect = leave_out<&PacketPolicy::answers_beyond_depth>}},
    {.name = "client-receive-not-waited-for",
     .side = trace::Role::client,
     .breaks = {"IBA-9.7-8"},
     .sentence = "A Send for which the server has no receive is not repeated.",
     .client = {.connect = leave_out<&PacketPolicy::waits_for_receives>}},
    {.name = "client-write-key-unchecked",
     .side = trace::Role::client,
     .breaks = {"IBA-10.6-1"},
     .sentence = "An RDMA Write to other memory is acknowledged.",
     .client = {.connect = leave_out<&PacketPolicy::refuses_write>}},
    {.name = "client-read-key-unchecked",
     .side = trace::Role::client,
     .breaks = {"IBA-10.6-2"},
     .sentence = "An RDMA Read of other memory gets zeros.",
     .client = {.connect = leave_out<&PacketPolicy::refuses_read>}},
    {.name = "client-invalidated-key-unchecked",
     .side = trace::Role::client,
     .breaks = {"IBA-10.6-3"},
     .sentence = "Send with Invalidate may name any R_Key.",
     .client = {.connect = leave_out<&PacketPolicy::checks_invalidation>}},
    {.name = "client-partition-unchecked",
     .side = trace::Role::client,
     .breaks = {"IBA-10.9-1"},
     .sentence = "Packets of any partition are taken.",
     .client = {.connect = leave_out<&PacketPolicy::checks_partition>}},
    {.name = "client-invariant-crc-unchecked",
     .side = trace::Role::client,
     .breaks = {"IBA-A17-1"},
     .sentence = "Packets with a wrong invariant CRC are taken.",
     .client = {.connect = leave_out<&PacketPolicy::checks_crc>}},
    {.name = "client-repeated-acceptance-ends",
     .side = trace::Role::client,
     .breaks = {"IBA-12-1"},
     .sentence = "A repeated REP ends the connection that it made.",
     .client = {.connect = leave_out<&PacketPolicy::takes_repeated_request>}},
    {.name = "client-misplaced-read-answered",
     .side = trace::Role::client,
     .breaks = {"IBA-9.7-9"},
     .sentence = "A READ request in the place of another request has a response.",
     .client = {.connect = leave_out<&PacketPolicy::knows_reads>}},
    {.name = "client-request-not-repeated",
     .side = trace::Role::client,
     .breaks = {"IBA-12-7"},
     .sentence = "A REQ that is not answered is not repeated.",
     .client = {.connect = leave_out<&PacketPolicy::repairs_startup>}},
    {.name = "client-misplaced-message-ends",
     .side = trace::Role::client,
     .breaks = {"IBA-12-3"},
     .sentence = "An RTU or MRA on an established connection ends it.",
     .client = {.connect = leave_out<&PacketPolicy::ignores_misplaced>}},
    {.name = "client-stray-disconnect-reply-obeyed",
     .side = trace::Role::client,
     .breaks = {"IBA-12-3"},
     .sentence = "A DREP that was not asked for ends the connection.",
     .client = {.connect = leave_out<&PacketPolicy::expects_disconnect_reply>}},
    {.name = "client-disconnect-unanswered",
     .side = trace::Role::client,
     .breaks = {"IBA-12-4"},
     .sentence = "A DREQ of the server has no answer.",
     .client = {.connect = leave_out<&PacketPolicy::answers_disconnect>}},
    {.name = "client-foreign-disconnect-obeyed",
     .side = trace::Role::client,
     .breaks = {"IBA-12-5"},
     .sentence = "A DREQ for another queue pair ends the connection.",
     .client = {.connect = leave_out<&PacketPolicy::checks_disconnect>}},
};

}  // namespace

std::span<const Deviation> reply_packets_family() {
  return kReplyPackets;
}

}  // namespace steertag::deviations
