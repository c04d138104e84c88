// The roce provider over a network with faults, as the provider test suite gets it.
#pragma once

#include "fabric/testing/endpoint.h"

namespace steertag::fabric::testing {

/// With a clock of the test's own the network has no faults, because the provider's timers stand
/// still.
Factory faulty_roce_factory();
/// It, if this run tests roce.
std::vector<Factory> faulty_if_chosen();

}  // namespace steertag::fabric::testing
