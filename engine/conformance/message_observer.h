// Sees what the judge sees: for those who show a connection beside the findings on it.
#pragma once

#include "conformance/connection_state.h"
#include "conformance/message.h"

namespace steertag::conformance {

class MessageObserver {
 public:
  virtual ~MessageObserver() = default;
  /// A Send as the rules are about to see it; what is known of the connection is as it was before.
  /// `message` is valid during the call.
  virtual void on_message(const Message& message, const Connection& connection) = 0;
};

}  // namespace steertag::conformance
