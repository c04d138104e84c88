// The extension module steertag._engine: one submodule per engine folder.
// The hundreds of classes of NFS take longer to bind than all others. They are bound at the import
// of steertag.nfs.
#include "bind.h"

namespace py = pybind11;
using namespace steertag::bindings;

PYBIND11_MODULE(_engine, module) {
  module.doc() = "Steertag's engine: messages, RDMA, rules and reference peers.";
  const auto add = [&](const char* folder, void (*bind)(py::module_&)) {
    py::module_ submodule = module.def_submodule(folder);
    bind(submodule);
  };
  // A folder follows those whose values it uses.
  add("wire", bind_wire);
  add("rpc", bind_rpc);
  add("ledger", bind_ledger);
  add("trace", bind_trace);
  add("conformance", bind_conformance);
  add("grade", bind_grade);
  add("fabric", bind_fabric);
  add("mutate", bind_mutate);
  add("peer", bind_peer);
  module.def("bind_nfs", &bind_nfs, py::arg("module"), "Binds engine/nfs in this module.");
}
