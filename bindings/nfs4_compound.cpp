// Binds COMPOUND and CB_COMPOUND: lists of operations to octets and back.
#include "nfs/v4/compound.h"
#include "nfs_parts.h"
#include "struct_codec.h"

namespace steertag::bindings {
namespace {

using namespace steertag::nfs4;
using Classes = std::shared_ptr<DataClasses>;

enum class Part : std::uint8_t { args, result };

std::string part_name(Part part) {
  return part == Part::args ? "arguments" : "result";
}

/// An operation by its name ("READ"), or by any number.
template <class Number>
Number number_from(py::handle object) {
  if (!py::isinstance<py::str>(object)) {
    return static_cast<Number>(unsigned_from(object, UINT32_MAX, {nullptr, "operation"}));
  }
  const auto name = object.cast<std::string>();
  for (const auto& entry : names_of(Number{})) {
    if (entry.name == name) return entry.value;
  }
  throw py::value_error("no operation '" + name + "'");
}

/// The codec of the operation's arguments or result.
template <class Number>
const StructCodec& codec_of(Number number, Part part) {
  return with_signature(number,
                        [part]<class Args, class Res>(Signature<Args, Res>) -> const StructCodec& {
                          return part == Part::args ? kStructCodec<Args> : kStructCodec<Res>;
                        });
}

/// One operation: (number, value). Octets in place of the value are sent unchanged.
template <class Number>
void encode_operation(const DataClasses& classes, py::handle item, Part part,
                      wire::Writer& writer) {
  if (!py::isinstance<py::tuple>(item) || py::len(item) != 2) {
    throw py::type_error("an operation is a tuple (number or name, " + part_name(part) + ")");
  }
  const auto number = number_from<Number>(item[py::int_(0)]);
  const py::object value = item[py::int_(1)];
  writer.u32(static_cast<std::uint32_t>(number));
  if (py::isinstance<py::bytes>(value) || py::isinstance<py::bytearray>(value)) {
    writer.raw(from_python(py::reinterpret_borrow<py::buffer>(value)));
    return;
  }
  const std::string name = std::string(rpc::name(number)) + " " + part_name(part);
  codec_of(number, part).encode(classes, value, name.c_str(), writer);
}

template <class Number>
void encode_operations(const DataClasses& classes, const py::sequence& array,
                       const std::optional<std::uint32_t>& count, Part part, wire::Writer& writer) {
  writer.u32(count.value_or(static_cast<std::uint32_t>(py::len(array))));
  for (const py::handle item : array) encode_operation<Number>(classes, item, part, writer);
}

template <class Number>
py::list decode_operations(const DataClasses& classes, wire::Reader& reader, Part part) {
  py::list array;
  OperationReader<Number> operations(reader, part == Part::args ? "argarray" : "resarray");
  while (const auto number = operations.next()) {
    if (rpc::name(*number).empty()) {
      reader.fail(wire::FaultCode::bad_enum, reader.offset() - 4, "operation");
      break;
    }
    py::object value = codec_of(*number, part).decode(classes, reader);
    array.append(py::make_tuple(classes.to(*number), std::move(value)));
  }
  if (!reader.ok()) raise_decode_error(reader.fault());
  expect_end(reader, part == Part::args ? "end of arguments" : "end of results");
  return array;
}

/// The status of the last result, as a server sets it (RFC 8881 16.2.3).
Status last_status(const py::sequence& array) {
  if (py::len(array) == 0) return Status::NFS4_OK;
  const py::object value = py::object(array[py::len(array) - 1])[py::int_(1)];
  if (!py::hasattr(value, "status")) return Status::NFS4_OK;
  return static_cast<Status>(
      unsigned_from(py::object(value.attr("status")), UINT32_MAX, {nullptr, "status"}));
}

template <class Number, class Fixed>
void bind_args(py::module_& module, const Classes& classes, const char* encode_name,
               const char* decode_name) {
  module.def(
      encode_name,
      [classes](const py::sequence& argarray, const py::object& fixed,
                const std::optional<std::uint32_t>& count) {
        Bytes out;
        wire::Writer writer(out);
        encode_struct<Fixed>(*classes, fixed, "compound", writer);
        encode_operations<Number>(*classes, argarray, count, Part::args, writer);
        return to_python(out);
      },
      py::arg("argarray"), py::arg("fixed"), py::arg("count") = py::none(),
      "The octets of the procedure's arguments. `argarray` holds tuples (name or number, value); "
      "octets in place of a value are sent unchanged. `fixed` holds the fields before it; "
      "`count` may be wrong.");
  module.def(
      decode_name,
      [classes](const py::buffer& octets) {
        const Bytes input = from_python(octets);
        wire::Reader reader(input);
        const py::object fixed = decode_struct<Fixed>(*classes, reader);
        return py::make_tuple(fixed, decode_operations<Number>(*classes, reader, Part::args));
      },
      py::arg("octets"), "(fields before argarray, argarray). Raises DecodeError.");
}

template <class Number>
void bind_result(py::module_& module, const Classes& classes, const char* encode_name,
                 const char* decode_name) {
  module.def(
      encode_name,
      [classes](const py::sequence& resarray, const py::object& tag, const py::object& status,
                const std::optional<std::uint32_t>& count) {
        Arena arena;
        CompoundResult fixed;
        fixed.status = last_status(resarray);
        classes->from(tag, fixed.tag, Path{nullptr, "tag"}, arena);
        if (!status.is_none()) classes->from(status, fixed.status, Path{nullptr, "status"}, arena);
        Bytes out;
        wire::Writer writer(out);
        fixed.encode(writer);
        encode_operations<Number>(*classes, resarray, count, Part::result, writer);
        return to_python(out);
      },
      py::arg("resarray"), py::kw_only(), py::arg("tag") = "", py::arg("status") = py::none(),
      py::arg("count") = py::none(),
      "The octets of the procedure's result. The default status is that of the last operation.");
  module.def(
      decode_name,
      [classes](const py::buffer& octets) {
        const Bytes input = from_python(octets);
        wire::Reader reader(input);
        const py::object fixed = decode_struct<CompoundResult>(*classes, reader);
        return py::make_tuple(fixed, decode_operations<Number>(*classes, reader, Part::result));
      },
      py::arg("octets"), "(CompoundResult, resarray). Raises DecodeError.");
}

/// Looks up the class of an operation, for callers that build arguments from fields.
template <class Number>
void bind_class_lookup(py::module_& module, const Classes& classes, const char* name) {
  module.def(
      name,
      [classes](const py::object& operation) {
        py::object type = codec_of(number_from<Number>(operation), Part::args).type(*classes);
        return type ? type : py::object(py::none());
      },
      py::arg("operation"), "The class of the operation's arguments, or None if it has none.");
}

}  // namespace

void bind_nfs4_compound(py::module_& module, const Classes& classes) {
  bind_args<Opnum, CompoundArgs>(module, classes, "encode_args", "decode_args");
  bind_result<Opnum>(module, classes, "encode_result", "decode_result");
  bind_args<CbOpnum, CbCompoundArgs>(module, classes, "encode_cb_args", "decode_cb_args");
  bind_result<CbOpnum>(module, classes, "encode_cb_result", "decode_cb_result");
  bind_class_lookup<Opnum>(module, classes, "args_class");
  bind_class_lookup<CbOpnum>(module, classes, "cb_args_class");
}

}  // namespace steertag::bindings
