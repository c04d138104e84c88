// One line of text per event, for failure messages and traces.
#pragma once

#include <string>
#include <string_view>

#include "trace/event.h"

namespace steertag::trace {

/// The body's kind in snake_case: "send", "rdma_write", "memory_offered" ...
std::string_view kind_name(const Body& body);
std::string_view role_name(Role role);

/// Index, actor, kind and fields. A Send has its length and its first octets in hex, which include
/// the words of the transport header. No line end.
std::string describe(const Event& event);

}  // namespace steertag::trace
