// The source of a connection by the text of its host.
#pragma once

#include <string>

namespace steertag::net {

/// Source::text of a numeric host: "192.0.2.7" of "[::ffff:192.0.2.7]", "2001:db8::/64" of
/// "[2001:db8::1]". Brackets and a zone may be there or not. A host that is no address is its own
/// name.
std::string source_name(const std::string& host);

}  // namespace steertag::net
