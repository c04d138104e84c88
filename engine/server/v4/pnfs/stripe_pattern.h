// How the octets of files are striped over data servers, as these see it (RFC 8881 13.4).
// engine/nfs/v4/striping.h is the client's side of the same.
#pragma once

#include <cstdint>
#include <string>

#include "nfs/v4/file_layout.h"
#include "support/expected.h"

namespace steertag::peer {

/// Data servers of one server: their handles have to fit in the layouts that clients take. Linux
/// takes 4096 octets, some seventy handles of ours.
inline constexpr std::uint32_t kMostDataServers = 64;
inline constexpr std::uint32_t kDefaultStripeUnit = 65536;
/// Above it striping is of no use, and below it products with kMostDataServers do not wrap.
inline constexpr std::uint32_t kMostStripeUnit = 1U << 30;

/// A pattern of one stripe unit for each data server.
struct StripePattern {
  std::uint32_t count = 1;  // data servers, and stripe units in a stripe
  std::uint32_t unit_bytes = kDefaultStripeUnit;
  bool dense = false;
  bool commit_through_server = false;  // COMMIT goes to the metadata server

  /// nfl_util
  std::uint32_t util() const {
    return unit_bytes | (dense ? nfs4::kDense : 0) |
           (commit_through_server ? nfs4::kCommitThroughServer : 0);
  }
  std::uint64_t stripe_bytes() const { return std::uint64_t{unit_bytes} * count; }
};

/// One sentence about what makes the pattern impossible.
Expected<void, std::string> check_pattern(const StripePattern& pattern);

/// What one data server has of one file.
class Component {
 public:
  /// `index` is that of the data server, from 0. Files begin at different ones, by their number, so
  /// that small files are not all at the first.
  Component(const StripePattern& pattern, std::uint64_t file_id, std::uint32_t index)
      : pattern_(pattern),
        place_((index + pattern.count - first_index(pattern, file_id)) % pattern.count) {}

  /// nfl_first_stripe_index of a file.
  static std::uint32_t first_index(const StripePattern& pattern, std::uint64_t file_id) {
    return static_cast<std::uint32_t>(file_id % pattern.count);
  }

  /// A run of octets of the component that is one of the file too.
  struct Run {
    std::uint64_t file_offset = 0;
    std::uint64_t length =
        0;  // up to the end of the stripe unit, or of the largest file; 0: behind
  };
  /// The run that begins at an offset of the component.
  Run at(std::uint64_t offset) const;
  /// Whether sparse octets from `offset` on are this data server's, as far as `length` goes.
  bool has(std::uint64_t offset, std::uint64_t length) const;
  /// Octets of the component of a file of this size; those of the file itself with sparse packing.
  std::uint64_t size(std::uint64_t file_bytes) const;

 private:
  const StripePattern& pattern_;
  std::uint32_t place_;  // of its units within each stripe
};

}  // namespace steertag::peer
