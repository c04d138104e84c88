// Shared by all providers: the source of randomness, and the choice of a provider by name.
#include "fabric/fabric.h"

#include <random>

#include "fabric/iwarp/provider.h"
#include "fabric/roce/provider.h"
#include "fabric/verbs/provider.h"

namespace steertag::fabric {

RandomSource system_random() {
  auto device = std::make_shared<std::random_device>();
  return [device] { return std::uint64_t{(*device)()} << 32 | (*device)(); };
}

Expected<std::unique_ptr<Provider>, Error> make_provider(std::string_view name, RandomSource random,
                                                         const Limits& limits, Clock clock) {
  if (name == "iwarp") {
    return iwarp::make_provider(std::move(random), limits,
                                clock ? std::move(clock) : system_clock());
  }
  if (name == "roce") {
    return roce::make_provider(std::move(random), limits,
                               clock ? std::move(clock) : system_clock());
  }
  if (name == "verbs") {
    return verbs::make_provider(limits, clock ? std::move(clock) : system_clock());
  }
  return tl::unexpected(Error{Errc::unknown_provider, "\"" + std::string(name) + "\""});
}

}  // namespace steertag::fabric
