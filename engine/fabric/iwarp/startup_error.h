// The errors of a failed MPA startup, with the same sentences for both roles.
#pragma once

#include "fabric/fabric.h"
#include "fabric/iwarp/formats.h"

namespace steertag::fabric::iwarp {

/// The octets `got` break a rule of the expected frame.
Error startup_fault(StartupKind kind, StartupFault fault, View got);
/// The stream ended after `have` octets of the frame: orderly, or with the errno value `code`.
Error startup_cut(StartupKind kind, std::size_t have, int code);
/// The frame did not arrive completely in time.
Error startup_late(StartupKind kind, std::chrono::milliseconds limit);
/// A written exception to RFC 5044 4.3: we insert no markers, as most software does not.
Error markers_demanded();
/// The first octets of something that is not MPA, printable: "HTTP/1.1 400".
std::string printable(View bytes);

}  // namespace steertag::fabric::iwarp
