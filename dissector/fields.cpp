// The table of fields as Wireshark wants it.
// SPDX-License-Identifier: GPL-2.0-or-later
#include "dissector/fields.h"

#include <array>
#include <iterator>

namespace steertag::dissector {

Fields fields;
Subtrees subtrees;
Experts experts;

namespace {

const value_string kProcedures[] = {{0, "RDMA_MSG"},  {1, "RDMA_NOMSG"}, {2, "RDMA_MSGP"},
                                    {3, "RDMA_DONE"}, {4, "RDMA_ERROR"}, {0, nullptr}};

constexpr header_field_info info(const char* name, const char* filter, ftenum type, int display,
                                 const char* blurb, const void* strings = nullptr) {
  return {name, filter, type, display, strings, 0, blurb, HFILL};
}

// Wireshark writes into these tables and keeps pointers to them.
hf_register_info kGeneral[] = {
    {&fields.connection, info("Connection", "steertag.connection", FT_UINT64, BASE_DEC,
                              "Counted from 1 in the order in which they showed up")},
    {&fields.frame, info("Belongs to frame", "steertag.frame", FT_FRAMENUM, BASE_NONE,
                         "The earlier frame that this line is about")},
    {&fields.sender, info("Sender", "steertag.sender", FT_STRING, BASE_NONE, "client or server")},
    {&fields.loss, info("Not judged because", "steertag.loss", FT_STRING, BASE_NONE,
                        "What the capture does not hold is never a violation")},
};

hf_register_info kFindings[] = {
    {&fields.finding, info("Finding", "steertag.finding", FT_NONE, BASE_NONE, nullptr)},
    {&fields.finding_id, info("Requirement", "steertag.finding.id", FT_STRING, BASE_NONE,
                              "Permanent id of the requirement in the ledger")},
    {&fields.finding_level, info("Level", "steertag.finding.level", FT_STRING, BASE_NONE,
                                 "RFC 2119 word; DEF for normative text without one")},
    {&fields.finding_document,
     info("Document", "steertag.finding.document", FT_STRING, BASE_NONE, nullptr)},
    {&fields.finding_section,
     info("Section", "steertag.finding.section", FT_STRING, BASE_NONE, nullptr)},
    {&fields.finding_culprit, info("Culprit", "steertag.finding.culprit", FT_STRING, BASE_NONE,
                                   "client or server: who broke the requirement")},
    {&fields.finding_statement,
     info("Statement", "steertag.finding.statement", FT_STRING, BASE_NONE, nullptr)},
    {&fields.finding_expected, info("Expected", "steertag.finding.expected", FT_STRING, BASE_NONE,
                                    "What the requirement allows here")},
    {&fields.finding_observed,
     info("Observed", "steertag.finding.observed", FT_STRING, BASE_NONE, "What was seen")},
    {&fields.finding_frame, info("Frame", "steertag.finding.frame", FT_FRAMENUM, BASE_NONE,
                                 "The frame with the event that proves it")},
    {&fields.finding_connection,
     info("Connection", "steertag.finding.connection", FT_UINT64, BASE_DEC, nullptr)},
    {&fields.rule,
     info("Rule", "steertag.rule", FT_STRING, BASE_NONE, "Name of the rule that found it")},
};

hf_register_info kOpenings[] = {
    {&fields.opening,
     info("Opening", "steertag.opening", FT_STRING, BASE_NONE, "connect, accept or reject")},
    {&fields.private_data,
     info("Private data", "steertag.private_data", FT_BYTES, BASE_NONE, nullptr)},
    {&fields.private_data_offset, info("Offset of the identifier", "steertag.private_data.offset",
                                       FT_UINT32, BASE_DEC, nullptr)},
    {&fields.private_data_flags,
     info("Flags", "steertag.private_data.flags", FT_UINT8, BASE_HEX, nullptr)},
    {&fields.private_data_invalidation,
     info("Remote invalidation", "steertag.private_data.remote_invalidation", FT_BOOLEAN, BASE_NONE,
          "The R flag (RFC 8797 4)")},
    {&fields.private_data_send_size, info("Send size", "steertag.private_data.send_size", FT_UINT32,
                                          BASE_DEC, "In octets (RFC 8797 4.2)")},
    {&fields.private_data_receive_size, info("Receive size", "steertag.private_data.receive_size",
                                             FT_UINT32, BASE_DEC, "In octets (RFC 8797 4.2)")},
    {&fields.private_data_ticket,
     info("Ticket", "steertag.private_data.ticket", FT_BYTES, BASE_NONE,
          "Of HELLO's reply; it opens an optimistic connection")},
    {&fields.threshold_to_server,
     info("Inline threshold to the server", "steertag.threshold.to_server", FT_UINT32, BASE_DEC,
          "In octets")},
    {&fields.threshold_to_client,
     info("Inline threshold to the client", "steertag.threshold.to_client", FT_UINT32, BASE_DEC,
          "In octets")},
    {&fields.remote_invalidation, info("Remote invalidation", "steertag.remote_invalidation",
                                       FT_BOOLEAN, BASE_NONE, "Both sides support it")},
};

hf_register_info kMessages[] = {
    {&fields.message, info("Message", "steertag.message", FT_STRING, BASE_NONE,
                           "call, reply, error, done, msgp, empty, too short or faulty")},
    {&fields.direction, info("Direction", "steertag.direction", FT_STRING, BASE_NONE,
                             "forward, or reverse for transactions that the server began")},
    {&fields.length, info("Length", "steertag.length", FT_UINT64, BASE_DEC, "Octets of the Send")},
    {&fields.xid, info("XID", "steertag.xid", FT_UINT32, BASE_HEX, nullptr)},
    {&fields.version, info("Version", "steertag.version", FT_UINT32, BASE_DEC, nullptr)},
    {&fields.procedure,
     info("Procedure", "steertag.procedure", FT_UINT32, BASE_DEC, nullptr, VALS(kProcedures))},
    {&fields.call_frame, info("Call in frame", "steertag.call_frame", FT_FRAMENUM, BASE_NONE,
                              "Of the call that this answers, or whose memory is used",
                              FRAMENUM_TYPE(FT_FRAMENUM_REQUEST))},
    {&fields.answer_frame, info("Answer in frame", "steertag.answer_frame", FT_FRAMENUM, BASE_NONE,
                                nullptr, FRAMENUM_TYPE(FT_FRAMENUM_RESPONSE))},
    {&fields.response_time, info("Response time", "steertag.response_time", FT_RELATIVE_TIME,
                                 BASE_NONE, "From the call to its answer")},
    {&fields.credits_value, info("Credit value", "steertag.credits", FT_UINT32, BASE_DEC,
                                 "The field rdma_credit as it stands")},
    {&fields.credits_requested,
     info("Credits requested", "steertag.credits.requested", FT_UINT32, BASE_DEC, nullptr)},
    {&fields.credits_granted, info("Credits granted", "steertag.credits.granted", FT_UINT32,
                                   BASE_DEC, "The grant in force behind this message")},
    {&fields.credits_in_flight, info("Calls in flight", "steertag.credits.in_flight", FT_UINT64,
                                     BASE_DEC, "Of this direction, behind this message")},
    {&fields.threshold, info("Inline threshold", "steertag.threshold", FT_UINT32, BASE_DEC,
                             "Most octets of a Send by this sender")},
    {&fields.invalidated, info("Invalidated STag", "steertag.invalidated", FT_UINT32, BASE_HEX,
                               "By Send with Invalidate")},
};

hf_register_info kMemory[] = {
    {&fields.chunk,
     info("Chunk segment", "steertag.chunk", FT_STRING, BASE_NONE, "read, write or reply")},
    {&fields.chunk_position,
     info("Position", "steertag.chunk.position", FT_UINT32, BASE_DEC, nullptr)},
    {&fields.chunk_handle, info("Handle", "steertag.chunk.handle", FT_UINT32, BASE_HEX, nullptr)},
    {&fields.chunk_length, info("Length", "steertag.chunk.length", FT_UINT32, BASE_DEC, nullptr)},
    {&fields.chunk_offset, info("Offset", "steertag.chunk.offset", FT_UINT64, BASE_HEX, nullptr)},
    {&fields.chunks_not_shown,
     info("Chunk segments not shown", "steertag.chunk.not_shown", FT_UINT64, BASE_DEC, nullptr)},
    {&fields.operation, info("RDMA operation", "steertag.operation", FT_STRING, BASE_NONE,
                             "write, read, read response, fault or refusal")},
    {&fields.operation_stag, info("STag", "steertag.operation.stag", FT_UINT32, BASE_HEX, nullptr)},
    {&fields.operation_offset,
     info("Offset", "steertag.operation.offset", FT_UINT64, BASE_HEX, nullptr)},
    {&fields.operation_length,
     info("Length", "steertag.operation.length", FT_UINT64, BASE_DEC, nullptr)},
};

hf_register_info kDirect[] = {
    {&fields.direct_procedure,
     info("Direct access", "steertag.direct.procedure", FT_STRING, BASE_NONE,
          "HELLO, REFS, READ, BATCH, RETURN, COUNTERS or NULL")},
    {&fields.direct_references, info("References", "steertag.direct.references", FT_UINT64,
                                     BASE_DEC, "Granted by this reply")},
    {&fields.direct_fallback,
     info("Instead of the Read in frame", "steertag.direct.fallback", FT_FRAMENUM, BASE_NONE,
          "The optimistic Read of this block that failed")},
    {&fields.block_state, info("Block", "steertag.block", FT_STRING, BASE_NONE,
                               "waiting, valid, revoked, torn, unknown, part, outside or faulted")},
    {&fields.block_file, info("File handle", "steertag.block.file", FT_BYTES, BASE_NONE, nullptr)},
    {&fields.block_offset,
     info("Offset in the file", "steertag.block.offset", FT_UINT64, BASE_DEC, nullptr)},
    {&fields.block_length,
     info("Octets of the file", "steertag.block.length", FT_UINT32, BASE_DEC, nullptr)},
    {&fields.block_grant, info("Granted in frame", "steertag.block.grant_frame", FT_FRAMENUM,
                               BASE_NONE, "The reply with the reference")},
    {&fields.block_request, info("Request in frame", "steertag.block.request_frame", FT_FRAMENUM,
                                 BASE_NONE, nullptr, FRAMENUM_TYPE(FT_FRAMENUM_REQUEST))},
};

ei_register_info kExperts[] = {
    {&experts.must, {"steertag.must", PI_PROTOCOL, PI_ERROR, "A requirement was broken", EXPFILL}},
    {&experts.should,
     {"steertag.should", PI_PROTOCOL, PI_WARN, "A recommendation was not kept", EXPFILL}},
    {&experts.may, {"steertag.may", PI_PROTOCOL, PI_NOTE, "An option was taken", EXPFILL}},
    {&experts.stopped,
     {"steertag.stopped", PI_UNDECODED, PI_ERROR, "Nothing is judged from here on", EXPFILL}},
};

}  // namespace

void register_fields(int protocol) {
  static int* ids[] = {&subtrees.frame,        &subtrees.finding, &subtrees.opening,
                       &subtrees.private_data, &subtrees.message, &subtrees.chunk,
                       &subtrees.operation,    &subtrees.block,   &subtrees.loss};
  proto_register_field_array(protocol, kGeneral, static_cast<int>(std::size(kGeneral)));
  proto_register_field_array(protocol, kFindings, static_cast<int>(std::size(kFindings)));
  proto_register_field_array(protocol, kOpenings, static_cast<int>(std::size(kOpenings)));
  proto_register_field_array(protocol, kMessages, static_cast<int>(std::size(kMessages)));
  proto_register_field_array(protocol, kMemory, static_cast<int>(std::size(kMemory)));
  proto_register_field_array(protocol, kDirect, static_cast<int>(std::size(kDirect)));
  proto_register_subtree_array(ids, static_cast<int>(std::size(ids)));
  expert_module_t* module = expert_register_protocol(protocol);
  expert_register_field_array(module, kExperts, static_cast<int>(std::size(kExperts)));
}

}  // namespace steertag::dissector
