// Rules on the connection as a whole: checks and texts.
#include "conformance/rules/connection_rules.h"

#include "conformance/text.h"

namespace steertag::conformance {

void refuse_read_refusal(const trace::Event& event, Connection& connection) {
  if (connection.observation_lost) return;
  if (Finding* finding =
          connection.findings.open(kReadRefusalWasAgreed, event.actor, event.index)) {
    finding->expected = "a Read Response or a Terminate";
    finding->observed = "a refusal of a Read, with an opcode that RFC 5040 does not have";
  }
}

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
