// The table of requirements that deviations break besides their own.
#include "switches/also_broken.h"

namespace steertag::peer {
namespace {

// In the order of the requirements.
constexpr AlsoBroken kTable[] = {
    {Deviation::refused_read_answered, "RFC8166-3.1-1"},
    {Deviation::read_depth_ignored, "RFC8166-3.3.1-12"},
    {Deviation::refused_read_answered, "RFC8166-8.1-2"},
    {Deviation::granted_slots_missing, "RFC8267-6.6-2"},
    {Deviation::refused_read_answered, "RFC5041-8.3.1-1"},
    {Deviation::startup_key_ignored, "RFC5044-7.1.2-3"},
    {Deviation::granted_slots_missing, "RFC8881-2.10.3.1-2"},
    {Deviation::session_operations_beside_others, "RFC8881-18.35.3-1"},
    {Deviation::misordered_sequence_executed, "RFC8881-18.36.3-15"},
    {Deviation::session_operations_beside_others, "RFC8881-18.37.3-3"},
};

}  // namespace

std::span<const AlsoBroken> also_broken() {
  return kTable;
}

std::vector<std::string_view> also_broken(Deviation deviation) {
  std::vector<std::string_view> requirements;
  for (const AlsoBroken& row : kTable) {
    if (row.deviation == deviation) requirements.push_back(row.requirement);
  }
  return requirements;
}

}  // namespace steertag::peer
