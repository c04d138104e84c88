// Observes the judge's input, for programs that display a connection beside its findings.
#pragma once

#include "conformance/connection_state.h"
#include "conformance/message.h"

namespace steertag::conformance {

class MessageObserver {
 public:
  virtual ~MessageObserver() = default;
  /// A Send before the rules see it, with the state before it. `message` is valid during the call.
  virtual void on_message(const Message& message, const Connection& connection) = 0;
};

}  // namespace steertag::conformance
