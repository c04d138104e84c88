// Findings that are not believed yet. A capture may have packets in a slightly wrong order, or lack
// some, and where acknowledgments are packets of their own (RoCE, InfiniBand) nothing in a message
// says what its sender had seen: what seems to answer nothing may answer what is recorded later.
//
// What remains: a call and its acknowledgment that changed places with an answer and its own, with
// times that hide it, look like a call too many. Nothing in such packets says otherwise.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "conformance/judge.h"
#include "conformance/message.h"
#include "grade/note.h"

namespace steertag::grade {

/// Responses to a read that are taken for misplaced ones if they come behind the reply that should
/// have waited for them.
inline constexpr std::uint32_t kMostMisplacedResponses = 8;

/// Findings held at a time, of one connection.
inline constexpr std::size_t kMostFindingsHeld = 256;

/// What a call by the other side, recorded later, may explain an event with.
struct Grounds {
  std::optional<std::uint32_t> xid;   // of an answer
  std::optional<std::uint32_t> stag;  // of the other side's memory
};

struct HeldFinding {
  conformance::Finding finding;
  capture::Place place;
  EventName event;
  Grounds grounds;
  /// It follows from a call that was seen, from its answer, and from what the answer's sender did
  /// between them: of the other side nothing can be missing that would explain it.
  bool paired = false;
  bool awaits_responses = false;  // it says that responses to reads should have come first

  bool received = false;        // the other side acknowledged what it hangs on
  std::uint32_t responses = 0;  // that came behind it
  bool explained = false;
  bool turned = false;  // the other side has begun a message
  bool proven = false;  // and that proves the order, if nothing explains the finding
};

/// What became of findings with the other side's next message.
struct Decided {
  std::vector<HeldFinding> believed;
  std::size_t undecided = 0;
};

class HeldFindings {
 public:
  explicit HeldFindings(conformance::Visibility visibility) : pastless_(visibility) {}

  /// To be called with each event that opens the connection.
  void open(const trace::Event& event) { pastless_.on_event(event); }
  /// Which rules find fault with the event whatever was before it: those findings need no proof.
  void ask(const trace::Event& event);
  bool needs_no_past(const conformance::Finding& finding) const;

  /// False if too many are held: that one is as good as undecided.
  bool hold(HeldFinding held);
  /// `actor` acknowledged what was sent up to this packet.
  void receive(trace::Role actor, const capture::Place& upto);
  /// A response to a read by `actor`.
  void respond(trace::Role actor);
  /// `actor` is about to send a packet of a message. What the other side did before is certain if
  /// it was acknowledged before, and nothing of the actor's was missing or late.
  void turn(trace::Role actor, bool in_order);
  /// A message that is no answer: what seems to answer nothing, or to touch memory that nobody
  /// offered, may have been sent after it.
  void explain(const conformance::Message& message);
  /// `actor` has sent the message.
  Decided decide(trace::Role actor);
  /// Nothing more will come.
  Decided end();
  /// Nothing can be decided any more; returns how many were held.
  std::size_t drop();

 private:
  template <class Ripe, class Certain>
  Decided take(Ripe ripe, Certain certain);

  conformance::Judge pastless_;
  std::vector<conformance::Finding> without_past_;  // in the event at hand
  std::vector<HeldFinding> held_;
};

}  // namespace steertag::grade
