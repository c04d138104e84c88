// Encoding and decoding of whole Python values through the engine's codecs, for the bindings of RPC
// programs.
#pragma once

#include <string>

#include "data_classes.h"
#include "wire/xdr.h"

namespace steertag::bindings {

template <class T>
void encode_struct(const DataClasses& classes, py::handle object, const char* name,
                   wire::Writer& writer) {
  Arena arena;
  T value{};
  classes.from(object, value, Path{nullptr, name}, arena);
  value.encode(writer);
}

/// Reads a T and raises DecodeError when it does not decode; octets may follow.
template <class T>
py::object decode_struct(const DataClasses& classes, wire::Reader& reader) {
  T value{};
  value.decode(reader);
  if (!reader.ok()) raise_decode_error(reader.fault());
  return classes.to(value);
}

/// Raises DecodeError when octets are left.
inline void expect_end(wire::Reader& reader, const char* name) {
  if (reader.remaining() == 0) return;
  reader.fail(wire::FaultCode::trailing_bytes, reader.offset(), name);
  raise_decode_error(reader.fault());
}

/// Gives the Python class of T a method `encode()` and a static method `decode(octets)` for the
/// whole of the octets.
template <class T>
void add_codec_methods(const std::shared_ptr<DataClasses>& classes) {
  const py::object type = classes->find<T>();
  const auto name = type.attr("__name__").cast<std::string>();
  type.attr("encode") = py::cpp_function(
      [classes, name](const py::object& self) {
        Bytes out;
        wire::Writer writer(out);
        encode_struct<T>(*classes, self, name.c_str(), writer);
        return to_python(out);
      },
      py::name("encode"), py::is_method(type), "XDR of this value.");
  type.attr("decode") = py::staticmethod(py::cpp_function(
      [classes, name](const py::buffer& octets) {
        const Bytes input = from_python(octets);
        wire::Reader reader(input);
        py::object value = decode_struct<T>(*classes, reader);
        expect_end(reader, name.c_str());
        return value;
      },
      py::name("decode"), py::arg("octets"),
      "The value that the octets hold. Raises DecodeError with code, offset and field."));
}

}  // namespace steertag::bindings
