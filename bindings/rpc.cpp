// Binds engine/rpc: call and reply headers, authentication, record marking, direction.
#include "bind.h"
#include "rpc/auth.h"
#include "rpc/configuration.h"
#include "rpc/direction.h"
#include "rpc/message.h"
#include "rpc/record.h"
#include "struct_codec.h"

namespace steertag::bindings {
namespace {

using namespace steertag::rpc;
using Classes = std::shared_ptr<DataClasses>;

void bind_enums(const py::module_& module, DataClasses& classes) {
  classes.add_enum<MessageType>(module, "MessageType", "msg_type (RFC 5531 9).", true);
  classes.add_enum<ReplyStatus>(module, "ReplyStatus", "reply_stat (RFC 5531 9).", true);
  classes.add_enum<AcceptStatus>(module, "AcceptStatus", "accept_stat (RFC 5531 9).", true);
  classes.add_enum<RejectStatus>(module, "RejectStatus", "reject_stat (RFC 5531 9).", true);
  classes.add_enum<AuthStatus>(module, "AuthStatus", "auth_stat (RFC 5531 9).", true);
  classes.add_enum<AuthFlavor>(module, "AuthFlavor", "Authentication flavours (RFC 5531 8.2).",
                               true);
}

void bind_structs(const py::module_& module, const Classes& classes) {
  classes->add<OpaqueAuth>(module, "OpaqueAuth", "A credential or verifier (RFC 5531 8.2).");
  classes->add<AuthSys>(module, "AuthSys", "The body of AUTH_SYS (RFC 5531 appendix A).");
  classes->add<VersionRange>(module, "VersionRange", "Lowest and highest version supported.");
  classes->add<CallHeader>(module, "Call",
                           "The header of a call. A decoded rpcvers other than 2 leaves the rest "
                           "at 0; encode(arguments) appends octets.");
  classes->add<ReplyHeader>(module, "Reply",
                            "The header of a reply. status, accept_status and reject_status select "
                            "the other fields on the wire.");
  add_codec_methods<OpaqueAuth>(classes);
  add_codec_methods<AuthSys>(classes);
}

/// Headers: encode takes the octets after them, and decode returns these.
template <class Header>
void bind_header(const Classes& classes) {
  const py::object type = classes->find<Header>();
  const auto name = type.attr("__name__").cast<std::string>();
  type.attr("encode") = py::cpp_function(
      [classes, name](const py::object& self, const py::buffer& body) {
        Bytes out;
        wire::Writer writer(out);
        encode_struct<Header>(*classes, self, name.c_str(), writer);
        writer.raw(from_python(body));
        return to_python(out);
      },
      py::name("encode"), py::is_method(type), py::arg("body") = py::bytes(),
      "The octets of the header, followed by `body`.");
  type.attr("decode") = py::staticmethod(py::cpp_function(
      [classes](const py::buffer& octets) {
        const Bytes input = from_python(octets);
        wire::Reader reader(input);
        const py::object header = decode_struct<Header>(*classes, reader);
        return py::make_tuple(header, to_python(reader.rest()));
      },
      py::name("decode"), py::arg("octets"), "(header, octets after it). Raises DecodeError."));
}

void bind_auth(py::module_& module, const Classes& classes) {
  module.def(
      "auth_sys",
      [classes](const py::object& stamp, const py::object& machine_name, const py::object& uid,
                const py::object& gid, const py::object& gids) {
        Arena arena;
        AuthSys parameters;
        const Path path{nullptr, "auth_sys"};
        classes->from(stamp, parameters.stamp, {&path, "stamp"}, arena);
        classes->from(machine_name, parameters.machine_name, {&path, "machine_name"}, arena);
        classes->from(uid, parameters.uid, {&path, "uid"}, arena);
        classes->from(gid, parameters.gid, {&path, "gid"}, arena);
        classes->from(gids, parameters.gids, {&path, "gids"}, arena);
        const Bytes body = encode_auth_sys(parameters);
        return classes->to(OpaqueAuth{AuthFlavor::AUTH_SYS, body});
      },
      py::kw_only(), py::arg("stamp") = 0, py::arg("machine_name") = "steertag", py::arg("uid") = 0,
      py::arg("gid") = 0, py::arg("gids") = py::tuple(),
      "An AUTH_SYS credential as OpaqueAuth. Limits are not enforced: cases break "
      "them.");
}

/// A record reader for Python: octets in, whole records out.
class PyRecordReader {
 public:
  explicit PyRecordReader(std::size_t record_limit) : reader_(record_limit) {}

  py::list feed(const py::buffer& octets) {
    const Bytes input = from_python(octets);
    View left = input;
    py::list records;
    while (!left.empty()) {
      const auto taken = reader_.take(left);
      if (!taken) raise_decode_error(taken.error());
      left = left.subspan(*taken);
      if (!reader_.complete()) continue;
      records.append(to_python(reader_.record()));
      reader_.next();
    }
    return records;
  }
  bool mid_record() const { return reader_.mid_record(); }

 private:
  RecordReader reader_;
};

void bind_record(py::module_& module) {
  module.def(
      "record",
      [](const py::buffer& message, std::size_t fragment_octets) {
        Bytes out;
        append_record(out, from_python(message), fragment_octets);
        return to_python(out);
      },
      py::arg("message"), py::arg("fragment_octets") = kMostFragmentOctets,
      "The message as one marked record (RFC 5531 11), for TCP.");
  py::class_<PyRecordReader>(module, "RecordReader",
                             "Reassembles marked records from pieces of a TCP stream.")
      .def(py::init<std::size_t>(), py::arg("record_limit") = kMostRecordOctets)
      .def("feed", &PyRecordReader::feed, py::arg("octets"),
           "The records that these octets complete. Raises DecodeError with the offset in the "
           "stream; the reader is unusable after it.")
      .def_property_readonly("mid_record", &PyRecordReader::mid_record,
                             "Whether part of an unfinished record has arrived.");
}

void bind_configuration(py::module_ module, const Classes& classes) {
  module.attr("PROGRAM") = configuration::kProgram;
  module.attr("VERSION") = configuration::kVersion;
  module.attr("CONF_RDMA") = configuration::kProcedure;
  classes->add<configuration::Request>(module, "Request",
                                       "config_rdma_req: sizes in octets of inline RPC messages, "
                                       "and RDMA Reads that may be in flight.");
  classes->add<configuration::Reply>(
      module, "Reply", "config_rdma_reply: likewise, and the alignment for RDMA_MSGP in octets.");
  add_codec_methods<configuration::Request>(classes);
  add_codec_methods<configuration::Reply>(classes);
}

}  // namespace

void bind_rpc(py::module_& module) {
  module.doc() = "ONC RPC (RFC 5531): headers, authentication, record marking.";
  const Classes classes = shared_classes();
  bind_enums(module, *classes);
  bind_structs(module, classes);
  bind_header<CallHeader>(classes);
  bind_header<ReplyHeader>(classes);
  bind_auth(module, classes);
  bind_record(module);
  bind_configuration(
      module.def_submodule("configuration",
                           "The connection configuration protocol (RFC 5666 6), superseded."),
      classes);
  module.attr("RPC_VERSION") = kRpcVersion;
  module.attr("MOST_AUTH_OCTETS") = kMostAuthOctets;
  module.def(
      "direction",
      [classes](const py::buffer& payload) {
        const Bytes octets = from_python(payload);
        return classes->to(direction(octets));
      },
      py::arg("payload"), "MessageType of an RPC message, or None (RFC 8167 2).");
  module.def(
      "xid", [](const py::buffer& payload) { return xid(from_python(payload)); },
      py::arg("payload"), "The first word of an RPC message, or None.");
}

}  // namespace steertag::bindings
