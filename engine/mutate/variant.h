// A hostile message: a draft, the permanent name of its fault, and the expected answer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "wire/draft.h"

namespace steertag::mutate {

/// The expected reaction of a responder that receives the variant as a call. Only a hint for
/// authors of cases: the rules of engine/conformance judge.
enum class Expectation : std::uint8_t {
  discard,    // no answer at all (RFC 8166 4.5, 4.6.2)
  err_vers,   // RDMA_ERROR with ERR_VERS (RFC 8166 4.5.1)
  err_chunk,  // RDMA_ERROR with ERR_CHUNK (RFC 8166 4.5.2)
  reply,      // the message is legal: the RPC reply
  refuse,     // not executed: ERR_CHUNK, an RPC error, or the loss of the connection
  survive,    // any answer or none; the responder survives
};

/// "discard", "ERR_VERS", "ERR_CHUNK", "reply", "refuse" or "survive".
std::string_view name(Expectation expectation);

struct Variant {
  std::string name;  // permanent: "write-chunk.count-0x10000000"
  wire::Draft draft;
  Expectation expectation = Expectation::survive;
};

/// The strict decoder's view of the draft as a call: the answer to its fault, or `otherwise` for a
/// message that decodes.
Expectation expectation_of(const wire::Draft& draft, Expectation otherwise);

/// The variant with the result of `expectation_of`.
Variant variant(std::string name, wire::Draft draft, Expectation otherwise);

/// A value as in names: decimal below 65536, else "0x" and eight digits.
std::string value_text(std::uint32_t value);

}  // namespace steertag::mutate
