// Measures how soon a file is there at several servers, as a metadata server makes its parts.
#pragma once

#include <cstdint>
#include <vector>

#include "client/bench/file_bench.h"
#include "client/v4/client_session.h"

namespace steertag::peer {

/// Creates under way.
inline constexpr std::uint32_t kMostCreates = 64;

/// A directory of one server.
struct CreatePlace {
  CallSchedule* schedule = nullptr;
  ClientSession* session = nullptr;
  RemoteHandle directory;
};

struct CreateMeasurement {
  std::size_t places = 1;   // so many of the first
  std::uint32_t calls = 1;  // creates under way, at most kMostCreates
  std::chrono::milliseconds duration{1000};
  std::uint64_t least_calls = 0;  // it goes on until so many have ended: see kMostExtension
};

/// A create is that of one file at each place, one place after the other. It is four calls there:
/// LOOKUP, OPEN, SETATTR of the mode, and CLOSE.
class CreateBench {
 public:
  /// `places` must outlive the bench, and there is one at least.
  CreateBench(std::vector<CreatePlace> places, DeadlineClock clock, ProcessorClock processor)
      : places_(std::move(places)), clock_(std::move(clock)), processor_(std::move(processor)) {}

  /// `calls` are whole creates, and so are the times. The files are removed before it returns,
  /// outside of the measured time.
  Expected<Measured, FileError> measure(const CreateMeasurement& what);

  std::size_t places() const { return places_.size(); }

 private:
  struct Run;
  Expected<void, FileError> remove_all(std::size_t places, std::uint64_t first);

  std::vector<CreatePlace> places_;
  DeadlineClock clock_;
  ProcessorClock processor_;
  std::uint64_t next_name_ = 0;
};

}  // namespace steertag::peer
