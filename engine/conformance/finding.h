// A finding: a requirement, the side of a connection that broke it, and the event that proves it.
#pragma once

#include <string>
#include <string_view>

#include "ledger/ledger.h"
#include "trace/event.h"

namespace steertag::conformance {

struct Finding {
  const ledger::Requirement* requirement = nullptr;
  trace::Role culprit = trace::Role::server;  // which side of the connection
  std::uint64_t event = 0;                    // index of the event that proves it
  std::string_view rule;                      // name of the rule in rules()
  std::string expected;                       // what the requirement allows
  std::string observed;                       // the violation, with values
};

}  // namespace steertag::conformance
