// Who has something to do in a provider's next pass.
#pragma once

#include <algorithm>
#include <vector>

namespace steertag::fabric {

class Turn {
 public:
  virtual void take_turn() = 0;

 protected:
  ~Turn() = default;
};

class Turns {
 public:
  void add(Turn& who) { waiting_.push_back(&who); }
  void forget(Turn& who) { std::ranges::replace(waiting_, &who, nullptr); }
  bool empty() const { return waiting_.empty(); }
  /// One pass over what waits now. Later work has its turn after the next wait.
  void run();

 private:
  std::vector<Turn*> waiting_;
};

}  // namespace steertag::fabric
