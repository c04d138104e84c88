// The methods `encode` and `decode` of a data class.
#include "struct_codec.h"

namespace steertag::bindings {

void add_codec_methods(const std::shared_ptr<DataClasses>& classes, const StructCodec& codec) {
  const py::object type = codec.type(*classes);
  const auto name = type.attr("__name__").cast<std::string>();
  type.attr("encode") = py::cpp_function(
      [classes, name, &codec](const py::object& self) {
        Bytes out;
        wire::Writer writer(out);
        codec.encode(*classes, self, name.c_str(), writer);
        return to_python(out);
      },
      py::name("encode"), py::is_method(type), "XDR of this value.");
  type.attr("decode") = py::staticmethod(py::cpp_function(
      [classes, name, &codec](const py::buffer& octets) {
        const Bytes input = from_python(octets);
        wire::Reader reader(input);
        py::object value = codec.decode(*classes, reader);
        expect_end(reader, name.c_str());
        return value;
      },
      py::name("decode"), py::arg("octets"),
      "The value of the octets. Raises DecodeError with code, offset and field."));
}

}  // namespace steertag::bindings
