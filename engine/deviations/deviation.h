// A deviation: a named change that makes a reference peer break a requirement.
// It has the requirements that it breaks, and what it changes.
#pragma once

#include <array>
#include <string_view>

#include "deviations/client/client_change.h"
#include "deviations/server/server_change.h"
#include "trace/event.h"

namespace steertag::deviations {

/// Requirements that one deviation breaks at most.
inline constexpr std::size_t kMostBroken = 8;

/// One row of a family's table. The suites have to catch it under each id of `breaks`.
struct Deviation {
  std::string_view name;  // kebab-case, says what goes wrong; permanent
  trace::Role side = trace::Role::server;
  std::array<std::string_view, kMostBroken> breaks{};  // ledger ids, its own first; then empty
  std::string_view sentence;
  ServerChange server{};
  ClientChange client{};
  /// Of the server: whether the fixed script of deviation_test.cpp shows it; if not, only the
  /// suites do.
  bool script_shows = true;
  /// Of the server: its data servers in one process change messages, and the metadata server does
  /// not. `server.options` are those of all.
  bool at_data_servers = false;
  /// Of the server: arguments of its program, with spaces between, without which no suite shows it.
  std::string_view argument{};

  std::string_view requirement() const { return breaks.front(); }
};

}  // namespace steertag::deviations
