// The deviations that one client shall have.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/files/file_client.h"
#include "deviations/deviation.h"
#include "support/expected.h"

namespace steertag::deviations {

class ClientDeviations {
 public:
  /// The error is one sentence that proposes the nearest names.
  Expected<void, std::string> add(std::string_view name);
  /// Makes the options those of a client that deviates. Call it last, when they are complete.
  void install(peer::FileClientOptions& options) const;

 private:
  std::vector<const Deviation*> chosen_;
};

}  // namespace steertag::deviations
