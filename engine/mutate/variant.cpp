// Names of expectations and values, and expectations from the strict decoder.
#include "mutate/variant.h"

#include <array>
#include <charconv>

namespace steertag::mutate {

std::string_view name(Expectation expectation) {
  switch (expectation) {
    case Expectation::discard:
      return "discard";
    case Expectation::err_vers:
      return "ERR_VERS";
    case Expectation::err_chunk:
      return "ERR_CHUNK";
    case Expectation::reply:
      return "reply";
    case Expectation::refuse:
      return "refuse";
    case Expectation::survive:
      return "survive";
  }
  return "unknown";
}

Expectation expectation_of(const wire::Draft& draft, Expectation otherwise) {
  Bytes message;
  wire::encode(draft, message);
  wire::Header header;
  const Expected<View, wire::Fault> decoded = wire::decode(message, header);
  const wire::FaultCode code = decoded ? wire::FaultCode::none : decoded.error().code;
  if (code == wire::FaultCode::too_short) return Expectation::discard;
  if (code == wire::FaultCode::bad_version) return Expectation::err_vers;
  // RFC 8166 4.2.4, 4.6.2: a responder discards RDMA_ERROR and RDMA_DONE, whatever follows.
  if (code != wire::FaultCode::bad_procedure &&
      (header.proc == wire::Procedure::error || header.proc == wire::Procedure::done)) {
    return Expectation::discard;
  }
  if (code != wire::FaultCode::none) return Expectation::err_chunk;
  // RFC 8166 4.6.1: RDMA_MSGP is refused even if it decodes.
  if (header.proc == wire::Procedure::msgp) return Expectation::err_chunk;
  return otherwise;
}

Variant variant(std::string name, wire::Draft draft, Expectation otherwise) {
  const Expectation expectation = expectation_of(draft, otherwise);
  return {std::move(name), std::move(draft), expectation};
}

std::string value_text(std::uint32_t value) {
  constexpr std::uint32_t kFirstHexadecimal = 65536;
  if (value < kFirstHexadecimal) return std::to_string(value);
  std::array<char, 8> digits{};
  const char* const begin = digits.data();
  const char* const end =
      std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
  const std::string text(begin, end);
  return "0x" + std::string(digits.size() - text.size(), '0') + text;
}

}  // namespace steertag::mutate
