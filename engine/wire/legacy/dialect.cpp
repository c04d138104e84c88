// Recognizes and reads the three dialects.
#include "wire/legacy/dialect.h"

#include "wire/xdr.h"

namespace steertag::wire {

namespace {

// RFC 5531 9: msg_type, behind the XID.
constexpr std::size_t kTypeOffset = 4;
constexpr std::uint32_t kCall = 0;
constexpr std::uint32_t kReply = 1;

/// The msg_type of an RPC message with this XID; nothing for other octets.
std::optional<std::uint32_t> message_type(View payload, std::uint32_t xid) {
  if (payload.size() < kTypeOffset + 4 || load_u32(payload.data()) != xid) return std::nullopt;
  const std::uint32_t type = load_u32(payload.data() + kTypeOffset);
  if (type != kCall && type != kReply) return std::nullopt;
  return type;
}

bool has_payload(Procedure proc) {
  return proc == Procedure::msg || proc == Procedure::msgp;
}

bool is_rfc5666(View message, Header& scratch) {
  const Expected<View, Fault> payload = decode(message, scratch, Document::rfc5666);
  return payload && (!has_payload(scratch.proc) || message_type(*payload, scratch.xid));
}

bool is_rfc8166(View message, Header& scratch) {
  const Expected<View, Fault> payload = decode(message, scratch);
  if (!payload || scratch.proc == Procedure::msgp) return false;
  // RFC 8166 3.3.1: a grant is never zero.
  if (scratch.proc == Procedure::error) return scratch.credit != 0;
  if (scratch.proc != Procedure::msg) return true;
  const auto type = message_type(*payload, scratch.xid);
  if (!type) return false;
  return *type == kCall || (scratch.read_list.empty() && scratch.credit != 0);
}

bool is_prototype(View message) {
  PrototypeHeader header;
  const Expected<View, Fault> payload = decode(message, header);
  if (!payload) return false;
  const bool in_sight = header.type == PrototypeType::message && !header.is_long();
  return !in_sight || message_type(*payload, header.xid);
}

template <class Any>
Expected<Reading, Fault> reading(Any header, Expected<View, Fault> payload) {
  Expected<Reading, Fault> made;
  if (payload) {
    made->header.template emplace<Any>(std::move(header));
    made->payload = *payload;
  } else {
    made = Unexpected<Fault>(payload.error());
  }
  return made;
}

}  // namespace

std::string_view dialect_name(Dialect dialect) {
  switch (dialect) {
    case Dialect::rfc8166:
      return "rfc8166";
    case Dialect::rfc5666:
      return "rfc5666";
    case Dialect::prototype:
      return "prototype";
  }
  return "unknown dialect";
}

std::optional<Dialect> dialect_named(std::string_view text) {
  for (const Dialect each : kDialects) {
    if (dialect_name(each) == text) return each;
  }
  return std::nullopt;
}

DialectSet dialects(View message) {
  DialectSet found;
  Header scratch;
  if (is_rfc8166(message, scratch)) found.insert(Dialect::rfc8166);
  if (is_rfc5666(message, scratch)) found.insert(Dialect::rfc5666);
  if (is_prototype(message)) found.insert(Dialect::prototype);
  return found;
}

Expected<Reading, Fault> read(View message, Dialect dialect) {
  if (dialect == Dialect::prototype) {
    PrototypeHeader header;
    const Expected<View, Fault> payload = decode(message, header);
    return reading(std::move(header), payload);
  }
  Header header;
  const bool later = dialect == Dialect::rfc8166;
  const Expected<View, Fault> payload =
      decode(message, header, later ? Document::rfc8166 : Document::rfc5666);
  return reading(std::move(header), payload);
}

}  // namespace steertag::wire
