// Where the octets of a striped file are (RFC 8881 13.4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "nfs/v4/file_layout.h"

namespace steertag::nfs4 {

/// Why a layout is of no use: the requirement that it breaks, and how.
struct StripingFault {
  std::string_view requirement;  // of the ledger
  std::string_view what;
};

/// A part of a file that lies in one stripe unit.
struct StripePart {
  std::size_t list = 0;               // in nflda_multipath_ds_list
  std::optional<std::size_t> handle;  // in nfl_fh_list; none: the handle of OPEN
  std::uint64_t offset = 0;           // at the data server
  std::uint64_t length = 0;           // octets up to the end of the stripe unit

  bool operator==(const StripePart&) const = default;
};

/// What a layout breaks together with the address of its device (RFC 8881 13.3), if anything.
std::optional<StripingFault> find_striping_fault(const FileLayout& layout,
                                                 const FileLayoutDevice& device);

/// The pattern of a layout. It refers to both, which have to outlive it and to be without a fault.
class Striping {
 public:
  Striping(const FileLayout& layout, const FileLayoutDevice& device)
      : layout_(layout), device_(device) {}

  /// The part that begins at an offset of the file; none before the pattern's own.
  std::optional<StripePart> at(std::uint64_t file_offset) const;

 private:
  std::optional<std::size_t> handle_of(std::size_t stripe, std::size_t list) const;

  const FileLayout& layout_;
  const FileLayoutDevice& device_;
};

}  // namespace steertag::nfs4
