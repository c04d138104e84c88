// The judge: consumes the events of one connection and gives findings. Nothing else in Steertag
// decides whether a peer conforms.
#pragma once

#include <memory>
#include <vector>

#include "conformance/finding.h"
#include "trace/event.h"

namespace steertag::conformance {

/// Most findings kept for one connection; further ones are counted only.
inline constexpr std::size_t kMostFindings = 256;

class Judge final : public trace::EventSink {
 public:
  Judge();
  ~Judge() override;
  void on_event(const trace::Event& event) override;
  const std::vector<Finding>& findings() const;
  std::size_t dropped_findings() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace steertag::conformance
