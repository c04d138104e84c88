// The three formats of NFS over RDMA, and which of them a message may have.
#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "wire/header.h"
#include "wire/legacy/prototype.h"

namespace steertag::wire {

/// Named after the defining document.
enum class Dialect : std::uint8_t { rfc8166, rfc5666, prototype };
inline constexpr std::array kDialects{Dialect::rfc8166, Dialect::rfc5666, Dialect::prototype};

/// "rfc8166", "rfc5666", "prototype": the names for users.
std::string_view dialect_name(Dialect dialect);
std::optional<Dialect> dialect_named(std::string_view name);

class DialectSet {
 public:
  constexpr DialectSet() = default;
  constexpr DialectSet(std::initializer_list<Dialect> dialects) {
    for (const Dialect each : dialects) insert(each);
  }

  constexpr void insert(Dialect dialect) { bits_ |= bit(dialect); }
  constexpr bool contains(Dialect dialect) const { return (bits_ & bit(dialect)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  /// Intersects the sets, for all messages of a connection.
  constexpr DialectSet& operator&=(DialectSet other) {
    bits_ &= other.bits_;
    return *this;
  }
  constexpr bool operator==(const DialectSet&) const = default;

 private:
  static constexpr unsigned bit(Dialect dialect) { return 1u << static_cast<unsigned>(dialect); }
  unsigned bits_ = 0;
};

/// The dialects in which a whole Send is a legal message.
///
/// It must decode strictly, and an RPC message in it must start with the header's XID and a
/// msg_type. This distinguishes the prototype from the RFCs (Callaghan et al. 2003 4.4), since
/// their words have different places.
///
/// RFC 8166 refuses some messages of RFC 5666 (RFC 8166 3.3.1, 3.4.5, 4.3.1, 4.6):
/// - RDMA_MSGP, RDMA_DONE, an undefined rdma_err
/// - a read list in an inline RPC reply
/// - a grant of zero in a reply or error
/// - an unaligned position
///
/// The result is a set, not a guess. Empty: broken, or of no dialect. Both RFCs: the message is the
/// same in both.
///
/// The prototype together with an RFC is rare, and the octets decide nothing then. Perhaps no RPC
/// message is visible: the length and handle of a long message are presence words. Or its XID is
/// small enough for a presence word.
///
/// For a connection, intersect the sets of its messages. A dialect that the user states overrides
/// the result: see `read`.
DialectSet dialects(View message);

/// A message in its dialect: the header, and the RPC message without chunks, a view into the
/// octets.
struct Reading {
  std::variant<Header, PrototypeHeader> header;
  View payload;
};

/// Decodes strictly in the stated dialect, whatever else the message may be.
Expected<Reading, Fault> read(View message, Dialect dialect);

/// As describe.h has it for RFC 8166, for any octets by the stated dialect:
///
///     prototype message xid 0x12345678 version 1
///     chunk list
///       offset 96: length 4096 handle 0xaabbcc01 address 0x00007f0000001000
///     payload stream 4 octets
///       0x0028  12345678
std::string describe(View message, Dialect dialect);

}  // namespace steertag::wire
