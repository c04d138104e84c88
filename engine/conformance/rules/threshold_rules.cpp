// Rules on the size of Sends: checks and texts.
#include "conformance/rules/threshold_rules.h"

#include "conformance/text.h"

namespace steertag::conformance {

void check_threshold(const Message& message, Connection& connection) {
  if (!connection.established()) return;
  const bool to_server = message.sender == trace::Role::client;
  const std::uint32_t limit =
      to_server ? connection.negotiated.to_server_bytes : connection.negotiated.to_client_bytes;
  if (message.bytes.size() <= limit) return;
  const bool announced =
      connection.private_data[0].has_value() && connection.private_data[1].has_value();
  const Rule& rule = !announced  ? kDefaultThresholdIsKept
                     : to_server ? kClientKeepsNegotiatedThreshold
                                 : kServerKeepsNegotiatedThreshold;
  if (Finding* finding = open_finding(rule, message, connection)) {
    finding->expected = say("at most ", limit, " octets");
    finding->observed = say("a Send of ", message.bytes.size(), " octets");
  }
}

}  // namespace steertag::conformance
