// The three formats in which NFS has been put over RDMA, and which of them a message can be.
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

/// By the document that defines it.
enum class Dialect : std::uint8_t { rfc8166, rfc5666, prototype };
inline constexpr std::array kDialects{Dialect::rfc8166, Dialect::rfc5666, Dialect::prototype};

/// "rfc8166", "rfc5666", "prototype": the words by which users state one.
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
  /// Leaves what is in both: of the messages of one connection, what all of them can be.
  constexpr DialectSet& operator&=(DialectSet other) {
    bits_ &= other.bits_;
    return *this;
  }
  constexpr bool operator==(const DialectSet&) const = default;

 private:
  static constexpr unsigned bit(Dialect dialect) { return 1u << static_cast<unsigned>(dialect); }
  unsigned bits_ = 0;
};

/// The dialects in which a whole Send is a legal message. It has to decode strictly, and an RPC
/// message in it has to start with the XID of the header and a msg_type: by this the prototype is
/// told from the RFCs (Callaghan et al. 2003 4.4), because the words of one are in other places of
/// the other. Of the RFCs only the later one refuses a message: RDMA_MSGP, RDMA_DONE, an rdma_err
/// of no meaning, a read list in an inline RPC reply, a grant of nothing in one or in an error, a
/// position that is no multiple of four (RFC 8166 3.3.1, 3.4.5, 4.3.1, 4.6).
///
/// A set, not a guess. Empty: broken, or of no dialect. Both RFCs: the message is the same in both.
/// The prototype and an RFC together is rare, and then the words really mean something in each: no
/// RPC message is in sight (a long message whose length and handle are presence words of lists), or
/// its XID is small enough to be a presence word. Nothing in the octets decides then. Who reads a
/// whole connection intersects the sets of its messages, and the dialect that its user states, if
/// one is stated, goes before all of this: see `read`.
DialectSet dialects(View message);

/// A message as its dialect has it: the header, and the RPC message without chunks behind it, a
/// view into the octets.
struct Reading {
  std::variant<Header, PrototypeHeader> header;
  View payload;
};

/// Decodes strictly by the stated dialect, whatever else the message could be.
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
