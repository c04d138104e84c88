// Binds engine/nfs: the protocols as submodules, the upper-layer binding, reply size estimation.
#include "bind.h"
#include "nfs/binding.h"
#include "nfs/eligible_items.h"
#include "nfs/reply_size.h"
#include "nfs/v4/reply_size.h"
#include "nfs_parts.h"

namespace steertag::bindings {
namespace {

using namespace steertag::nfs;

/// Raises DecodeError if the search ended in a fault.
template <class Value>
std::optional<Value> checked(std::optional<Value> value, const wire::Fault& fault) {
  if (fault) raise_decode_error(fault);
  return value;
}

void bind_item(py::module_& module) {
  py::enum_<ItemIn>(module, "ItemIn")
      .value("ARGUMENT", ItemIn::argument)
      .value("RESULT", ItemIn::result);
  py::class_<EligibleItem>(module, "EligibleItem",
                           "Where a DDP-eligible item is; unpacks to (position, length).")
      .def_readonly("position", &EligibleItem::position, "XDR position in the unreduced payload.")
      .def_readonly("length", &EligibleItem::length, "Octets without roundup.")
      .def_readonly("reduced", &EligibleItem::reduced, "The item is not in this payload.")
      .def_readonly("absent", &EligibleItem::absent,
                    "A failed result: it has no item, but consumes its write chunk.")
      .def("__iter__",
           [](const EligibleItem& item) {
             return py::iter(py::make_tuple(item.position, item.length));
           })
      .def("__repr__", [](const EligibleItem& item) {
        return "EligibleItem(position=" + std::to_string(item.position) +
               ", length=" + std::to_string(item.length) +
               ", reduced=" + (item.reduced ? "True" : "False") + ")";
      });
}

/// The items of every version, in one shape.
void bind_item_lists(py::module_& module) {
  module.def(
      "eligible_arguments",
      [](const py::buffer& call, const std::vector<std::uint32_t>& read_positions) {
        wire::Fault fault;
        auto items = eligible_arguments(from_python(call), read_positions, &fault);
        if (fault) raise_decode_error(fault);
        return items;
      },
      py::arg("call"), py::arg("read_positions") = std::vector<std::uint32_t>{},
      "The eligible items of a call of any version, in order. In version 4, items at "
      "`read_positions` count as reduced. Raises DecodeError if the walk ends early.");
  module.def(
      "eligible_results",
      [](const py::buffer& reply, std::uint32_t program, std::uint32_t version,
         std::uint32_t procedure, const std::vector<std::uint32_t>& write_lengths) {
        wire::Fault fault;
        auto items = eligible_results(from_python(reply), program, version, procedure,
                                      write_lengths, &fault);
        if (fault) raise_decode_error(fault);
        return items;
      },
      py::arg("reply"), py::arg("program"), py::arg("version"), py::arg("procedure"),
      py::arg("write_lengths"),
      "The eligible items of a reply, in order. Item i belongs to write chunk i; "
      "`write_lengths` has the returned lengths. Raises DecodeError if the walk ends early.");
}

void bind_binding(py::module_ module) {
  module.doc() =
      "The binding of NFS to RPC-over-RDMA (RFC 8267 4): what is DDP-eligible, and where.";
  bind_item(module);
  module.def(
      "table",
      [] {
        py::list rows;
        for (const BindingRow& row : binding_table()) {
          rows.append(py::make_tuple(row.program, row.version, row.procedure, row.in, row.item));
        }
        return rows;
      },
      "Rows (program, version, procedure, ItemIn, field name) of versions 2 and 3.");
  module.def("eligible_item", &eligible_item, py::arg("program"), py::arg("version"),
             py::arg("procedure"), py::arg("item_in"), "The eligible field's name, or None.");
  module.def(
      "eligible_argument",
      [](const py::buffer& call) {
        wire::Fault fault;
        return checked(eligible_argument(from_python(call), &fault), fault);
      },
      py::arg("call"),
      "The eligible item of a call's payload stream, unreduced or reduced, or None. Raises "
      "DecodeError if the call ends before the item's count word.");
  module.def(
      "eligible_result",
      [](const py::buffer& reply, std::uint32_t program, std::uint32_t version,
         std::uint32_t procedure) {
        wire::Fault fault;
        return checked(eligible_result(from_python(reply), program, version, procedure, &fault),
                       fault);
      },
      py::arg("reply"), py::arg("program"), py::arg("version"), py::arg("procedure"),
      "The eligible item of a reply to a call of that procedure, or None. Raises DecodeError "
      "likewise.");
  bind_item_lists(module);
}

void bind_compound_reply_size(py::module_& module) {
  py::class_<nfs4::CompoundReplySize>(module, "CompoundReplySize",
                                      "Upper bounds of the reply to a COMPOUND, in octets.")
      .def_readonly("payload", &nfs4::CompoundReplySize::payload,
                    "The whole unreduced payload stream.")
      .def_readonly("eligible", &nfs4::CompoundReplySize::eligible,
                    "Each DDP-eligible item without roundup, in the order of the operations.")
      .def_readonly("bounded", &nfs4::CompoundReplySize::bounded,
                    "The protocol bounds all requested results.")
      .def_property_readonly("reduced", &nfs4::CompoundReplySize::reduced,
                             "The payload without the eligible items.");
  module.def(
      "largest_compound_reply",
      [](const py::buffer& call, std::size_t verifier_octets) {
        wire::Fault fault;
        return checked(nfs4::largest_reply(from_python(call), verifier_octets, &fault), fault);
      },
      py::arg("call"), py::arg("verifier_octets") = 0,
      "CompoundReplySize of the largest reply to an encoded COMPOUND (RFC 8267 6.2), or None for "
      "another call. Raises DecodeError.");
}

void bind_reply_size(py::module_& module) {
  py::class_<ReplySize>(module, "ReplySize", "Upper bounds of a reply, in octets.")
      .def_readonly("payload", &ReplySize::payload, "The whole unreduced payload stream.")
      .def_readonly("eligible", &ReplySize::eligible, "The DDP-eligible item, without roundup.")
      .def_property_readonly("reduced", &ReplySize::reduced, "The payload without that item.");
  module.def(
      "largest_reply",
      [](const py::buffer& call, std::size_t verifier_octets) {
        wire::Fault fault;
        return checked(largest_reply(from_python(call), verifier_octets, &fault), fault);
      },
      py::arg("call"), py::arg("verifier_octets") = 0,
      "ReplySize of the largest reply to a call (RFC 8267 3), or None if it is unbounded. Raises "
      "DecodeError.");
}

}  // namespace

void bind_nfs(py::module_& module) {
  const std::shared_ptr<DataClasses> classes = shared_classes();
  bind_nfs3(module.def_submodule("nfs3", "NFS version 3 (RFC 1813)."), classes);
  bind_mount3(module.def_submodule("mount3", "MOUNT version 3 (RFC 1813 appendix I)."), classes);
  bind_nfs4(module.def_submodule("nfs4", "NFS versions 4.0 and 4.1 (RFC 7530, RFC 8881)."),
            classes);
  bind_direct(module.def_submodule("direct", "Direct access (docs/direct-access.md)."), classes);
  bind_binding(module.def_submodule("binding"));
  bind_reply_size(module);
  bind_compound_reply_size(module);
}

}  // namespace steertag::bindings
