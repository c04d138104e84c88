// Binds direct access (docs/direct-access.md) as steertag.nfs.direct.
#include "nfs/direct/procedures.h"

#include "endpoint/block_frame.h"
#include "nfs/direct/private_data.h"
#include "nfs_parts.h"
#include "rpc_program.h"

namespace steertag::bindings {
namespace {

using namespace steertag::direct;

struct Direct {
  using Procedure = direct::Procedure;
  static constexpr std::uint32_t kProgram = direct::kProgram;
  static constexpr std::uint32_t kVersion = direct::kVersion;
  static auto named(std::string_view name) { return rpc::value_named<Procedure>(name); }
  static auto numbered(std::uint32_t number) { return rpc::value_numbered<Procedure>(number); }
  template <class Visit>
  static decltype(auto) with_signature(Procedure procedure, Visit&& visit) {
    return direct::with_signature(procedure, [&]<class Args, class Res>(Signature<Args, Res>) {
      return visit.template operator()<Args, Res>();
    });
  }
};

void add_types(const py::module_& module, DataClasses& classes) {
  classes.add<Reference>(module, "Reference", "oref; `base` is a tagged offset.");
  classes.add<HelloOk>(module, "HelloOk", "The results of HELLO with NFS4_OK.");
  classes.add<RefsOk>(module, "RefsOk", "The results of REFS with NFS4_OK.");
  classes.add<ReadOk>(module, "ReadOk", "The results of READ with NFS4_OK.");
}

void add_frames(py::module_& module) {
  module.attr("FRAME_OCTETS") = peer::kFrameOctets;
  module.attr("FRAME_HEAD_OCTETS") = peer::kFrameHeadOctets;
  module.attr("FRAME_FORM") = kFrameForm;
  module.attr("TICKET_OCTETS") = kTicketOctets;
  module.attr("MOST_READS") = kMostReads;
  module.attr("MOST_REFERENCES") = kMostReferences;
  module.def(
      "open_frame",
      [](const py::buffer& frame, std::uint64_t generation) -> py::object {
        const Bytes octets = from_python(frame);
        const auto data = peer::open_frame(octets, generation);
        return data ? py::object(to_python(*data)) : py::object(py::none());
      },
      py::arg("frame"), py::arg("generation"),
      "The data, or None unless both generations are this one and the check is right.");
  module.def(
      "make_frame",
      [](const py::buffer& data, std::uint64_t generation) {
        const Bytes octets = from_python(data);
        Bytes frame(octets.size() + peer::kFrameOctets);
        std::ranges::copy(octets, peer::frame_data(frame).begin());
        peer::seal_frame(frame, generation);
        return to_python(frame);
      },
      py::arg("data"), py::arg("generation"), "A valid frame.");
}

void add_private_data(py::module_& module) {
  module.def(
      "private_data",
      [](const py::buffer& ticket, bool recoverable) {
        const Bytes given = from_python(ticket);
        if (given.size() != kTicketOctets) {
          throw py::value_error("a ticket has " + std::to_string(kTicketOctets) + " octets, not " +
                                std::to_string(given.size()));
        }
        Ticket copied;
        std::copy(given.begin(), given.end(), copied.begin());
        Bytes out;
        direct::encode(copied, out, recoverable);
        return to_python(out);
      },
      py::arg("ticket"), py::arg("recoverable") = false,
      "What the client of an optimistic connection sends with its request. `recoverable`: refusals "
      "of RDMA Reads may be recoverable, if the server's answer says so too.");
  module.def(
      "is_recoverable",
      [](const py::buffer& private_data) {
        return direct::is_recoverable(from_python(private_data));
      },
      py::arg("private_data"), "Whether private data say that refusals may be recoverable.");
  module.def(
      "private_data_answer",
      [] {
        Bytes out;
        direct::encode_answer(out);
        return to_python(out);
      },
      "What the server answers.");
}

}  // namespace

void bind_direct(py::module_ module, const std::shared_ptr<DataClasses>& classes) {
  add_types(module, *classes);
  add_codec_methods<Reference>(classes);
  RpcProgram<Direct> program(module, classes);
  program.add_classes();
  program.add_functions();
  add_frames(module);
  add_private_data(module);
}

}  // namespace steertag::bindings
