// Findings that are not believed yet. A capture may have packets in a slightly wrong order, or lack
// some, and where acknowledgments are packets of their own (RoCE, InfiniBand) nothing in a message
// says what its sender had seen: what seems to answer nothing may answer what is recorded later.
#pragma once

#include <cstdint>
#include <vector>

#include "conformance/judge.h"
#include "grade/note.h"

namespace steertag::grade {

/// Responses to a read that are taken for misplaced ones if they come behind the reply that should
/// have waited for them.
inline constexpr std::uint32_t kMostMisplacedResponses = 3;

struct HeldFinding {
  std::size_t index = 0;  // among those of the judge
  capture::Place place;
  EventName event;
  trace::Role culprit = trace::Role::server;
  bool received = false;        // the other side acknowledged what it hangs on
  std::uint32_t responses = 0;  // to reads, by the other side, that came behind it
};

/// What became of findings when the other side had its next turn.
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

  void hold(const HeldFinding& held) { held_.push_back(held); }
  /// `actor` acknowledged what was sent up to this packet.
  void receive(trace::Role actor, const capture::Place& upto);
  /// A response to a read by `actor`.
  void respond(trace::Role actor);
  /// `actor` is about to send a message. What the other side did before is certain if it was
  /// acknowledged before, and nothing of the actor's was missing or late.
  Decided turn(trace::Role actor, bool in_order);
  /// Nothing can be decided any more; returns how many were held.
  std::size_t drop();

 private:
  conformance::Judge pastless_;
  std::size_t asked_ = 0;          // findings of `pastless_` before the event at hand
  std::vector<HeldFinding> held_;  // at most conformance::kMostFindings
};

}  // namespace steertag::grade
