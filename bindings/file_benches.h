// Python's view of benches of files, and how work on remote files waits and fails.
#pragma once

#include "bind.h"
#include "client/bench/create_bench.h"
#include "client/bench/file_bench.h"
#include "client/bench/layout_bench.h"
#include "client/bench/small_files_bench.h"
#include "client/v4/nfs4_files.h"

namespace steertag::bindings {

inline constexpr const char* kFileErrorName = "FileError";

/// A name in the form of Python's file names: octets that are no UTF-8 survive.
py::object file_name(std::string_view octets);
[[noreturn]] void raise_file_error(const peer::FileError& error);
/// Raises ValueError for what is no time of a measurement.
std::chrono::milliseconds to_milliseconds(double seconds);

template <class Value>
Value file_value(Expected<Value, peer::FileError> result) {
  if (!result) raise_file_error(result.error());
  if constexpr (!std::is_void_v<Value>) return std::move(*result);
}

/// Runs engine work that waits, without the GIL. Raises its error.
template <class Work>
auto waiting(Work&& work) {
  auto result = [&] {
    const py::gil_scoped_release release;
    return work();
  }();
  if (PyErr_Occurred()) throw py::error_already_set();  // from a signal handler
  return file_value(std::move(result));
}

/// One file that is measured.
class PyBench {
 public:
  PyBench(peer::RemoteFiles& files, peer::RemoteFile file, std::uint64_t size)
      : files_(files),
        file_(file),
        bench_(files, file, size, std::chrono::steady_clock::now, peer::processor_time) {}

  peer::Measured measure(const std::string& operation, std::uint32_t io_bytes,
                         std::uint32_t in_flight, double duration_s, std::uint64_t least_calls,
                         bool copies, std::size_t work_bytes, std::optional<double> zipf_alpha,
                         std::uint64_t seed);
  void fill() {
    waiting([&] { return bench_.fill(); });
  }
  void compare() {
    waiting([&] { return bench_.compare(); });
  }
  void close() {
    waiting([&] { return files_.close(file_); });
  }
  std::uint64_t size() const { return bench_.size(); }

 private:
  peer::RemoteFiles& files_;
  peer::RemoteFile file_;
  peer::FileBench bench_;
};

/// Small files that are open and measured together.
class PySmallFilesBench {
 public:
  PySmallFilesBench(peer::RemoteFiles& files, std::vector<peer::RemoteFile> open,
                    std::uint32_t file_bytes)
      : files_(files),
        bench_(files, std::move(open), file_bytes, std::chrono::steady_clock::now,
               peer::processor_time) {}

  void read_all() {
    waiting([&] { return bench_.read_all(); });
  }
  /// (Measured, hits)
  py::tuple measure(std::size_t cached_files, std::uint64_t seed, double duration_s,
                    std::uint64_t least_reads);
  void close();

 private:
  peer::RemoteFiles& files_;
  peer::SmallFilesBench bench_;
};

/// One file whose layouts are measured, of a client that holds none of it.
class PyLayoutBench {
 public:
  PyLayoutBench(peer::Nfs4Files& files, peer::RemoteFile file)
      : files_(files),
        file_(file),
        bench_(files.session(), files.handle_of(file), files.state_of(file),
               std::chrono::steady_clock::now, peer::processor_time) {}

  peer::Measured measure(double duration_s, std::uint64_t least_calls);
  void close() {
    waiting([&] { return files_.close(file_); });
  }

 private:
  peer::Nfs4Files& files_;
  peer::RemoteFile file_;
  peer::LayoutBench bench_;
};

/// Creates at several servers.
class PyCreateBench {
 public:
  /// `files` are the clients that the places belong to.
  PyCreateBench(std::vector<peer::CreatePlace> places, std::vector<py::object> files)
      : files_(std::move(files)),
        bench_(std::move(places), std::chrono::steady_clock::now, peer::processor_time) {}

  peer::Measured measure(std::size_t servers, std::uint32_t in_flight, double duration_s,
                         std::uint64_t least_calls);

 private:
  std::vector<py::object> files_;
  peer::CreateBench bench_;
};

void bind_benches(py::module_& module);

}  // namespace steertag::bindings
