// The judge: consumes the events of one connection and gives findings. Nothing else in Steertag
// decides whether a peer conforms.
#pragma once

#include <memory>
#include <vector>

#include "conformance/findings.h"
#include "conformance/visibility.h"
#include "trace/event.h"

namespace steertag::conformance {

struct Connection;
class MessageObserver;

/// Both sides are judged, each by its own acts: an illegal message of one side never makes the
/// other's legal reaction a finding. A connection whose Connect and Accept were not seen was joined
/// in its middle; rules that need its past are silent then.
class Judge final : public trace::EventSink {
 public:
  /// `observer`, if there is one, must outlive the judge.
  explicit Judge(Visibility visibility = {}, MessageObserver* observer = nullptr);
  ~Judge() override;
  Judge(Judge&&) noexcept;
  Judge& operator=(Judge&&) noexcept;

  void on_event(const trace::Event& event) override;
  /// From here on something passes that gives no events, such as raw octets of a fault hook: what
  /// seems to answer nothing, or to touch memory that nobody offered, is no finding any more.
  void lose_sight();
  /// Something before the next event was not seen, of either side: the connection goes on as one
  /// that was joined in its middle. What was announced when it was opened stays known.
  void lose_past();
  /// What is known after the latest event; to be shown, not to be judged by.
  const Connection& connection() const;
  const std::vector<Finding>& findings() const;
  std::size_t dropped_findings() const;
  /// The findings since the last call, which are forgotten here: those of a long connection never
  /// become too many. `into` is replaced.
  void take_findings(std::vector<Finding>& into);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace steertag::conformance
