// Binds one connection of the reference server that is polled by its owner.
#include <pybind11/stl.h>

#include "fabric_parts.h"
#include "server/rdma/interposed_connection.h"

namespace steertag::bindings {

using namespace steertag::peer;
using py::literals::operator""_a;

void bind_peer_connection(py::module_& module) {
  py::class_<InterposedConnection, std::shared_ptr<InterposedConnection>>(
      module, "InterposedConnection",
      "One connection of a ScriptedServer. Its operations follow all posted "
      "work, and fail after the end of the connection.")
      .def_property_readonly("number", &InterposedConnection::number)
      .def_property_readonly("up", &InterposedConnection::up)
      .def_property_readonly("thresholds", &InterposedConnection::negotiated)
      .def(
          "send",
          [](InterposedConnection& connection, const py::buffer& octets,
             std::optional<std::uint32_t> invalidate, const fabric::Fault* fault) {
            value_or_raise(connection.send(from_python(octets), invalidate, fault));
          },
          "octets"_a, "invalidate"_a = py::none(), "fault"_a = nullptr)
      .def(
          "write",
          [](InterposedConnection& connection, const py::buffer& octets, std::uint32_t stag,
             std::uint64_t offset, const fabric::Fault* fault) {
            value_or_raise(connection.write(from_python(octets), stag, offset, fault));
          },
          "octets"_a, "stag"_a, "offset"_a, "fault"_a = nullptr)
      .def(
          "read",
          [](InterposedConnection& connection, std::uint32_t stag, std::uint64_t offset,
             std::uint32_t length, const fabric::Fault* fault) {
            return value_or_raise(connection.read(stag, offset, length, fault));
          },
          "stag"_a, "offset"_a, "length"_a, "fault"_a = nullptr,
          "The number that on_read gets with the octets.")
      .def(
          "send_raw",
          [](InterposedConnection& connection, const py::buffer& octets) {
            value_or_raise(connection.send_raw(from_python(octets)));
          },
          "octets"_a)
      .def("add_receives", &InterposedConnection::add_receives, "count"_a,
           "Posts further receives, once: for a connection that was accepted with none.")
      .def(
          "terminate",
          [](InterposedConnection& connection, std::uint8_t layer, std::uint8_t type,
             std::uint8_t code) {
            value_or_raise(connection.terminate({layer, type, code}));
          },
          "layer"_a, "type"_a, "code"_a)
      .def("disconnect", &InterposedConnection::disconnect)
      .def("abort", &InterposedConnection::abort);
}

}  // namespace steertag::bindings
