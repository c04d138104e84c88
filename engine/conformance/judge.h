// The judge: consumes the events of one connection and gives findings. Nothing else in Steertag
// decides whether a peer conforms.
#pragma once

#include <memory>
#include <vector>

#include "conformance/finding.h"
#include "conformance/rule.h"
#include "trace/event.h"

namespace steertag::conformance {

/// Most findings kept for one connection; further ones are counted only.
inline constexpr std::size_t kMostFindings = 256;

/// What the observer of a connection can see.
struct Visibility {
  /// Every RDMA Write and Read shows up as an event. Not so beside an adapter that places the
  /// peer's data by itself: then a length is not compared with what was placed.
  bool rdma_operations = true;
};

/// Both sides are judged, each by its own acts: an illegal message of one side never makes the
/// other's legal reaction a finding. A connection whose Connect and Accept were not seen was joined
/// in its middle; rules that need its past are silent then.
class Judge final : public trace::EventSink {
 public:
  explicit Judge(Visibility visibility = {});
  ~Judge() override;
  Judge(Judge&&) noexcept;
  Judge& operator=(Judge&&) noexcept;

  void on_event(const trace::Event& event) override;
  /// From here on something passes that gives no events, such as raw octets of a fault hook: what
  /// seems to answer nothing, or to touch memory that nobody offered, is no finding any more.
  void lose_sight();
  const std::vector<Finding>& findings() const;
  std::size_t dropped_findings() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace steertag::conformance
