// Socket activation: every socket that a service manager hands over is one that the options name.
#pragma once

#include <span>
#include <string>

#include "net/url.h"
#include "support/expected.h"

namespace steertag::serve {

/// Nothing, or one sentence about a socket that no URL of iwarp or tcp would take over.
Expected<void, std::string> check_inherited_sockets(std::span<const net::Url> urls);

/// Closes them, once the listeners have their duplicates, and takes them out of the environment.
void forget_inherited_sockets();

}  // namespace steertag::serve
