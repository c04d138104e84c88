// Shared by the binding files: one `bind_FOLDER` per engine folder, and conversions of buffers.
// The conversions are between Python's buffers and the engine's views.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "support/bytes.h"
#include "wire_values.h"

namespace steertag::bindings {

namespace py = pybind11;

void bind_wire(py::module_& module);
void bind_rpc(py::module_& module);
void bind_nfs(py::module_& module);
void bind_grade(py::module_& module);
void bind_ledger(py::module_& module);
void bind_trace(py::module_& module);
void bind_conformance(py::module_& module);
void bind_fabric(py::module_& module);
void bind_mutate(py::module_& module);
void bind_peer(py::module_& module);
void bind_peer_connection(py::module_& module);
void bind_peer_files(py::module_& module);
void bind_peer_script(py::module_& module);

/// A new Python bytes object with a copy of the octets.
inline py::bytes to_python(View bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The octets of a bytes-like object, copied.
inline Bytes from_python(const py::buffer& buffer) {
  const py::buffer_info info = buffer.request();
  const auto* first = static_cast<const std::byte*>(info.ptr);
  return Bytes(first, first + info.size * info.itemsize);
}

}  // namespace steertag::bindings
