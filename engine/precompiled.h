// What most sources of the engine include, for builds with STEERTAG_QUICK alone.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "nfs/nfs3_procedures.h"
#include "nfs/v4/attribute_codec.h"
#include "nfs/v4/compound.h"
#include "support/bytes.h"
#include "support/expected.h"
#include "wire/header.h"
