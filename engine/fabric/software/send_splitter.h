// Splits Sends while they arrive, between the posted receive and a place that their owner names.
#pragma once

#include "fabric/fabric.h"

namespace steertag::fabric::software {

class SendSplitter {
 public:
  void use(HeadReader* reader) { reader_ = reader; }
  bool used() const { return reader_ != nullptr; }

  /// Where octets of the message go from `at` on: at most `most`, at least one of them. All before
  /// have arrived. `receive` is the posted one, with room for them all.
  MutableView next(MutableView receive, std::size_t at, std::size_t most);
  /// Puts octets that arrived elsewhere there.
  void put(MutableView receive, std::size_t at, View octets);
  /// Copies what was placed of a message into its gap, for those who read it in one piece.
  void gather(MutableView message) const;
  /// The message has arrived, or never will.
  void end() {
    read_ = false;
    placement_ = {};
  }

 private:
  HeadReader* reader_ = nullptr;
  bool read_ = false;  // the reader has seen the head
  Placement placement_;
};

}  // namespace steertag::fabric::software
