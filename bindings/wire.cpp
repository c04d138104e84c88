// Binds engine/wire: headers, drafts, private data and XDR.
// wire_values.cpp makes the classes of the values.
#include "bind.h"
#include "wire/describe.h"
#include "wire/draft.h"
#include "wire/header.h"
#include "wire/legacy/dialect.h"
#include "wire/legacy/rfc5666.h"
#include "wire/private_data.h"
#include "wire/xdr.h"

namespace steertag::bindings {
namespace {

using namespace steertag::wire;
using py::literals::operator""_a;

Dialect dialect_from(const std::string& name) {
  const std::optional<Dialect> dialect = dialect_named(name);
  if (!dialect) throw py::value_error("no dialect '" + name + "'; wire.DIALECTS has them all");
  return *dialect;
}

py::tuple decode_message(const py::buffer& message, const std::string& dialect) {
  const Bytes bytes = from_python(message);
  const Expected<Reading, Fault> reading = read(bytes, dialect_from(dialect));
  if (!reading) raise_decode_error(reading.error());
  return std::visit(
      [&](const auto& header) { return py::make_tuple(header, to_python(reading->payload)); },
      reading->header);
}

py::tuple dialect_names(DialectSet dialects) {
  py::list names;
  for (const Dialect each : kDialects) {
    if (dialects.contains(each)) names.append(py::str(std::string(dialect_name(each))));
  }
  return py::tuple(names);
}

template <class Value>
py::bytes encode_value(const Value& value) {
  Bytes out;
  encode(value, out);
  return to_python(out);
}

template <class AnyHeader>
py::bytes encode_header(const AnyHeader& header, const py::buffer& payload) {
  Bytes out;
  encode(header, out);
  const Bytes tail = from_python(payload);
  out.insert(out.end(), tail.begin(), tail.end());
  return to_python(out);
}

void bind_values(py::module_& module) {
  add_message_classes(module);
  module.attr("DecodeError") = py::module_::import("steertag.decode_error").attr("DecodeError");
  module.attr("VERSION") = kVersion;
  module.attr("FIXED_BYTES") = kFixedBytes;
  module.attr("SMALLEST_HEADER_BYTES") = kSmallestHeaderBytes;
  module.attr("ERR_CHUNK_BYTES") = kErrChunkBytes;
  module.attr("ERR_VERS_BYTES") = kErrVersBytes;
  module.attr("SEGMENT_BYTES") = kSegmentBytes;
  module.attr("READ_SEGMENT_BYTES") = kReadSegmentBytes;
  module.attr("MOST_SEGMENTS") = kMostSegments;
  module.attr("MOST_WRITE_CHUNKS") = kMostWriteChunks;
  module.attr("PRIVATE_DATA_IDENTIFIER") = kPrivateDataIdentifier;
  module.attr("PRIVATE_DATA_BYTES") = kPrivateDataBytes;
  module.attr("PRIVATE_DATA_VERSION") = kPrivateDataVersion;
  module.attr("DEFAULT_INLINE_BYTES") = kDefaultInlineBytes;
  module.attr("LARGEST_INLINE_BYTES") = kLargestInlineBytes;
}

void bind_messages(py::module_& module) {
  module.def(
      "peek", [](const py::buffer& message) { return peek(from_python(message)); }, "message"_a,
      "The four fixed words of at least 16 octets, or None (RFC 8166 4.2).");
  module.def("decode", &decode_message, "message"_a, "dialect"_a = "rfc8166",
             "Decodes a whole Send strictly into (Header, payload stream). Raises DecodeError with "
             "the exact fault (RFC 8166 4.1.2, 4.5). \"rfc5666\" also accepts that document's "
             "messages; \"prototype\" gives a PrototypeHeader.");
  module.def("encode", &encode_header<Header>, "header"_a, "payload"_a = py::bytes(),
             "The octets of a Header and of its payload stream.");
  module.def("encode", &encode_value<Draft>, "draft"_a, "The octets of a Draft, legal or not.");
  module.def("encode", &encode_value<PrivateData>, "data"_a,
             "The eight octets of RFC 8797 4; sizes are rounded down to 1024 octets and kept in "
             "range.");
  module.def("encode", &encode_value<PrivateDataDraft>, "draft"_a,
             "The eight octets of private data, unchecked.");
  module.def(
      "encoded_size", [](const Header& header) { return encoded_size(header); }, "header"_a,
      "The size of the header in octets.");
  module.def(
      "draft_from",
      [](const Header& header, const py::buffer& payload) {
        return Draft::from(header, from_python(payload));
      },
      "header"_a, "payload"_a = py::bytes(), "The Draft that encodes to this legal message.");
  module.def(
      "draft_of", [](const py::buffer& message) { return draft_of(from_python(message)); },
      "message"_a,
      "Reads any octets as a Draft and never fails; encoding it restores the octets. Octets "
      "outside of the format are in `append`, after `cut_to`.");
  module.def(
      "fields", &fields, "draft"_a,
      "A FieldSpan for every field of the transport header of encode(draft), in order, without "
      "any cut.");
  module.def(
      "describe",
      [](const py::buffer& message, const std::string& dialect) {
        return describe(from_python(message), dialect_from(dialect));
      },
      "message"_a, "dialect"_a = "rfc8166",
      "Several lines about any octets: fields, the decoder's fault, and the rest.");
  module.def(
      "describe",
      [](const Draft& draft) {
        Bytes out;
        encode(draft, out);
        return describe(out);
      },
      "draft"_a, "Several lines about the octets that the draft encodes to.");
  module.def(
      "describe",
      [](const Header& header, const py::buffer& payload) {
        return describe(header, from_python(payload));
      },
      "header"_a, "payload"_a = py::bytes(), "Several lines about a message.");
  module.def("procedure_name", &procedure_name, "proc"_a, "\"RDMA_MSG\", or \"procedure 7\".");
  module.def(
      "chunk_length", [](const std::vector<Segment>& segments) { return chunk_length(segments); },
      "segments"_a, "Octets of a chunk: the sum of its segment lengths (RFC 8166 3.4.4).");
}

void bind_legacy(py::module_& module) {
  module.attr("DIALECTS") = dialect_names({Dialect::rfc8166, Dialect::rfc5666, Dialect::prototype});
  module.attr("PROTOTYPE_RECEIVE_BYTES") = kPrototypeReceiveBytes;
  module.attr("PROTOTYPE_RECEIVES") = kPrototypeReceives;
  module.def("encode", &encode_header<PrototypeHeader>, "header"_a, "payload"_a = py::bytes(),
             "The octets of a PrototypeHeader and of its RPC message.");
  module.def(
      "encoded_size", [](const PrototypeHeader& header) { return encoded_size(header); },
      "header"_a, "The size of a PrototypeHeader in octets.");
  module.def(
      "dialects",
      [](const py::buffer& message) { return dialect_names(dialects(from_python(message))); },
      "message"_a,
      "The names of the dialects in which the message is legal, in the order of DIALECTS. Most "
      "messages of version 1 are the same in both RFCs. An empty result: broken, or of no dialect. "
      "If the prototype and an RFC fit, the caller must decide.");
  module.def(
      "msgp_padding", &msgp_padding, "align"_a, "thresh"_a, "position"_a, "length"_a,
      "Octets of padding before the data of an opaque item of `length` octets in an "
      "RDMA_MSGP (RFC 5666 3.9). `position`: the offset of the data in the Send without it.");
  module.def("is_returned_length", &is_returned_length, "returned"_a, "item"_a,
             "Whether a write chunk of RFC 5666 may return `returned` octets for an item of `item` "
             "octets: the same number, or that with roundup (3.7).");
  module.def(
      "asks_for_inline", [](const std::vector<Segment>& chunk) { return asks_for_inline(chunk); },
      "chunk"_a,
      "Whether a write chunk of RFC 5667 requests an inline result: it has room for no octet (5).");
}

void bind_private_data(py::module_& module) {
  module.def(
      "find_private_data",
      [](const py::buffer& buffer) { return find_private_data(from_python(buffer)); }, "buffer"_a,
      "The private data at any octet offset of a buffer, or None (RFC 8797 5.2).");
  module.def("negotiate", &negotiate, "client"_a, "server"_a,
             "The settings of a connection. None stands for a side without private data (RFC 8797 "
             "4.1, 4.2, 5.1).");
  module.def("encode_size", &encode_size, "bytes"_a, "RFC 8797 4.2: octets / 1024 - 1, clamped.");
  module.def("decode_size", &decode_size, "value"_a, "RFC 8797 4.2: (value + 1) * 1024 octets.");
}

/// A reader that owns its octets and raises at the first fault.
class PyReader {
 public:
  explicit PyReader(const py::buffer& bytes) : bytes_(from_python(bytes)), reader_(bytes_) {}
  PyReader(const PyReader&) = delete;
  PyReader& operator=(const PyReader&) = delete;

  template <class Read>
  auto read(Read read) {
    auto value = read(reader_);
    if (!reader_.ok()) {
      // The fault views a name, which the first call with the fault owns.
      if (!fault_) {
        field_ = reader_.fault().field;
        fault_ = Fault{reader_.fault().code, reader_.fault().offset, field_};
      }
      raise_decode_error(fault_);
    }
    return value;
  }
  const Reader& reader() const { return reader_; }

 private:
  Bytes bytes_;
  Reader reader_;
  std::string field_;
  Fault fault_;
};

/// The most octets of a view if Python names no limit.
constexpr std::size_t kNoLimit = 0xffffffff;

void bind_reader(py::module_& module) {
  py::class_<PyReader>(module, "Reader",
                       "Reads XDR (RFC 4506) from octets. Every method raises DecodeError at the "
                       "first fault and again after it. `field` is the name in the error.")
      .def(py::init<const py::buffer&>(), "bytes"_a)
      .def(
          "u32",
          [](PyReader& self, const std::string& field) {
            return self.read([&](Reader& reader) { return reader.u32(field); });
          },
          "field"_a = "word", "An unsigned 32-bit integer.")
      .def(
          "u64",
          [](PyReader& self, const std::string& field) {
            return self.read([&](Reader& reader) { return reader.u64(field); });
          },
          "field"_a = "hyper", "An unsigned 64-bit integer.")
      .def(
          "boolean",
          [](PyReader& self, const std::string& field) {
            return self.read([&](Reader& reader) { return reader.boolean(field); });
          },
          "field"_a = "boolean", "A word that must be 0 or 1.")
      .def(
          "opaque",
          [](PyReader& self, std::size_t limit, const std::string& field) {
            return to_python(
                self.read([&](Reader& reader) { return reader.opaque(limit, field); }));
          },
          "limit"_a = kNoLimit, "field"_a = "opaque", "Counted octets and their zero roundup.")
      .def(
          "opaque_fixed",
          [](PyReader& self, std::size_t length, const std::string& field) {
            return to_python(
                self.read([&](Reader& reader) { return reader.opaque_fixed(length, field); }));
          },
          "length"_a, "field"_a = "opaque", "`length` octets and their zero roundup.")
      .def_property_readonly("offset", [](const PyReader& self) { return self.reader().offset(); })
      .def_property_readonly("remaining",
                             [](const PyReader& self) { return self.reader().remaining(); })
      .def(
          "rest", [](const PyReader& self) { return to_python(self.reader().rest()); },
          "The unread octets.");
}

/// A writer that owns its octets.
struct PyWriter {
  Bytes out;
  Writer writer() { return Writer(out); }
};

void bind_writer(py::module_& module) {
  const auto self = py::return_value_policy::reference_internal;
  py::class_<PyWriter>(module, "Writer",
                       "Writes XDR (RFC 4506). Methods return the writer, so calls chain.")
      .def(py::init<>())
      .def(
          "u32", [](PyWriter& w, std::uint32_t v) -> PyWriter& { return w.writer().u32(v), w; },
          "value"_a, self)
      .def(
          "u64", [](PyWriter& w, std::uint64_t v) -> PyWriter& { return w.writer().u64(v), w; },
          "value"_a, self)
      .def(
          "boolean", [](PyWriter& w, bool v) -> PyWriter& { return w.writer().boolean(v), w; },
          "value"_a, self)
      .def(
          "opaque",
          [](PyWriter& w, const py::buffer& v) -> PyWriter& {
            return w.writer().opaque(from_python(v)), w;
          },
          "bytes"_a, self, "Count, octets, zero roundup.")
      .def(
          "opaque_fixed",
          [](PyWriter& w, const py::buffer& v) -> PyWriter& {
            return w.writer().opaque_fixed(from_python(v)), w;
          },
          "bytes"_a, self, "Octets and zero roundup, no count.")
      .def(
          "string",
          [](PyWriter& w, const std::string& v) -> PyWriter& { return w.writer().string(v), w; },
          "text"_a, self, "As `opaque`, from text in UTF-8.")
      .def(
          "raw",
          [](PyWriter& w, const py::buffer& v) -> PyWriter& {
            return w.writer().raw(from_python(v)), w;
          },
          "bytes"_a, self, "Octets without change.")
      .def(
          "bytes", [](const PyWriter& w) { return to_python(w.out); }, "The octets written.")
      .def("__bytes__", [](const PyWriter& w) { return to_python(w.out); })
      .def("__len__", [](const PyWriter& w) { return w.out.size(); });
}

}  // namespace

void bind_wire(py::module_& module) {
  module.doc() =
      "Transport headers, drafts, private data (RFC 8166, RFC 8797), superseded dialects (RFC "
      "5666, the prototype of 2003) and XDR (RFC 4506).";
  bind_values(module);
  bind_messages(module);
  bind_legacy(module);
  bind_private_data(module);
  bind_reader(module);
  bind_writer(module);
  module.def("roundup4", &roundup4, "length"_a, "Octets after XDR roundup.");
}

}  // namespace steertag::bindings
