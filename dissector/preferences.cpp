// The preferences as Wireshark keeps them, in variables of their own.
// SPDX-License-Identifier: GPL-2.0-or-later
#include "dissector/preferences.h"

#include <array>

#include "dissector/epan.h"

namespace steertag::dissector {

namespace {

constexpr std::uint32_t kHighestPort = 65535;

// gboolean until Wireshark 4.2, bool since 4.4.
template <class Flag>
Flag flag_of(void (*)(module_t*, const char*, const char*, const char*, Flag*));
using Flag = decltype(flag_of(prefs_register_bool_preference));

Flag enable = true;
Flag operations = true;
int levels = static_cast<int>(Weight::should);
int judged_by = static_cast<int>(grade::Profile::rfc8166);
range_t* ports = nullptr;

const std::array<enum_val_t, 4> kLevels{{
    {"must", "MUST only", static_cast<int>(Weight::must)},
    {"should", "MUST and SHOULD", static_cast<int>(Weight::should)},
    {"all", "All", static_cast<int>(Weight::may)},
    {nullptr, nullptr, 0},
}};

const std::array<enum_val_t, 4> kProfiles{{
    {"rfc8166", "RFC 8166, 8167, 8267 and 8797", static_cast<int>(grade::Profile::rfc8166)},
    {"rfc5666", "RFC 5666 and 5667", static_cast<int>(grade::Profile::rfc5666)},
    {"prototype", "The prototype of 2003", static_cast<int>(grade::Profile::prototype)},
    {nullptr, nullptr, 0},
}};

}  // namespace

Weight weight(ledger::Level level) {
  switch (level) {
    case ledger::Level::should:
    case ledger::Level::should_not:
    case ledger::Level::not_recommended:
      return Weight::should;
    case ledger::Level::may:
    case ledger::Level::optional:
      return Weight::may;
    case ledger::Level::must:
    case ledger::Level::must_not:
    case ledger::Level::required:
    case ledger::Level::def:
      return Weight::must;
  }
  return Weight::must;
}

void register_preferences(int protocol) {
  module_t* module = prefs_register_protocol(protocol, nullptr);
  prefs_register_bool_preference(module, "enable", "Judge RPC-over-RDMA connections",
                                 "Read every frame and judge the connections that are found.",
                                 &enable);
  prefs_register_enum_preference(
      module, "profile", "Profile",
      "By which description of the protocol connections are judged. Nothing in a message tells "
      "version 1 from its predecessors for certain.",
      &judged_by, kProfiles.data(), false);
  prefs_register_enum_preference(
      module, "levels", "Findings to show",
      "The levels of broken requirements to show. Normative text without a key "
      "word counts as MUST.",
      &levels, kLevels.data(), false);
  prefs_register_bool_preference(module, "operations", "Show RDMA operations",
                                 "Show to which call an RDMA Read or Write belongs.", &operations);
  range_convert_str(wmem_epan_scope(), &ports, "", kHighestPort);
  prefs_register_range_preference(
      module, "ports", "Further ports",
      "Ports besides 20049 on which NFS/RDMA is spoken. Connections on other ports are judged once "
      "their messages show what they are.",
      &ports, kHighestPort);
}

bool reading_wanted() {
  return enable;
}

grade::Profile profile() {
  return static_cast<grade::Profile>(judged_by);
}

bool shown(Weight weight) {
  return static_cast<int>(weight) <= levels;
}

bool operations_shown() {
  return operations;
}

std::vector<std::uint16_t> further_ports() {
  std::vector<std::uint16_t> all;
  for (unsigned at = 0; ports != nullptr && at < ports->nranges; ++at) {
    for (std::uint32_t port = ports->ranges[at].low;
         port <= ports->ranges[at].high && port <= kHighestPort; ++port) {
      all.push_back(static_cast<std::uint16_t>(port));
    }
  }
  return all;
}

}  // namespace steertag::dissector
