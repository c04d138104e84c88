// Why no deviation of our own server or client breaks a requirement that has cases.
#pragma once

#include <string_view>

namespace steertag::ledger {

/// A reason for each side that no deviation breaks; empty for a side that one does.
struct Unbroken {
  std::string_view id;
  std::string_view server;
  std::string_view client;
};

/// The reasons in the row with this id, or nullptr if it gives none.
const Unbroken* unbroken(std::string_view id);

}  // namespace steertag::ledger
