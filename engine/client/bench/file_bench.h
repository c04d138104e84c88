// Measures the data path to a file: how fast, how soon and for how much processor time it goes.
#pragma once

#include <functional>

#include "client/bench/response_times.h"
#include "client/files/remote_files.h"
#include "endpoint/deadline_clock.h"

namespace steertag::peer {

/// One measurement ends after this time, or this many times its duration, though calls are missing.
inline constexpr std::chrono::milliseconds kLongestMeasurement{600'000};
inline constexpr int kMostExtension = 10;
/// Of one wait for replies.
inline constexpr std::chrono::milliseconds kBenchStep{1000};
/// Octets after which the content of a file of the bench repeats itself. It is odd, so that blocks
/// of any usual size differ.
inline constexpr std::size_t kBenchPeriod = 65'521;

enum class BenchOperation : std::uint8_t {
  read,
  write,       // unstable, and one COMMIT at the end
  write_sync,  // each FILE_SYNC
};

/// What is measured at a time.
struct Measurement {
  BenchOperation operation = BenchOperation::read;
  std::uint32_t io_bytes = 65'536;  // of one READ or WRITE
  std::uint32_t calls = 1;          // under way
  std::chrono::milliseconds duration{1000};
  std::uint64_t least_calls = 0;  // it goes on until so many have ended: see kMostExtension
  bool copies = false;            // what is read is copied once more, as by read(2)
  std::size_t work_bytes = 0;     // of what was read, copied besides: what a program does with it
  /// Where the next call begins, an offset below the size. Without it each begins where the one
  /// before it ends.
  std::function<std::uint64_t()> place{};
};

/// Processor time of this process.
struct ProcessorTime {
  std::chrono::microseconds user{};
  std::chrono::microseconds system{};
};
using ProcessorClock = std::function<ProcessorTime()>;
/// getrusage.
ProcessorTime processor_time();
ProcessorTime since(const ProcessorTime& before, const ProcessorTime& now);

struct Measured {
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  std::chrono::nanoseconds elapsed{};
  ProcessorTime processor;
  ResponseTimes times;
};

/// One file, read or written from its start to its end, again and again, or at chosen places.
class FileBench {
 public:
  /// `files` must outlive the bench; the file is open and has `size` octets, one at least.
  FileBench(RemoteFiles& files, RemoteFile file, std::uint64_t size, DeadlineClock clock,
            ProcessorClock processor);

  Expected<Measured, FileError> measure(const Measurement& what);
  /// Writes the bench's content, all of the file.
  Expected<void, FileError> fill();
  /// Reads the file, and compares it with that content.
  Expected<void, FileError> compare();
  std::uint64_t size() const { return size_; }

 private:
  struct Run;
  View content(std::uint64_t offset, std::size_t length);

  RemoteFiles& files_;
  RemoteFile file_;
  std::uint64_t size_;
  DeadlineClock clock_;
  ProcessorClock processor_;
  Bytes content_;  // a period and the largest transfer, once it is needed
  Bytes copy_;
};

enum class NameOperation : std::uint8_t {
  lookup,   // of the components of a path
  getattr,  // of the object there
  list,     // the directory there
};

/// Calls one after the other, because the client waits for names.
struct NameMeasurement {
  std::string path;
  NameOperation operation = NameOperation::lookup;
  std::chrono::milliseconds duration{1000};
};
Expected<Measured, FileError> measure_names(RemoteFiles& files, const NameMeasurement& what,
                                            const DeadlineClock& clock,
                                            const ProcessorClock& processor);

}  // namespace steertag::peer
