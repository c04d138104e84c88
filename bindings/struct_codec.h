// Encodes and decodes whole Python values through the engine's codecs.
// For the bindings of RPC programs.
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

/// The two functions above of one type, for code that is compiled once for all types.
struct StructCodec {
  void (*encode)(const DataClasses& classes, py::handle object, const char* name,
                 wire::Writer& writer);
  py::object (*decode)(const DataClasses& classes, wire::Reader& reader);
  /// The Python class, or a null object for Void.
  py::object (*type)(const DataClasses& classes);
};
template <class T>
inline constexpr StructCodec kStructCodec{
    encode_struct<T>, decode_struct<T>,
    [](const DataClasses& classes) { return classes.find<T>(); }};

/// Raises DecodeError if octets are left.
inline void expect_end(wire::Reader& reader, const char* name) {
  if (reader.remaining() == 0) return;
  reader.fail(wire::FaultCode::trailing_bytes, reader.offset(), name);
  raise_decode_error(reader.fault());
}

/// Gives the codec's Python class a method `encode()` and a static method `decode(octets)` for the
/// whole of the octets. The codec must outlive Python, as kStructCodec does.
void add_codec_methods(const std::shared_ptr<DataClasses>& classes, const StructCodec& codec);
template <class T>
void add_codec_methods(const std::shared_ptr<DataClasses>& classes) {
  add_codec_methods(classes, kStructCodec<T>);
}

}  // namespace steertag::bindings
