// Binds the benches of engine/client.
#include "file_benches.h"

#include <pybind11/stl.h>

#include "client/bench/zipf_choice.h"
#include "client/files/file_client.h"

namespace steertag::bindings {
namespace {

using namespace steertag::peer;
using py::literals::operator""_a;
using std::chrono::milliseconds;

/// 16 octets are kept of each.
constexpr std::uint64_t kMostZipfBlocks = std::uint64_t{1} << 22;
constexpr double kMostZipfAlpha = 10;

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

/// Offsets of whole blocks of a file.
std::function<std::uint64_t()> zipf_places(std::uint64_t size, std::uint32_t block_bytes,
                                           double alpha, std::uint64_t seed) {
  const std::uint64_t blocks = block_bytes > 0 ? size / block_bytes : 0;
  if (blocks < 1 || blocks > kMostZipfBlocks)
    throw py::value_error("zipf_alpha: the file must have 1 to " + std::to_string(kMostZipfBlocks) +
                          " blocks");
  if (!(alpha >= 0 && alpha <= kMostZipfAlpha))
    throw py::value_error("zipf_alpha: 0 to " + std::to_string(static_cast<int>(kMostZipfAlpha)));
  auto choice = std::make_shared<ZipfChoice>(blocks, alpha, seed);
  return [choice, block_bytes] { return std::uint64_t{choice->next()} * block_bytes; };
}

}  // namespace

py::object file_name(std::string_view octets) {
  // What os.fsdecode does.
  PyObject* const name =
      PyUnicode_DecodeFSDefaultAndSize(octets.data(), static_cast<Py_ssize_t>(octets.size()));
  if (!name) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(name);
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
                          bool copies, std::size_t work_bytes, std::optional<double> zipf_alpha,
                          std::uint64_t seed) {
  if (in_flight < 1 || in_flight > kMostInFlight)
    throw py::value_error("in_flight: 1 to " + std::to_string(kMostInFlight));
  Measurement what{bench_operation(operation),
                   io_bytes,
                   in_flight,
                   to_milliseconds(duration_s),
                   least_calls,
                   copies,
                   work_bytes};
  if (zipf_alpha) what.place = zipf_places(size(), io_bytes, *zipf_alpha, seed);
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

Measured PyLayoutBench::measure(double duration_s, std::uint64_t least_calls) {
  const milliseconds duration = to_milliseconds(duration_s);
  return waiting([&] { return bench_.measure(duration, least_calls); });
}

Measured PyCreateBench::measure(std::size_t servers, std::uint32_t in_flight, double duration_s,
                                std::uint64_t least_calls) {
  if (servers < 1 || servers > bench_.places())
    throw py::value_error("servers: 1 to " + std::to_string(bench_.places()));
  if (in_flight < 1 || in_flight > kMostCreates)
    throw py::value_error("in_flight: 1 to " + std::to_string(kMostCreates));
  const CreateMeasurement what{servers, in_flight, to_milliseconds(duration_s), least_calls};
  return waiting([&] { return bench_.measure(what); });
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
          "work_bytes"_a = 0, "zipf_alpha"_a = py::none(), "seed"_a = 0,
          "Calls of `io_bytes` through the file, `in_flight` at a time: read, write (unstable, one "
          "COMMIT) or write_sync. `copies`: what is read is copied once more, and `work_bytes` of "
          "it besides. With `zipf_alpha` they are at blocks that Zipf's law chooses. Raises "
          "FileError.")
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
  py::class_<PyLayoutBench>(module, "LayoutBench", "A remote file whose layouts are measured.")
      .def("measure", &PyLayoutBench::measure, py::kw_only(), "duration_s"_a = 1.0,
           "least_calls"_a = 0,
           "One LAYOUTGET at a time. LAYOUTRETURN follows each, outside of the times. `bytes` are "
           "those of the layouts. Raises FileError.")
      .def("close", &PyLayoutBench::close);
  py::class_<PyCreateBench>(module, "CreateBench",
                            "Directories of servers in which files are made.")
      .def(
          "measure", &PyCreateBench::measure, py::kw_only(), "servers"_a, "in_flight"_a = 1,
          "duration_s"_a = 1.0, "least_calls"_a = 0,
          "Creates of a file at so many of the servers, one after the other: LOOKUP, OPEN, SETATTR "
          "and CLOSE. `in_flight` creates at a time. Removes the files outside of the measured "
          "time. Raises FileError.");
}

}  // namespace steertag::bindings
