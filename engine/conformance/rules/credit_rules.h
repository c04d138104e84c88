// Rules on credits and on the receives for them (RFC 8166 3.3.1, 3.3.3; RFC 8167 4).
#pragma once

#include <array>

#include "conformance/message.h"
#include "conformance/rules/rule.h"

namespace steertag::conformance {

inline constexpr Rule kGrantIsNotZero{"grant_is_not_zero", ledger::ref("RFC8166-3.3.1-5"),
                                      "A reply or RDMA_ERROR grants at least one credit."};
inline constexpr Rule kCallsStayWithinGrant{
    "calls_stay_within_grant", ledger::ref("RFC8166-3.3.1-4"),
    "No more calls are outstanding than the responder granted."};
inline constexpr Rule kFirstCallGoesAlone{
    "first_call_goes_alone", ledger::ref("RFC8166-3.3.3-4"),
    "A second call waits for the first reply with the real grant."};
inline constexpr Rule kCallsStayWithinRequest{
    "calls_stay_within_request", ledger::ref("RFC8166-3.3.1-6"),
    "No more calls are outstanding than the requester itself asks credits for."};
inline constexpr Rule kReceivesCoverGrant{
    "receives_cover_grant", ledger::ref("RFC8166-3.3.1-9"),
    "A responder has a receive for every call that its grant allows."};
inline constexpr Rule kReceivesCoverCalls{
    "receives_cover_calls", ledger::ref("RFC8166-3.3.1-10"),
    "A requester has a receive for the reply to every outstanding call."};
inline constexpr Rule kReceiveTakes1024Octets{"receive_takes_1024_octets",
                                              ledger::ref("RFC8166-3.3.3-5"),
                                              "Every receive takes at least 1024 octets."};
inline constexpr Rule kReceiveIsAsAnnounced{"receive_is_as_announced", ledger::ref("RFC8797-4-10"),
                                            "Every receive takes what the private data announced."};

inline constexpr std::array kCreditRules{
    kGrantIsNotZero,     kCallsStayWithinGrant, kFirstCallGoesAlone,     kCallsStayWithinRequest,
    kReceivesCoverGrant, kReceivesCoverCalls,   kReceiveTakes1024Octets, kReceiveIsAsAnnounced,
};

/// Call it for a decodable call with a fresh XID, before the call is counted.
void check_call_credits(const Message& message, Connection& connection);

/// Call it for a reply or RDMA_ERROR of this sender, after its call's credit was released.
void check_grant(const Message& message, Connection& connection);

void check_receive(const trace::Event& event, const trace::ReceivePosted& posted,
                   Connection& connection);

}  // namespace steertag::conformance
