// Rules on the connection as a whole: checks and texts.
#include "conformance/connection_rules.h"

#include "conformance/text.h"

namespace steertag::conformance {

void check_after_terminate(const trace::Event& event, Connection& connection) {
  if (!connection.terminated[static_cast<std::size_t>(event.actor)]) return;
  if (Finding* finding =
          connection.findings.open(kNothingFollowsATerminate, event.actor, event.index)) {
    finding->expected = "nothing after a Terminate";
    finding->observed =
        std::holds_alternative<trace::Send>(event.body) ? "a Send" : "an RDMA operation";
  }
}

}  // namespace steertag::conformance
