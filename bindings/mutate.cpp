// Binds engine/mutate: the generators of hostile messages and private data, and mutations by name.
#include "bind.h"
#include "mutate/catalogue.h"
#include "mutate/flood.h"
#include "mutate/payload_mutation.h"
#include "mutate/private_data_mutation.h"

namespace steertag::bindings {
namespace {

using namespace steertag::mutate;
using py::literals::operator""_a;

std::string variant_repr(const std::string& name) {
  return "<Variant " + name + ">";
}

void bind_variants(py::module_& module) {
  py::class_<Variant>(module, "Variant", "A hostile message and its permanent name.")
      .def_readonly("name", &Variant::name, "\"write-chunk.count-0x10000000\"; use it as test id.")
      .def_property_readonly(
          "draft", [](const Variant& self) { return self.draft; },
          "The message as a steertag.wire.Draft; every access gives a new copy.")
      .def_property_readonly(
          "expectation", [](const Variant& self) { return mutate::name(self.expectation); },
          "A hint at a responder's answer: \"discard\", \"ERR_VERS\", \"ERR_CHUNK\", \"reply\", "
          "\"refuse\" (ERR_CHUNK, RPC error or loss of the connection) or \"survive\".")
      .def("__bytes__",
           [](const Variant& self) {
             Bytes out;
             wire::encode(self.draft, out);
             return to_python(out);
           })
      .def("__repr__", [](const Variant& self) { return variant_repr(self.name); });

  py::class_<PrivateDataVariant>(module, "PrivateDataVariant",
                                 "Odd private data and its permanent name.")
      .def_readonly("name", &PrivateDataVariant::name)
      .def_property_readonly("bytes",
                             [](const PrivateDataVariant& self) { return to_python(self.bytes); })
      .def_property_readonly(
          "meaning", [](const PrivateDataVariant& self) { return self.meaning; },
          "The announcement that a receiver must obey (steertag.wire.PrivateData); None: the "
          "defaults, as without private data (RFC 8797 5.1).")
      .def("__bytes__", [](const PrivateDataVariant& self) { return to_python(self.bytes); })
      .def("__repr__", [](const PrivateDataVariant& self) { return variant_repr(self.name); });
}

std::vector<Variant> generate_group(const std::string& group, const wire::Draft& draft) {
  for (const Group& each : groups()) {
    if (each.name == group) return each.generate(draft);
  }
  throw py::value_error("no group '" + group + "' of hostile messages; see steertag.mutate.GROUPS");
}

/// A copy of the draft after these mutations.
wire::Draft mutated(wire::Draft draft, const py::args& names) {
  for (const py::handle each : names) {
    const auto name = each.cast<std::string>();
    if (!apply_mutation(draft, name))
      throw py::key_error("no mutation '" + name + "' of this message");
  }
  return draft;
}

PrivateDataVariant private_data_variant(const std::string& name, const wire::PrivateData& legal) {
  auto found = private_data(legal, name);
  if (!found) throw py::key_error("no variant '" + name + "' of private data");
  return *std::move(found);
}

}  // namespace

void bind_mutate(py::module_& module) {
  module.doc() = "Structured generators of hostile messages: a legal Draft in, named variants out.";
  bind_variants(module);
  py::list names;
  for (const Group& each : groups()) names.append(each.name);
  module.attr("GROUPS") = py::tuple(names);
  module.def("generate", &generate_group, "group"_a, "draft"_a,
             "The variants of one group of GROUPS. Raises ValueError for an unknown group.");
  module.def("generate_all", &generate_all, "draft"_a,
             "The variants of all groups; their names are unique and permanent.");
  module.def("floods", &floods, "draft"_a, "inline_bytes"_a,
             "Messages that fill one Send of `inline_bytes` octets with list entries.");
  module.def(
      "mutated", &mutated, "draft"_a,
      "A copy of the draft after the mutations of these names, one after another: "
      "\"version.2\", \"write-list.unused\". The names of variants are names of mutations. "
      "Raises KeyError if there is no such mutation, or if the message lacks what it changes.");
  module.def("padded", &padded, "draft"_a, "octets"_a,
             "A copy of the draft with zero octets at its end, so that the message has so many.");
  module.def("private_data", py::overload_cast<const wire::PrivateData&>(&private_data),
             "legal"_a = wire::PrivateData{true, 4096, 4096},
             "Variants of private data (RFC 8797) around a legal announcement.");
  module.def("private_data_variant", &private_data_variant, "name"_a,
             "legal"_a = wire::PrivateData{true, 4096, 4096},
             "The variant of that name. Raises KeyError for an unknown name.");
}

}  // namespace steertag::bindings
