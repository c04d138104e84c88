// Names and sentences for faults.
#include "wire/fault.h"

namespace steertag::wire {

std::string_view sentence(FaultCode code) {
  switch (code) {
    case FaultCode::none:
      return "no fault";
    case FaultCode::truncated:
      return "the message ends inside this field";
    case FaultCode::bad_boolean:
      return "a presence word is neither 0 nor 1";
    case FaultCode::bad_count:
      return "the count is larger than the message or the limit allows";
    case FaultCode::bad_enum:
      return "no such value is defined";
    case FaultCode::bad_padding:
      return "roundup octets are not zero";
    case FaultCode::bad_string:
      return "the string is not acceptable";
    case FaultCode::too_short:
      return "the message is shorter than 28 octets";
    case FaultCode::bad_version:
      return "rdma_vers is not 1";
    case FaultCode::bad_procedure:
      return "rdma_proc has no such value";
    case FaultCode::bad_position:
      return "the position is not a multiple of four";
    case FaultCode::no_chunk:
      return "RDMA_NOMSG carries no chunk at all";
    case FaultCode::bad_error_code:
      return "rdma_err is neither ERR_VERS nor ERR_CHUNK";
    case FaultCode::trailing_bytes:
      return "octets follow where the message must end";
    case FaultCode::limit_exceeded:
      return "the list is longer than the decoder's limit";
    case FaultCode::bad_order:
      return "the XDR offset is below that of the chunk before it";
    case FaultCode::position_zero_not_first:
      return "XDR offset zero is not that of the first chunk";
  }
  return "unknown fault";
}

std::string_view code_name(FaultCode code) {
  switch (code) {
    case FaultCode::none:
      return "none";
    case FaultCode::truncated:
      return "truncated";
    case FaultCode::bad_boolean:
      return "bad_boolean";
    case FaultCode::bad_count:
      return "bad_count";
    case FaultCode::bad_enum:
      return "bad_enum";
    case FaultCode::bad_padding:
      return "bad_padding";
    case FaultCode::bad_string:
      return "bad_string";
    case FaultCode::too_short:
      return "too_short";
    case FaultCode::bad_version:
      return "bad_version";
    case FaultCode::bad_procedure:
      return "bad_procedure";
    case FaultCode::bad_position:
      return "bad_position";
    case FaultCode::no_chunk:
      return "no_chunk";
    case FaultCode::bad_error_code:
      return "bad_error_code";
    case FaultCode::trailing_bytes:
      return "trailing_bytes";
    case FaultCode::limit_exceeded:
      return "limit_exceeded";
    case FaultCode::bad_order:
      return "bad_order";
    case FaultCode::position_zero_not_first:
      return "position_zero_not_first";
  }
  return "unknown";
}

std::string Fault::message() const {
  std::string text = "offset " + std::to_string(offset);
  if (!field.empty()) {
    text += ", ";
    text += field;
  }
  text += ": ";
  text += sentence(code);
  return text;
}

}  // namespace steertag::wire
