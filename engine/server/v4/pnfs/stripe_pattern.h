// How the octets of files are striped over data servers, as these see it (RFC 8881 13.4).
// engine/nfs/v4/striping.h is the client's side of the same.
#pragma once

#include <cstdint>
#include <string>

#include "nfs/v4/file_layout.h"
#include "support/expected.h"

namespace steertag::peer {

inline constexpr std::uint32_t kMostDataServers = 64;
/// Stripe units in a stripe: their handles have to fit in a layout of nfs4::kMostLayoutOctets.
/// Linux takes 4096 octets, some eighty handles of ours, and else uses the metadata server.
inline constexpr std::uint32_t kMostStripeUnits = 1024;
inline constexpr std::uint32_t kDefaultStripeUnit = 65536;
/// Above it striping is of no use, and below it products with kMostStripeUnits do not wrap.
inline constexpr std::uint32_t kMostStripeUnit = 1U << 30;

/// A pattern in which the data servers take turns.
struct StripePattern {
  std::uint32_t count = 1;  // data servers
  std::uint32_t unit_bytes = kDefaultStripeUnit;
  bool dense = false;
  bool commit_through_server = false;  // COMMIT goes to the metadata server
  /// Of each data server in a stripe: as many stripe units, each with a filehandle of its own.
  /// Above 1 with dense packing only.
  std::uint32_t turns = 1;

  /// In a stripe. Stripe unit `index` is at data server `index % count`.
  std::uint32_t units() const { return count * turns; }
  /// nfl_util
  std::uint32_t util() const {
    return unit_bytes | (dense ? nfs4::kDense : 0) |
           (commit_through_server ? nfs4::kCommitThroughServer : 0);
  }
  std::uint64_t stripe_bytes() const { return std::uint64_t{unit_bytes} * units(); }
};

/// One sentence about what makes the pattern impossible.
Expected<void, std::string> check_pattern(const StripePattern& pattern);

/// What one filehandle of a data server has of one file.
class Component {
 public:
  /// `index` is that of the stripe unit, from 0. Files begin at different ones, by their number, so
  /// that small files are not all at the first data server.
  Component(const StripePattern& pattern, std::uint64_t file_id, std::uint32_t index)
      : pattern_(pattern),
        place_((index + pattern.units() - first_index(pattern, file_id)) % pattern.units()) {}

  /// nfl_first_stripe_index of a file.
  static std::uint32_t first_index(const StripePattern& pattern, std::uint64_t file_id) {
    return static_cast<std::uint32_t>(file_id % pattern.units());
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
