// Rules on private data: checks and texts.
#include "conformance/rules/private_data_rules.h"

#include <optional>

#include "conformance/text.h"
#include "wire/private_data.h"

namespace steertag::conformance {

void check_private_data(const trace::Event& event, View private_data, Connection& connection) {
  if (const auto found = wire::find_private_data(private_data)) {
    const auto reserved = static_cast<std::uint32_t>(found->raw_flags & ~1u);
    if (reserved == 0) return;
    if (Finding* finding =
            connection.findings.open(kReservedBitsAreZero, event.actor, event.index)) {
      finding->expected = "reserved bits zero";
      finding->observed = say("flags octet ", Hex{found->raw_flags});
    }
    return;
  }
  // No identifier: RFC 8797 does not apply, since its format is optional.
  const std::optional<std::size_t> at = wire::find_private_data_identifier(private_data);
  if (!at) return;
  const std::size_t rest = private_data.size() - *at;
  const bool whole = rest >= wire::kPrivateDataBytes;
  const Rule& rule = whole ? kPrivateDataVersionIsOne : kPrivateDataHasEightOctets;
  if (Finding* finding = connection.findings.open(rule, event.actor, event.index)) {
    finding->expected = whole ? "version 1" : "eight octets from the format identifier on";
    finding->observed = whole
                            ? say("version ", std::to_integer<std::uint32_t>(private_data[*at + 4]))
                            : say(rest, " octets");
  }
}

}  // namespace steertag::conformance
