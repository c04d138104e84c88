// Binds the benches of engine/client.
#include "file_benches.h"

#include <pybind11/stl.h>

#include "client/files/file_client.h"

namespace steertag::bindings {
namespace {

using namespace steertag::peer;
using py::literals::operator""_a;
using std::chrono::milliseconds;

/// A name of an operation that a bench measures.
BenchOperation bench_operation(const std::string& name) {
  if (name == "read") return BenchOperation::read;
  if (name == "write") return BenchOperation::write;
  if (name == "write_sync") return BenchOperation::write_sync;
  throw py::value_error("operation: read, write or write_sync, not " + name);
}

double to_seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

py::object file_name(std::string_view octets) {
  return py::module_::import("os").attr("fsdecode")(py::bytes(octets.data(), octets.size()));
}

void raise_file_error(const peer::FileError& error) {
  const py::object type = py::module_::import("steertag._engine").attr("peer").attr(kFileErrorName);
  const py::object value = type(file_name(error.message()));  // it may contain names
  value.attr("status") = error.status_name;
  PyErr_SetObject(type.ptr(), value.ptr());
  throw py::error_already_set();
}

milliseconds to_milliseconds(double seconds) {
  if (!(seconds >= 0 && seconds <= 86400)) throw py::value_error("seconds: 0 to 86400");
  return milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

Measured PyBench::measure(const std::string& operation, std::uint32_t io_bytes,
                          std::uint32_t in_flight, double duration_s, std::uint64_t least_calls,
                          bool copies, std::size_t work_bytes) {
  if (in_flight < 1 || in_flight > kMostInFlight)
    throw py::value_error("in_flight: 1 to " + std::to_string(kMostInFlight));
  const Measurement what{bench_operation(operation),
                         io_bytes,
                         in_flight,
                         to_milliseconds(duration_s),
                         least_calls,
                         copies,
                         work_bytes};
  return waiting([&] { return bench_.measure(what); });
}

py::tuple PySmallFilesBench::measure(std::size_t cached_files, std::uint64_t seed,
                                     double duration_s, std::uint64_t least_reads) {
  const SmallFilesMeasurement what{cached_files, seed, to_milliseconds(duration_s), least_reads};
  const SmallFilesMeasured found = waiting([&] { return bench_.measure(what); });
  return py::make_tuple(found.all, found.cached);
}

void PySmallFilesBench::close() {
  waiting([&]() -> Expected<void, peer::FileError> {
    for (const RemoteFile file : bench_.open()) {
      if (auto closed = files_.close(file); !closed) return closed;
    }
    return {};
  });
}

void bind_benches(py::module_& module) {
  py::class_<Measured>(module, "Measured", "What a Bench measured.")
      .def_readonly("calls", &Measured::calls)
      .def_readonly("bytes", &Measured::bytes)
      .def_property_readonly("elapsed_s",
                             [](const Measured& self) { return to_seconds(self.elapsed); })
      .def_property_readonly(
          "user_s", [](const Measured& self) { return to_seconds(self.processor.user); },
          "Processor time of this process.")
      .def_property_readonly("system_s",
                             [](const Measured& self) { return to_seconds(self.processor.system); })
      .def(
          "response_s",
          [](const Measured& self, double share) { return to_seconds(self.times.quantile(share)); },
          "share"_a, "The time within which this share (0 to 1) of the calls had their replies.");
  py::class_<PyBench>(module, "Bench", "A remote file whose data path is measured.")
      .def(
          "measure", &PyBench::measure, "operation"_a, py::kw_only(), "io_bytes"_a,
          "in_flight"_a = 1, "duration_s"_a = 1.0, "least_calls"_a = 0, "copies"_a = false,
          "work_bytes"_a = 0,
          "Calls of `io_bytes` through the file, `in_flight` at a time: read, write (unstable, one "
          "COMMIT) or write_sync. `copies`: what is read is copied once more, and `work_bytes` of "
          "it besides. Raises FileError.")
      .def("fill", &PyBench::fill, "Writes octets that tell their place, all of the file.")
      .def("compare", &PyBench::compare, "Raises FileError if the file has other octets.")
      .def("close", &PyBench::close)
      .def_property_readonly("size", &PyBench::size);
  py::class_<PySmallFilesBench>(module, "SmallFilesBench", "Small remote files, read at random.")
      .def("read_all", &PySmallFilesBench::read_all, "Reads each once. Raises FileError.")
      .def("measure", &PySmallFilesBench::measure, py::kw_only(), "cached_files"_a, "seed"_a,
           "duration_s"_a = 1.0, "least_reads"_a = 0,
           "(Measured, hits): whole files, one at a time, with a cache of so many. Raises "
           "FileError.")
      .def("close", &PySmallFilesBench::close);
}

}  // namespace steertag::bindings
