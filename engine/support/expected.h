// The result type of every function that can fail on input from outside.
#pragma once

#include <tl/expected.hpp>

namespace steertag {

template <class Value, class Error>
using Expected = tl::expected<Value, Error>;

template <class Error>
using Unexpected = tl::unexpected<Error>;

}  // namespace steertag
