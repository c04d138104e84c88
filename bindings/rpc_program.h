// Common to the bindings of RPC programs: arguments, results, calls and replies by procedure.
#pragma once

#include <cctype>
#include <string>

#include "rpc/message.h"
#include "struct_codec.h"

namespace steertag::bindings {

/// Binds the procedures of a program. `Program` names its Procedure enumeration, program and
/// version numbers, `named`, `numbered` and `with_signature(procedure, visit)`, which calls
/// `visit.operator()<Args, Result>()`.
template <class Program>
class RpcProgram {
 public:
  using Procedure = typename Program::Procedure;

  RpcProgram(py::module_ module, std::shared_ptr<DataClasses> classes)
      : module_(std::move(module)), classes_(std::move(classes)) {}

  /// "ReadArgs" and "ReadResult" of READ, and so on.
  void add_classes() {
    classes_->add_enum<Procedure>(module_, "Procedure", "The procedures by name.", false);
    module_.attr("PROGRAM") = Program::kProgram;
    module_.attr("VERSION") = Program::kVersion;
    for (const auto& entry : names_of(Procedure{})) {
      Program::with_signature(entry.value, [&]<class Args, class Result>() {
        add<Args>(capitalized(entry.name) + "Args");
        add<Result>(capitalized(entry.name) + "Result");
      });
    }
  }

  void add_functions() {
    add_codecs();
    add_messages();
  }

  static std::string capitalized(std::string_view name) {
    std::string text(name);
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    return text;
  }

 private:
  using Classes = std::shared_ptr<DataClasses>;

  template <class T>
  void add(const std::string& name) {
    if constexpr (!std::is_same_v<T, rpc::Void>) {
      const bool known = static_cast<bool>(classes_->find<T>());
      classes_->add<T>(module_, name, "Field names are the RFC's.");
      if (!known) add_codec_methods<T>(classes_);
    }
  }

  static Procedure procedure_from(py::handle object) {
    std::optional<Procedure> found;
    if (py::isinstance<py::str>(object)) found = Program::named(object.cast<std::string>());
    if (py::isinstance<py::int_>(object)) {
      found = Program::numbered(
          static_cast<std::uint32_t>(unsigned_from(object, UINT32_MAX, {nullptr, "procedure"})));
    }
    if (!found) throw py::value_error("no procedure " + py::repr(object).cast<std::string>());
    return *found;
  }

  enum class Part : std::uint8_t { args, result };

  /// The codec of the procedure's arguments or result.
  static const StructCodec& codec_of(Procedure procedure, Part part) {
    return *Program::with_signature(procedure, [part]<class Args, class Result>() {
      return part == Part::args ? &kStructCodec<Args> : &kStructCodec<Result>;
    });
  }

  static void encode_part(const Classes& classes, Procedure procedure, Part part, py::handle value,
                          wire::Writer& writer) {
    const std::string name =
        std::string(rpc::name(procedure)) + (part == Part::args ? " arguments" : " result");
    codec_of(procedure, part).encode(*classes, value, name.c_str(), writer);
  }

  static py::object decode_part(const Classes& classes, Procedure procedure, Part part,
                                wire::Reader& reader) {
    py::object value = codec_of(procedure, part).decode(*classes, reader);
    expect_end(reader, part == Part::args ? "end of arguments" : "end of results");
    return value;
  }

  void add_codec(Part part, const char* encode_name, const char* decode_name) {
    module_.def(
        encode_name,
        [classes = classes_, part](const py::object& procedure, const py::object& value) {
          Bytes out;
          wire::Writer writer(out);
          encode_part(classes, procedure_from(procedure), part, value, writer);
          return to_python(out);
        },
        py::arg("procedure"), py::arg("value") = py::none(),
        "XDR without an RPC header. The procedure is a name (\"READ\"), number or Procedure.");
    module_.def(
        decode_name,
        [classes = classes_, part](const py::object& procedure, const py::buffer& octets) {
          const Bytes input = from_python(octets);
          wire::Reader reader(input);
          return decode_part(classes, procedure_from(procedure), part, reader);
        },
        py::arg("procedure"), py::arg("octets"),
        "The value of the octets, None for void. Raises DecodeError.");
  }

  void add_codecs() {
    add_codec(Part::args, "encode_args", "decode_args");
    add_codec(Part::result, "encode_result", "decode_result");
  }

  static py::bytes encode_call(const Classes& classes, const py::object& procedure_name,
                               const py::object& args, py::handle xid, py::handle credential,
                               py::handle verifier, py::handle program, py::handle version) {
    const Procedure procedure = procedure_from(procedure_name);
    Arena arena;
    rpc::CallHeader header;
    const Path path{nullptr, "call"};
    classes->from(xid, header.xid, {&path, "xid"}, arena);
    classes->from(program, header.program, {&path, "program"}, arena);
    classes->from(version, header.version, {&path, "version"}, arena);
    header.procedure = static_cast<std::uint32_t>(procedure);
    if (!credential.is_none()) {
      classes->from(credential, header.credential, {&path, "credential"}, arena);
    }
    if (!verifier.is_none()) classes->from(verifier, header.verifier, {&path, "verifier"}, arena);
    Bytes out;
    wire::Writer writer(out);
    header.encode(writer);
    encode_part(classes, procedure, Part::args, args, writer);
    return to_python(out);
  }

  static py::tuple decode_call(const Classes& classes, const py::buffer& octets) {
    const Bytes input = from_python(octets);
    wire::Reader reader(input);
    rpc::CallHeader header;
    header.decode(reader);
    if (!reader.ok()) raise_decode_error(reader.fault());
    const auto procedure = Program::numbered(header.procedure);
    const bool ours =
        header.program == Program::kProgram && header.version == Program::kVersion && procedure;
    if (!ours) return py::make_tuple(classes->to(header), py::none());
    return py::make_tuple(classes->to(header),
                          decode_part(classes, *procedure, Part::args, reader));
  }

  static py::tuple decode_reply(const Classes& classes, const py::object& procedure,
                                const py::buffer& octets) {
    const Bytes input = from_python(octets);
    wire::Reader reader(input);
    rpc::ReplyHeader header;
    header.decode(reader);
    if (!reader.ok()) raise_decode_error(reader.fault());
    if (!header.success()) return py::make_tuple(classes->to(header), py::none());
    return py::make_tuple(classes->to(header),
                          decode_part(classes, procedure_from(procedure), Part::result, reader));
  }

  static py::bytes encode_reply(const Classes& classes, const py::object& procedure,
                                const py::object& result, py::handle xid) {
    Arena arena;
    rpc::ReplyHeader header;
    classes->from(xid, header.xid, {nullptr, "xid"}, arena);
    Bytes out;
    wire::Writer writer(out);
    header.encode(writer);
    encode_part(classes, procedure_from(procedure), Part::result, result, writer);
    return to_python(out);
  }

  void add_messages() {
    module_.def(
        "encode_call",
        [classes = classes_](const py::object& procedure, const py::object& args,
                             const py::object& xid, const py::object& credential,
                             const py::object& verifier, const py::object& program,
                             const py::object& version) {
          return encode_call(classes, procedure, args, xid, credential, verifier, program, version);
        },
        py::arg("procedure"), py::arg("args") = py::none(), py::kw_only(), py::arg("xid"),
        py::arg("credential") = py::none(), py::arg("verifier") = py::none(),
        py::arg("program") = Program::kProgram, py::arg("version") = Program::kVersion,
        "A whole call, the payload stream of RPC-over-RDMA. No credential means AUTH_NONE.");
    module_.def(
        "decode_call",
        [classes = classes_](const py::buffer& octets) { return decode_call(classes, octets); },
        py::arg("octets"),
        "(rpc.Call, arguments). Arguments are None for void, and for other programs, versions or "
        "procedures. Raises DecodeError with offsets from the XID.");
    module_.def(
        "encode_reply",
        [classes = classes_](const py::object& procedure, const py::object& result,
                             const py::object& xid) {
          return encode_reply(classes, procedure, result, xid);
        },
        py::arg("procedure"), py::arg("result") = py::none(), py::kw_only(), py::arg("xid"),
        "A whole accepted reply with status SUCCESS. Other replies: rpc.Reply(...).encode().");
    module_.def(
        "decode_reply",
        [classes = classes_](const py::object& procedure, const py::buffer& octets) {
          return decode_reply(classes, procedure, octets);
        },
        py::arg("procedure"), py::arg("octets"),
        "(rpc.Reply, result). The result is None unless the reply is a SUCCESS. Raises DecodeError "
        "with offsets from the XID.");
  }

  py::module_ module_;
  Classes classes_;
};

}  // namespace steertag::bindings
