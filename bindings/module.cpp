// The extension module steertag._engine: one submodule per engine folder.
#include "bind.h"

namespace py = pybind11;
using namespace steertag::bindings;

PYBIND11_MODULE(_engine, module) {
  module.doc() = "Steertag's engine: messages, RDMA, rules and reference peers.";
  [[maybe_unused]] auto sub = [&](const char* name) { return module.def_submodule(name); };
#ifdef STEERTAG_BIND_WIRE
  auto wire = sub("wire");
  bind_wire(wire);
#endif
#ifdef STEERTAG_BIND_RPC
  auto rpc = sub("rpc");
  bind_rpc(rpc);
#endif
#ifdef STEERTAG_BIND_NFS
  auto nfs = sub("nfs");
  bind_nfs(nfs);
#endif
#ifdef STEERTAG_BIND_LEDGER
  auto ledger = sub("ledger");
  bind_ledger(ledger);
#endif
#ifdef STEERTAG_BIND_TRACE
  auto trace = sub("trace");
  bind_trace(trace);
#endif
#ifdef STEERTAG_BIND_CONFORMANCE
  auto conformance = sub("conformance");
  bind_conformance(conformance);
#endif
#ifdef STEERTAG_BIND_FABRIC
  auto fabric = sub("fabric");
  bind_fabric(fabric);
#endif
#ifdef STEERTAG_BIND_MUTATE
  auto mutate = sub("mutate");
  bind_mutate(mutate);
#endif
#ifdef STEERTAG_BIND_PEER
  auto peer = sub("peer");
  bind_peer(peer);
#endif
}
