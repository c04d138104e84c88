// Non-blocking UNIX stream sockets, addressed by a path.
#pragma once

#include <string>

#include "net/error.h"
#include "net/socket.h"
#include "support/expected.h"

namespace steertag::net {

/// A listening socket at the path, which only this user may connect to. It replaces a socket that
/// nothing listens at, and no other file.
Expected<Socket, Error> listen_unix(const std::string& path);

/// A connected socket.
Expected<Socket, Error> connect_unix(const std::string& path);

}  // namespace steertag::net
