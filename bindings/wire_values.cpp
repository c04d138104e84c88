// Conversions between the engine's message values and their data classes in Python.
#include "wire_values.h"

#include "bind.h"
#include "wire_fields.h"

namespace steertag::bindings {

namespace detail {

template <>
struct Conversion<wire::Header> {
  static py::object to(const DataClasses& classes, const wire::Header& value) {
    HeaderFields fields{
        value.xid,   value.vers,   value.credit, value.proc,     value.read_list, {}, {},
        value.align, value.thresh, value.error,  value.vers_low, value.vers_high, {}};
    if (is_other_error(value)) fields.extra.assign(value.extra.begin(), value.extra.end());
    for (std::size_t i = 0; i < value.write_list.size(); ++i) {
      fields.write_list.emplace_back(value.write_list[i].begin(), value.write_list[i].end());
    }
    if (value.has_reply_chunk) fields.reply_chunk = value.reply_chunk;
    return classes.to(fields);
  }

  static void from(const DataClasses& classes, py::handle object, wire::Header& value,
                   const Path& path, Arena& arena) {
    HeaderFields fields;
    classes.from(object, fields, path, arena);
    check(fields.proc, {&path, "proc"});
    // RFC 5666 4.3: an error of no meaning has these words.
    if (fields.extra.empty()) check(fields.error, {&path, "error"});
    if (!fields.extra.empty() && fields.extra.size() != value.extra.size()) {
      raise_field_range({&path, "extra"}, "not " + std::to_string(value.extra.size()) + " words");
    }
    std::copy(fields.extra.begin(), fields.extra.end(), value.extra.begin());
    value.xid = fields.xid;
    value.vers = fields.vers;
    value.credit = fields.credit;
    value.proc = fields.proc;
    value.read_list = std::move(fields.read_list);
    for (const auto& chunk : fields.write_list) value.write_list.add(chunk);
    value.has_reply_chunk = fields.reply_chunk.has_value();
    if (fields.reply_chunk) value.reply_chunk = std::move(*fields.reply_chunk);
    value.align = fields.align;
    value.thresh = fields.thresh;
    value.error = fields.error;
    value.vers_low = fields.vers_low;
    value.vers_high = fields.vers_high;
  }

 private:
  static bool is_other_error(const wire::Header& header) {
    return header.proc == wire::Procedure::error && rpc::name(header.error).empty();
  }

  /// A header is legal: only drafts have numbers without a meaning.
  template <class Enum>
  static void check(Enum value, const Path& path) {
    if (rpc::name(value).empty()) {
      raise_field_range(path,
                        std::to_string(static_cast<std::uint32_t>(value)) + " has no meaning");
    }
  }
};

}  // namespace detail

namespace {

/// The type whose data class stands for Value in Python.
template <class Value>
using Registered = std::conditional_t<std::is_same_v<Value, wire::Header>, HeaderFields, Value>;

}  // namespace

template <class Value>
bool MessageValue<Value>::is(py::handle object) {
  return py::isinstance(object, shared_classes()->find<Registered<Value>>());
}

template <class Value>
Value MessageValue<Value>::from(py::handle object) {
  const auto classes = shared_classes();
  const auto name =
      classes->find<Registered<Value>>().attr("__name__").template cast<std::string>();
  Value value;
  Arena arena;
  classes->from(object, value, Path{nullptr, name}, arena);
  return value;
}

template <>
wire::FieldSpan MessageValue<wire::FieldSpan>::from(py::handle /*object*/) {
  throw py::type_error(
      "FieldSpan: the engine returns these and accepts none");  // its name is a view
}

template <class Value>
py::object MessageValue<Value>::to(const Value& value) {
  return shared_classes()->to(value);
}

#define STEERTAG_INSTANTIATE(Name) template struct MessageValue<wire::Name>;
STEERTAG_MESSAGE_VALUES(STEERTAG_INSTANTIATE)
#undef STEERTAG_INSTANTIATE

void add_message_classes(const py::module_& module) {
  const auto classes = start_shared_classes(module);
  DataClasses& to = *classes;
  to.add_enum<wire::Procedure>(module, "Procedure", "rdma_proc (RFC 8166 4.2.4).", false);
  to.add_enum<wire::ErrorCode>(module, "ErrorCode", "rdma_err (RFC 8166 4.1.2).", false);
  to.add_enum<wire::PrototypeType>(module, "PrototypeType",
                                   "Types of the prototype (Callaghan et al. 2003 4.4).", false);
  to.add<wire::Segment>(module, "Segment",
                        "A plain segment (RFC 8166 3.4.3): STag, length in octets, and the 64-bit "
                        "offset in the region.");
  to.add<wire::ReadSegment>(module, "ReadSegment",
                            "A read segment (RFC 8166 3.4.5): its position, in octets of the "
                            "unreduced payload stream, and the memory.");
  to.add<HeaderFields>(module, "Header",
                       "A legal transport header (RFC 8166 4.1.2). Fields that a procedure lacks "
                       "keep defaults. The write list is a list of lists of Segment; an absent "
                       "reply chunk is None. `extra` holds the eight words of an RDMA_ERROR of RFC "
                       "5666 whose code has no meaning (4.3), else no octet.");
  to.add<wire::FixedWords>(module, "FixedWords",
                           "The four words with the same meaning in every version (RFC 8166 4.2), "
                           "with any values.");
  to.add<wire::DraftReadEntry>(module, "DraftReadEntry",
                               "A presence word and its read segment, which is written "
                               "unless `omit_body`.");
  to.add<wire::DraftChunk>(
      module, "DraftChunk",
      "A write or reply chunk. `count` None writes the true number of segments.");
  to.add<wire::Draft>(module, "Draft",
                      "A message that may be illegal in any way; steertag.wire.encode writes it "
                      "unchecked. The body has the layout of `proc`; an unknown procedure has that "
                      "of RDMA_MSG. `cut_to` keeps only that many octets of the whole message. "
                      "`append` follows the cut.");
  to.add<wire::PrototypeChunk>(
      module, "PrototypeChunk",
      "An entry of the prototype's chunk list (Callaghan et al. 2003 4.4): XDR offset, octets, "
      "handle, and the 64-bit address.");
  to.add<wire::PrototypeHeader>(
      module, "PrototypeHeader",
      "A header of the prototype of 2003. A done message has no chunks. A first chunk at offset 0 "
      "is a long message, and no RPC message follows the header. Chunks keep their order.");
  to.add<wire::FieldSpan>(
      module, "FieldSpan",
      "A field of an encoded message: first octet, octets, and the field's name.");
  to.add<wire::PrivateData>(module, "PrivateData",
                            "The announcement of one side (RFC 8797 4): the R flag, and send and "
                            "receive sizes in octets.");
  to.add<wire::PrivateDataDraft>(module, "PrivateDataDraft",
                                 "The eight octets of private data with any values.");
  to.add<wire::FoundPrivateData>(module, "FoundPrivateData",
                                 "Private data in a buffer: the offset of its identifier, its "
                                 "meaning, its flags octet.");
  to.add<wire::Negotiated>(
      module, "Negotiated",
      "The settings of a connection (RFC 8797 4.1, 4.2); thresholds in octets.");
}

void raise_decode_error(const wire::Fault& fault) {
  const py::object type = py::module_::import("steertag.decode_error").attr("DecodeError");
  const py::object error =
      type(fault.message(), wire::code_name(fault.code), fault.offset, fault.field);
  PyErr_SetObject(type.ptr(), error.ptr());
  throw py::error_already_set();
}

}  // namespace steertag::bindings
