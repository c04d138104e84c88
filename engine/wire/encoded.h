// The octets of one value.
#pragma once

#include "wire/xdr.h"

namespace steertag::wire {

/// What `value.encode(Writer&)` writes.
template <class Value>
Bytes encoded(const Value& value) {
  Bytes octets;
  Writer writer(octets);
  value.encode(writer);
  return octets;
}

}  // namespace steertag::wire
