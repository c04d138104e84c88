// Rules on RDMA Writes and Reads (RFC 8166 3.1, 3.4.5, 3.5.2, 8.1).
//
// They must stay inside the chunks of outstanding calls.
#pragma once

#include <array>

#include "conformance/connection_state.h"
#include "conformance/rules/rule.h"

namespace steertag::conformance {

inline constexpr Rule kRequesterIssuesNoRdma{
    "requester_issues_no_rdma", ledger::ref("RFC8166-3.1-1"),
    "A side that was offered no memory issues no RDMA Read or Write."};
inline constexpr Rule kWriteStaysInsideTheOffer{
    "write_stays_inside_the_offer", ledger::ref("RFC8166-8.1.4-2"),
    "RDMA Writes stay inside the write and reply segments of outstanding calls."};
inline constexpr Rule kWritePrecedesTheReply{"write_precedes_the_reply",
                                             ledger::ref("RFC8166-3.5.2-2"),
                                             "RDMA Writes of a transaction precede its reply."};
inline constexpr Rule kReadStaysInsideTheOffer{
    "read_stays_inside_the_offer", ledger::ref("RFC8166-3.4.5-6"),
    "RDMA Reads stay inside the read segments of outstanding calls."};
inline constexpr Rule kReadPrecedesTheReply{"read_precedes_the_reply",
                                            ledger::ref("RFC8166-3.4.5.1-1"),
                                            "RDMA Reads of a transaction precede its reply."};
inline constexpr Rule kReplyAwaitsTheReads{
    "reply_awaits_the_reads", ledger::ref("RFC8166-2.3.2-4"),
    "A reply is sent when the RDMA Reads of its call are complete."};
inline constexpr Rule kGuardsStayIntact{"guards_stay_intact", ledger::ref("RFC8166-8.1-1"),
                                        "Nothing beside an offered region changes."};

inline constexpr std::array kRdmaWriteReadRules{
    kRequesterIssuesNoRdma,   kWriteStaysInsideTheOffer, kWritePrecedesTheReply,
    kReadStaysInsideTheOffer, kReadPrecedesTheReply,     kReplyAwaitsTheReads,
    kGuardsStayIntact,
};

/// A Write against the write and reply chunks, and a Read against the read chunks.
void check_write_inside_chunks(const trace::Event& event, const trace::RdmaWrite& write,
                               Connection& connection);
void check_read_inside_chunks(const trace::Event& event, const trace::RdmaRead& read,
                              Connection& connection);
void note_read_response(const trace::Event& event, const trace::RdmaReadResponse& response,
                        Connection& connection);
void check_invalidated(const trace::Event& event, const trace::MemoryInvalidated& memory,
                       Connection& connection);

/// Call it for the answer to `call`, sent by `responder` at `event`.
void check_reads_done(std::uint64_t event, trace::Role responder, const Call& call,
                      Connection& connection);

}  // namespace steertag::conformance
