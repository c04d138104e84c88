// A loop over files, with a cache of whole files.
#include "client/bench/small_files_bench.h"

#include <algorithm>
#include <random>

#include "support/lru_map.h"

namespace steertag::peer {
namespace {

using Time = std::chrono::steady_clock::time_point;

}  // namespace

SmallFilesBench::SmallFilesBench(RemoteFiles& files, std::vector<RemoteFile> open,
                                 std::uint32_t file_bytes, DeadlineClock clock,
                                 ProcessorClock processor)
    : files_(files),
      open_(std::move(open)),
      clock_(std::move(clock)),
      processor_(std::move(processor)),
      content_(file_bytes) {}

Expected<void, FileError> SmallFilesBench::read(RemoteFile file) {
  std::optional<Expected<void, FileError>> ended;
  const auto take = [&](const Expected<ReadOutcome, FileError>& outcome) {
    if (!outcome) {
      ended = tl::unexpected(outcome.error());
    } else if (outcome->data.size() != content_.size()) {
      ended = tl::unexpected(FileError{FileErrc::changed,
                                       "READ: " + std::to_string(outcome->data.size()) +
                                           " octets of " + std::to_string(content_.size()),
                                       0,
                                       {}});
    } else {
      std::ranges::copy(outcome->data, content_.begin());
      ended.emplace();
    }
  };
  files_.read(file, 0, static_cast<std::uint32_t>(content_.size()), take);
  while (!ended) files_.step(kBenchStep);
  return std::move(*ended);
}

Expected<void, FileError> SmallFilesBench::read_all() {
  for (const RemoteFile file : open_) {
    if (auto done = read(file); !done) return done;
  }
  return {};
}

Expected<SmallFilesMeasured, FileError> SmallFilesBench::measure(
    const SmallFilesMeasurement& what) {
  const std::size_t room = std::min(what.cached_files, open_.size());
  LruMap<RemoteFile, Bytes> cache(room);
  for (std::size_t i = 0; i < room; ++i) {
    if (auto done = read(open_[i]); !done) return tl::unexpected(std::move(done.error()));
    cache.put(open_[i]) = content_;
  }
  std::mt19937_64 choice(what.seed);
  SmallFilesMeasured found;
  const ProcessorTime before = processor_();
  const Time start = clock_();
  const Time end = start + std::min(what.duration, kLongestMeasurement);
  const Time last_end = start + std::min(what.duration * kMostExtension, kLongestMeasurement);
  Time now = start;
  do {
    const RemoteFile file = open_[choice() % open_.size()];
    if (const Bytes* const cached = cache.find(file)) {
      std::ranges::copy(*cached, content_.begin());
      ++found.cached;
    } else {
      if (auto done = read(file); !done) return tl::unexpected(std::move(done.error()));
      if (room > 0) cache.put(file) = content_;
    }
    const Time ended = clock_();
    ++found.all.calls;
    found.all.bytes += content_.size();
    found.all.times.add(ended - std::exchange(now, ended));
  } while (now < end || (now < last_end && found.all.calls < what.least_reads));
  found.all.elapsed = now - start;
  found.all.processor = since(before, processor_());
  return found;
}

}  // namespace steertag::peer
