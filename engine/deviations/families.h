// The families of deviations, a file each.
#pragma once

#include <span>

#include "deviations/deviation.h"

namespace steertag::deviations {

std::span<const Deviation> reply_header_family();
std::span<const Deviation> error_family();
std::span<const Deviation> session_argument_family();
std::span<const Deviation> session_result_family();

}  // namespace steertag::deviations
