// Faults of the network by the environment, so that programs are tried over them unchanged.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "fabric/net_names.h"
#include "fabric/roce/packets/limits.h"
#include "support/expected.h"

namespace steertag::fabric::roce {

/// Holds PERCENT[:SEED]. Unset or empty: no faults.
inline constexpr const char* kFaultVariable = "STEERTAG_ROCE_FAULTS";

struct FaultSetting {
  unsigned percent = 0;               // of all packets, for each fault
  std::optional<std::uint64_t> seed;  // none: another one in each provider
};

/// Reads a value of the variable. Errc::unsupported if it is none.
Expected<FaultSetting, Error> parse_fault_setting(std::string_view text);
/// That of this process, if there is one.
Expected<std::optional<FaultSetting>, Error> fault_setting();

}  // namespace steertag::fabric::roce
