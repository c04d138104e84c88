// Findings that wait for confirmation, because the capture's order may be wrong.
//
// Captures may reorder or lack packets. On RoCE and InfiniBand, acknowledgments are separate
// packets. A message does not show what its sender had received. An apparently unmatched answer may
// answer a message that is recorded later. What an end of the connection recorded itself is
// certain.
//
// One case remains. A call and its acknowledgment changed places with an answer and its own, and
// their times hide it. This looks like a call too many, and such packets have no further evidence.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "conformance/judge.h"
#include "conformance/message.h"
#include "grade/note.h"

namespace steertag::grade {

/// At most this many read responses after the reply that should have waited for them count as
/// reordered.
inline constexpr std::uint32_t kMostReorderedResponses = 8;

/// At most this many pending findings of one connection.
inline constexpr std::size_t kMostPendingFindings = 256;

/// Fields of a later recorded call of the other side that would explain an event.
struct PossibleCause {
  std::optional<std::uint32_t> xid;   // of an answer
  std::optional<std::uint32_t> stag;  // of the other side's memory
};

struct PendingFinding {
  conformance::Finding finding;
  capture::FrameStamp stamp;
  EventName event;
  PossibleCause possible_cause;
  /// A captured call, its answer, and the answerer's acts between them prove the finding. No
  /// missing message of the other side could explain it.
  bool paired = false;
  bool awaits_responses = false;  // it says that responses to reads should have come first

  bool received = false;        // the other side acknowledged the packet that proves it
  std::uint32_t responses = 0;  // that followed
  bool explained = false;
  bool turned = false;  // the other side has started a message
  bool proven = false;  // and that message proves the order, if nothing explains the finding
};

/// The result of the other side's next message.
struct Decision {
  std::vector<PendingFinding> confirmed;
  std::size_t undecided = 0;
};

class PendingFindings {
 public:
  explicit PendingFindings(conformance::Visibility visibility) : without_history_(visibility) {}

  /// Call it for each event of the connection's setup.
  void open(const trace::Event& event) { without_history_.on_event(event); }
  /// Runs the rules on the event without any history. Their findings need no confirmation.
  void ask(const trace::Event& event);
  bool needs_no_history(const conformance::Finding& finding) const;

  /// False at the limit. The finding is undecided then.
  bool hold(PendingFinding pending);
  /// `actor` acknowledged packets up to this one.
  void acknowledged(trace::Role actor, const capture::FrameStamp& up_to);
  /// A response to a read by `actor`.
  void read_response(trace::Role actor);
  /// `actor` is about to send a packet of a message. The other side's earlier acts are certain
  /// under two conditions: the actor acknowledged them before, and none of the actor's packets was
  /// missing or late.
  void message_packet(trace::Role actor, bool in_order);
  /// A message that is no answer. Unmatched answers and accesses without an offer may have been
  /// sent after it.
  void explain(const conformance::Message& message);
  /// `actor` has sent the message.
  Decision decide(trace::Role actor);
  /// The connection ends.
  Decision end();
  /// Drops all pending findings, and returns their number.
  std::size_t drop();

 private:
  template <class Ripe, class Certain>
  Decision take(Ripe ripe, Certain certain);

  conformance::Judge without_history_;
  std::vector<conformance::Finding> findings_without_history_;  // on the current event
  std::vector<PendingFinding> pending_;
};

}  // namespace steertag::grade
