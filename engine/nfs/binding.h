// The upper-layer binding of NFS versions 2 and 3 to RPC-over-RDMA (RFC 8267 4).
// It says which item of a message is DDP-eligible, and where it is in the payload stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "support/bytes.h"
#include "wire/fault.h"

namespace steertag::nfs {

inline constexpr std::uint32_t kNfsProgram = 100003;
inline constexpr std::uint32_t kNfsVersion4 = 4;
/// Most items of one message that may be reduced under these bindings (RFC 8267 4).
inline constexpr std::size_t kMostEligibleItems = 1;

enum class ItemIn : std::uint8_t { argument, result };

/// One row of the binding: `item` of a procedure's arguments or results may be reduced.
struct BindingRow {
  std::uint32_t program;
  std::uint32_t version;
  std::uint32_t procedure;
  ItemIn in;
  std::string_view item;  // the RFC's name of the field
};

/// The whole table. What is not in it is not eligible: other items, programs (MOUNT, NLM, NSM,
/// NFSACL; RFC 8267 5) and callbacks. NFS version 4 has a binding of its own.
std::span<const BindingRow> binding_table();

/// Whether it is MOUNT, NLM, NSM or NFSACL, which have no eligible item in any version (RFC 8267
/// 5).
bool nothing_eligible(std::uint32_t program);

/// The name of the eligible item of a procedure, or nullopt.
std::optional<std::string_view> eligible_item(std::uint32_t program, std::uint32_t version,
                                              std::uint32_t procedure, ItemIn in);

/// Where an eligible item is.
struct EligibleItem {
  /// Octets before the item in the unreduced payload stream, its count word included. This is the
  /// XDR position of a read chunk that carries it (RFC 8166 3.4.5). Always a multiple of four.
  std::size_t position = 0;
  /// Octets of the item, from its count word, without roundup.
  std::uint32_t length = 0;
  /// The item is not in this payload: nothing but what follows it comes after the count word.
  bool reduced = false;
  /// A result that could have had the item reports an error, and has none (only in
  /// eligible_items.h).
  bool absent = false;
};

/// The eligible argument of an encoded call (from its XID on), unreduced or reduced. Arguments that
/// are not plain XDR (rpc::Wrapping) must not be reduced (RFC 8166 8.2.2.3). It is nullopt when the
/// procedure has none, rpcvers is not 2, or the arguments are not plain XDR. It is also nullopt
/// when the payload does not decode as far as the item's count word. Only this sets `fault`, when
/// it is given; otherwise `fault` is cleared. Values are not judged: a handle that is too long does
/// not hide the item.
std::optional<EligibleItem> eligible_argument(View rpc_call, wire::Fault* fault = nullptr);

/// The eligible result of an encoded reply to a call of that procedure, likewise. It is nullopt
/// also when the reply reports an error, so that the item is absent. A reply does not tell the
/// service of RPCSEC_GSS. Do not call this for calls under integrity or privacy.
std::optional<EligibleItem> eligible_result(View rpc_reply, std::uint32_t program,
                                            std::uint32_t version, std::uint32_t procedure,
                                            wire::Fault* fault = nullptr);

}  // namespace steertag::nfs
