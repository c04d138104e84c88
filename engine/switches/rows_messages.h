// Deviations of the server in messages, chunks, RPC and what lies below them.
// Only deviation.cpp includes this.
#pragma once

#include "switches/switch.h"

namespace steertag::peer::deviation_rows {

inline constexpr DeviationInfo kMessages[] = {
    // below messages
    {Deviation::startup_key_ignored, "startup-key-ignored", "RFC5044-7.1.1-1",
     "Any MPA key counts as that of a request."},
    {Deviation::plain_reply, "plain-reply", "RFC6581-10-1",
     "An enhanced MPA request gets a reply of revision 1."},
    {Deviation::enhanced_reply_revision_one, "enhanced-reply-revision-one", "RFC6581-6-1",
     "An enhanced MPA reply says that it has revision 1."},
    {Deviation::reserved_startup_bits_set, "reserved-startup-bits-set", "RFC5044-7.1.1-2",
     "Reserved bits of the MPA reply are set."},
    {Deviation::reply_depth_raised, "reply-depth-raised", "RFC6581-9.1-1",
     "The ORD of the MPA reply is above the IRD of the request."},
    {Deviation::reply_depths_invented, "reply-depths-invented", "RFC6581-9.1-2",
     "Depths that are not to be negotiated are answered with others."},
    {Deviation::peer_to_peer_unanswered, "peer-to-peer-unanswered", "RFC6581-9.2-1",
     "The MPA reply does not have the request's A."},
    {Deviation::stray_rtr_flag, "stray-rtr-flag", "RFC6581-9.2-2",
     "The MPA reply offers an RTR although the request has no A."},
    {Deviation::markers_left_out, "markers-left-out", "RFC5044-4.3-1",
     "A request for markers is accepted, and none are inserted."},
    {Deviation::crc_left_out, "crc-left-out", "RFC5044-4.4-1",
     "Without C in the request there is no CRC, although the reply has C."},
    {Deviation::crc_unchecked, "crc-unchecked", "RFC5044-8-1", "FPDUs with a wrong CRC are taken."},
    {Deviation::control_unchecked, "control-unchecked", "RFC5040-4.1-1",
     "Segments of any RDMAP version and opcode are taken for Sends."},
    {Deviation::sequence_unchecked, "sequence-unchecked", "RFC5041-7.1-1",
     "Sends with any MSN are taken."},
    {Deviation::solicited_send_refused, "solicited-send-refused", "RFC5040-5.3-1",
     "Send with Solicited Event is an unexpected opcode."},
    {Deviation::invalidation_unchecked, "invalidation-unchecked", "RFC5040-5.3-2",
     "Send with Invalidate may name any STag."},
    {Deviation::empty_write_checked, "empty-write-checked", "RFC5041-5.2-1",
     "The STag of an RDMA Write without octets is checked."},
    {Deviation::empty_read_unanswered, "empty-read-unanswered", "RFC5040-5.2.1-1",
     "Read Requests for no octets are not answered."},
    {Deviation::refused_read_answered, "refused-read-answered", "RFC5040-7.2-1",
     "Read Requests for memory that is not open are answered with zeros."},
    {Deviation::read_depth_ignored, "read-depth-ignored", "RFC5040-6.1-1",
     "More Read Requests are under way than the client takes."},
    {Deviation::terminate_code_wrong, "terminate-code-wrong", "RFC5041-7.2-1",
     "Terminates of DDP errors give other codes."},
    {Deviation::reserved_segment_bits_set, "reserved-segment-bits-set", "RFC5041-4.1-1",
     "The reserved bits of the DDP control octet are set."},
    {Deviation::reserved_control_bits_set, "reserved-control-bits-set", "RFC5040-4.1-1",
     "The reserved bits of the RDMAP control octet are set."},
    {Deviation::tagged_offset_stays, "tagged-offset-stays", "RFC5041-4.2-1",
     "All segments of an RDMA Write have the offset of the first."},
    {Deviation::send_sequence_from_zero, "send-sequence-from-zero", "RFC5041-4.3-1",
     "The first Send has the MSN 0."},
    {Deviation::pad_not_zero, "pad-not-zero", "RFC5044-4.1-1",
     "The octets between a ULPDU and its CRC are ones."},
    {Deviation::crc_big_endian, "crc-big-endian", "RFC5044-4.4-2",
     "The CRC goes with its most significant octet first."},
    {Deviation::read_request_long, "read-request-long", "RFC5040-4.4-1",
     "RDMA Read Requests have four octets more."},
    {Deviation::read_response_elsewhere, "read-response-elsewhere", "RFC5040-4.4-2",
     "RDMA Read Responses name another STag than their request."},
    {Deviation::terminate_as_send, "terminate-as-send", "RFC5040-4.8-1",
     "Terminates go to the queue of Sends."},
    {Deviation::startup_words_last, "startup-words-last", "RFC6581-9-1",
     "The depths stand behind the private data of an MPA reply."},
    {Deviation::sends_before_first_fpdu, "sends-before-first-fpdu", "RFC5044-7.1.2-1",
     "A Send without octets follows the MPA reply at once."},

    // calls and replies that other servers are known to have met wrong
};

}  // namespace steertag::peer::deviation_rows
