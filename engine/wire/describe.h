// A trace-like text of transport headers and messages, for failure messages and reports.
#pragma once

#include <string>

#include "wire/header.h"

namespace steertag::wire {

/// Limits of the text: entries of each list, and payload octets. The rest is counted.
inline constexpr std::size_t kMostDescribedEntries = 32;
inline constexpr std::size_t kMostDescribedBytes = 128;

/// "RDMA_MSG", "RDMA_NOMSG", ...; "procedure 7" for values without a name.
std::string procedure_name(std::uint32_t proc);

/// Several lines, the last one with its line feed:
///
///     RDMA_MSG xid 0x12345678 vers 1 credit 32
///     read list
///       position 96: handle 0xaabbcc01 length 4096 offset 0x00007f0000001000
///     write list absent
///     reply chunk absent
///     payload stream 4 octets
///       0x001c  12345678
std::string describe(const Header& header, View payload);

/// Any octets: what fits the format as above, then the strict decoder's fault, and the octets that
/// do not fit.
std::string describe(View message, Document document = Document::rfc8166);

}  // namespace steertag::wire
