// The table of requirements that deviations break besides their own.
#include "peer/also_broken.h"

namespace steertag::peer {
namespace {

// In the order of the requirements.
constexpr AlsoBroken kTable[] = {
    {Deviation::assumes_4096, "RFC8166-3.3.3-7"},
    {Deviation::reduced_name_accepted, "RFC8166-3.4.4.3-1"},
    {Deviation::reply_chunk_dropped, "RFC8166-4.2.4-2"},
    {Deviation::reduces_ineligible_result, "RFC8166-6.1-1"},
    {Deviation::unused_write_lengths_kept, "RFC8267-6.4.1-6"},
    {Deviation::error_ignored, "RFC8267-6.7.2-2"},
    {Deviation::assumes_4096, "RFC8797-5.2-2"},
    {Deviation::uncached_retry_fails_sequence, "RFC8881-2.10.6.1.3-1"},
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
