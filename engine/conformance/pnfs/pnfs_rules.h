// Rules on pNFS with file layouts (RFC 8881 12, 13), across the connections of one client.
//
// A message to a data server is judged by what passed on the connection to the metadata server.
// Where the capture may lack a layout, a rule that needs its absence is silent.
#pragma once

#include <array>

#include "conformance/rules/rule.h"

namespace steertag::conformance {

inline constexpr Rule kDataServerStateidIsNoLayout{
    "data_server_stateid_is_no_layout", ledger::ref("RFC8881-13.9.1-1"),
    "READ and WRITE at a data server do not carry the layout stateid."};
inline constexpr Rule kDataServerStateidHasNoSeqid{"data_server_stateid_has_no_seqid",
                                                   ledger::ref("RFC8881-13.9.1-2"),
                                                   "The seqid of a stateid at a data server is 0."};
inline constexpr Rule kDataServerStateidIsNotSpecial{
    "data_server_stateid_is_not_special", ledger::ref("RFC8881-13.9.1-2"),
    "READ and WRITE at a data server carry no special stateid."};
inline constexpr Rule kAttributesAreOfTheMetadataServer{
    "attributes_are_of_the_metadata_server", ledger::ref("RFC8881-13.6-6"),
    "GETATTR and SETATTR go to the metadata server."};
inline constexpr Rule kReturnEndsTheUse{
    "return_ends_the_use", ledger::ref("RFC8881-12.5.5-3"),
    "After LAYOUTRETURN no READ, WRITE or COMMIT goes to data servers by that layout."};
inline constexpr Rule kRevocationEndsTheUse{
    "revocation_ends_the_use", ledger::ref("RFC8881-12.7.2-2"),
    "No layout of before is used after SEQ4_STATUS_EXPIRED_*_REVOKED or ADMIN_STATE_REVOKED."};
inline constexpr Rule kRestartEndsTheUse{
    "restart_ends_the_use", ledger::ref("RFC8881-12.7.4-1"),
    "No layout of before is used after the metadata server has forgotten the client."};
inline constexpr Rule kCommitGoesToTheDataServer{
    "commit_goes_to_the_data_server", ledger::ref("RFC8881-13.7-1"),
    "Without NFL4_UFLG_COMMIT_THRU_MDS, COMMIT goes to the data server that took the WRITEs."};
inline constexpr Rule kCommitGoesToTheMetadataServer{
    "commit_goes_to_the_metadata_server", ledger::ref("RFC8881-13.7-2"),
    "With NFL4_UFLG_COMMIT_THRU_MDS, COMMIT goes to the metadata server."};
inline constexpr Rule kHandleIsOfTheDataServer{
    "handle_is_of_the_data_server", ledger::ref("RFC8881-13.3-7"),
    "A data server is asked by the filehandle that the layout has for it."};
inline constexpr Rule kStripeIsOfTheDataServer{
    "stripe_is_of_the_data_server", ledger::ref("RFC8881-13.4.1-1"),
    "With sparse packing a data server is asked for its own stripe units."};

inline constexpr Rule kBadStateidIsRefused{
    "bad_stateid_is_refused", ledger::ref("RFC8881-13.9.1-3"),
    "A data server takes no special stateid, no layout stateid and no seqid but 0."};
inline constexpr Rule kHoleIsRefused{"hole_is_refused", ledger::ref("RFC8881-13.4.4-2"),
                                     "With sparse packing I/O into a hole fails."};
inline constexpr Rule kVerifierIsOfTheLayout{
    "verifier_is_of_the_layout", ledger::ref("RFC8881-13.7-3"),
    "With NFL4_UFLG_COMMIT_THRU_MDS all WRITEs of a file and its COMMIT have one verifier."};

inline constexpr std::array kPnfsRules{
    kDataServerStateidIsNoLayout,
    kDataServerStateidHasNoSeqid,
    kDataServerStateidIsNotSpecial,
    kAttributesAreOfTheMetadataServer,
    kReturnEndsTheUse,
    kRevocationEndsTheUse,
    kRestartEndsTheUse,
    kCommitGoesToTheDataServer,
    kCommitGoesToTheMetadataServer,
    kHandleIsOfTheDataServer,
    kStripeIsOfTheDataServer,
    kBadStateidIsRefused,
    kHoleIsRefused,
    kVerifierIsOfTheLayout,
};

}  // namespace steertag::conformance
