// The table of requirements that deviations break besides their own.
#include "switches/also_broken.h"

namespace steertag::peer {
namespace {

// In the order of the requirements.
constexpr AlsoBroken kTable[] = {
    {Deviation::refused_read_answered, "RFC8166-3.1-1"},
    {Deviation::read_depth_ignored, "RFC8166-3.3.1-12"},
    {Deviation::refused_read_answered, "RFC8166-8.1-2"},
    {Deviation::refused_read_answered, "RFC5041-8.3.1-1"},
    {Deviation::startup_key_ignored, "RFC5044-7.1.2-3"},
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
