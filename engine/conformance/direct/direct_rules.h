// Rules on direct access (docs/direct-access.md): what is granted, and what optimistic Reads show.
//
// A rule sees the messages alone. What a server may do with memory that was returned, or whose
// lease is over, is no finding.
#pragma once

#include <array>

#include "conformance/rules/rule.h"

namespace steertag::conformance {

inline constexpr Rule kReferencesFollowHello{"references_follow_hello", ledger::ref("ODAFS-2"),
                                             "A reply has references only after HELLO."};
inline constexpr Rule kReferencesFollowTheConnection{
    "references_follow_the_connection", ledger::ref("ODAFS-2"),
    "A reply has references only after the optimistic connection was asked for."};
inline constexpr Rule kReferencesAreAskedFor{"references_are_asked_for", ledger::ref("ODAFS-2"),
                                             "A reply has no more references than were wanted."};
inline constexpr Rule kGenerationIsNotZero{"generation_is_not_zero", ledger::ref("ODAFS-7"),
                                           "The generation of a reference is not 0."};
inline constexpr Rule kGenerationNamesOneState{
    "generation_names_one_state", ledger::ref("ODAFS-7"),
    "A generation names one frame, and one state of its block."};
inline constexpr Rule kFrameKeepsItsBlock{"frame_keeps_its_block", ledger::ref("ODAFS-7"),
                                          "A frame on loan has no other block of its file."};
inline constexpr Rule kReturnedPlaceIsNotUsedAgain{
    "returned_place_is_not_used_again", ledger::ref("ODAFS-6"),
    "STag and base of memory that was given back are not those of another block."};
inline constexpr Rule kReferencesStayWithinTheMost{
    "references_stay_within_the_most", ledger::ref("ODAFS-27"),
    "A user has at most most_references within a lease."};
inline constexpr Rule kTicketWasGiven{"ticket_was_given", ledger::ref("ODAFS-29"),
                                      "Only a ticket of HELLO opens an optimistic connection."};
inline constexpr Rule kTicketOpensOneConnection{
    "ticket_opens_one_connection", ledger::ref("ODAFS-29"), "A ticket opens one connection, once."};
inline constexpr Rule kIllegalOperationEndsIt{
    "illegal_operation_ends_it", ledger::ref("ODAFS-30"),
    "After anything but an RDMA Read no Read is answered on an optimistic connection."};
inline constexpr Rule kServerOnlyResponds{
    "server_only_responds", ledger::ref("ODAFS-30"),
    "The server sends nothing but Read Responses on an optimistic connection."};
inline constexpr Rule kReadShowsItsFrameAlone{
    "read_shows_its_frame_alone", ledger::ref("ODAFS-4"),
    "A Read that is answered stays inside of a frame that was granted."};
inline constexpr Rule kReadShowsNoForeignFrame{
    "read_shows_no_foreign_frame", ledger::ref("ODAFS-5"),
    "A Read by the reference of another user is not answered."};
inline constexpr Rule kChangeVoidsTheFrame{
    "change_voids_the_frame", ledger::ref("ODAFS-9"),
    "A Read after the reply to a change of a block shows no valid frame of before."};
inline constexpr Rule kDenialVoidsTheFrame{
    "denial_voids_the_frame", ledger::ref("ODAFS-10"),
    "A Read after the reply to a change of mode or owner shows no valid frame of before."};

inline constexpr Rule kGrantedMemoryStays{
    "granted_memory_stays", ledger::ref("ODAFS-26"),
    "A Read of a frame that was not given back meets no fault within the lease."};
inline constexpr Rule kRefusalIsOfTheOldestRead{
    "refusal_is_of_the_oldest_read", ledger::ref("ODAFS-34"),
    "A recoverable refusal is of the oldest Read without an answer."};
inline constexpr Rule kRefusalNeedsBothWords{
    "refusal_needs_both_words", ledger::ref("ODAFS-34"),
    "A Read is refused alone only where both sides know recoverable refusals."};
inline constexpr Rule kAgreedFaultIsRefused{
    "agreed_fault_is_refused", ledger::ref("ODAFS-34"),
    "Where both sides know recoverable refusals, a fault of a Read does not end the connection."};
inline constexpr Rule kRecallEndsTheUse{
    "recall_ends_the_use", ledger::ref("ODAFS-23"),
    "No Read by a reference of before follows the DELEGRETURN of a delegation that was recalled."};

inline constexpr std::array kDirectRules{
    kReferencesFollowHello,
    kReferencesFollowTheConnection,
    kReferencesAreAskedFor,
    kGenerationIsNotZero,
    kGenerationNamesOneState,
    kFrameKeepsItsBlock,
    kReturnedPlaceIsNotUsedAgain,
    kReferencesStayWithinTheMost,
    kTicketWasGiven,
    kTicketOpensOneConnection,
    kIllegalOperationEndsIt,
    kServerOnlyResponds,
    kReadShowsItsFrameAlone,
    kReadShowsNoForeignFrame,
    kChangeVoidsTheFrame,
    kDenialVoidsTheFrame,
    kGrantedMemoryStays,
    kRefusalIsOfTheOldestRead,
    kRefusalNeedsBothWords,
    kAgreedFaultIsRefused,
    kRecallEndsTheUse,
};

}  // namespace steertag::conformance
