// The octets of an event, for code that copies events.
#pragma once

#include <type_traits>
#include <variant>

#include "trace/event.h"

namespace steertag::trace {

/// The body's only view, or nullptr if it has none.
inline View* octets_of(Body& body) {
  return std::visit(
      [](auto& value) -> View* {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, Send>) {
          return &value.bytes;
        } else if constexpr (std::is_same_v<Value, RdmaWrite> ||
                             std::is_same_v<Value, RdmaReadResponse>) {
          return &value.payload;
        } else if constexpr (std::is_same_v<Value, Connect> || std::is_same_v<Value, Accept> ||
                             std::is_same_v<Value, Reject>) {
          return &value.private_data;
        } else {
          return nullptr;
        }
      },
      body);
}

}  // namespace steertag::trace
