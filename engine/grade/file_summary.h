// What a capture shows of one file with layouts (RFC 8881 13).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conformance/pnfs/layouts.h"

namespace steertag::grade {

/// A range that LAYOUTGET granted to the client.
struct RangeSummary {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  bool writable = false;  // LAYOUTIOMODE4_RW
  conformance::MessagePlace granted;
  std::optional<conformance::MessagePlace> returned;
};

/// A file, as one client uses it. The pattern is that of its latest layout.
struct FileSummary {
  std::uint64_t client = 0;  // a number for each co_ownerid
  std::string handle;        // of the metadata server, octets
  std::string device;        // device ID, octets
  /// The addresses of each data server, as "192.0.2.1:20049 (rdma)". Empty if the device's address
  /// was not seen.
  std::vector<std::vector<std::string>> data_servers;
  std::uint32_t stripe_unit_bytes = 0;
  bool dense = false;
  bool commits_through_server = false;
  std::vector<RangeSummary> ranges;
  // Octets of READ and WRITE that succeeded since its first layout.
  conformance::IoOctets at_data_servers;
  conformance::IoOctets at_metadata_server;
};

/// Files without a kept layout have none.
std::vector<FileSummary> summaries_of(const conformance::Layouts& layouts);

}  // namespace steertag::grade
