// Seeds the faults of each provider.
#include "fabric/testing/faulty_roce.h"

#include <random>

#include "fabric/roce/network/faulty_datagrams.h"
#include "fabric/roce/provider.h"

namespace steertag::fabric::testing {

Factory faulty_roce_factory() {
  Factory factory = roce_factory();
  factory.loses = true;
  factory.make = [](const Limits& limits, Clock clock) {
    static std::uint64_t providers = 0;
    const std::uint64_t seed = ++providers << 8;
    // Its addresses must be free: they are drawn by the process.
    const auto random = std::make_shared<std::mt19937_64>(std::random_device{}());
    const roce::FaultRates rates = clock ? roce::FaultRates{0, 0, 0, 0} : roce::FaultRates{};
    auto provider = roce::make_provider([random] { return (*random)(); }, limits,
                                        clock ? std::move(clock) : system_clock(),
                                        roce::faulty_udp(rates, seed));
    return provider ? std::move(*provider) : nullptr;
  };
  return factory;
}

std::vector<Factory> faulty_if_chosen() {
  return if_chosen("roce").empty() ? std::vector<Factory>{} : std::vector{faulty_roce_factory()};
}

}  // namespace steertag::fabric::testing
