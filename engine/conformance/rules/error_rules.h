// Rules on RDMA_ERROR: its format, and the request that it answers (RFC 8166 4.5).
#pragma once

#include <array>

#include "conformance/message.h"
#include "conformance/rules/rule.h"

namespace steertag::conformance {

inline constexpr Rule kErrorCodeIsKnown{"error_code_is_known", ledger::ref("RFC8166-4.1.2-9"),
                                        "rdma_err is ERR_VERS (1) or ERR_CHUNK (2)."};
inline constexpr Rule kErrVersHas28Octets{
    "err_vers_has_28_octets", ledger::ref("RFC8166-4.1.2-10"),
    "ERR_VERS carries the lowest and the highest version and nothing more."};
inline constexpr Rule kErrChunkHas20Octets{"err_chunk_has_20_octets",
                                           ledger::ref("RFC8166-4.1.2-11"),
                                           "ERR_CHUNK carries no further data."};
inline constexpr Rule kErrVersExcludesTheVersion{
    "err_vers_excludes_the_version", ledger::ref("RFC8166-4.5.1-1"),
    "ERR_VERS names a range of versions, and the request's version is outside it."};
inline constexpr Rule kErrorCopiesTheXid{
    "error_copies_the_xid", ledger::ref("RFC8166-4.5-4"),
    "rdma_xid of an RDMA_ERROR is that of a request that awaits its answer."};
inline constexpr Rule kErrorCopiesTheVersion{"error_copies_the_version",
                                             ledger::ref("RFC8166-4.5-5"),
                                             "rdma_vers of an RDMA_ERROR is that of the request."};
inline constexpr Rule kRequesterSendsNoError{
    "requester_sends_no_error", ledger::ref("RFC8166-4.2.4-4"), "A requester sends no RDMA_ERROR."};

inline constexpr std::array kErrorRules{
    kErrorCodeIsKnown,  kErrVersHas28Octets,    kErrChunkHas20Octets,   kErrVersExcludesTheVersion,
    kErrorCopiesTheXid, kErrorCopiesTheVersion, kRequesterSendsNoError,
};

/// The error word, and the octets after it.
void check_error_shape(const Message& message, Connection& connection);

/// Call it for an RDMA_ERROR that answers `call`.
void check_error_request(const Message& message, const Call& call, Connection& connection);

/// Call it for an RDMA_ERROR that answers no call. `record` has what was sent under its XID, or is
/// nullptr.
void check_unexpected_error(const Message& message, const Call* record, Connection& connection);

}  // namespace steertag::conformance
