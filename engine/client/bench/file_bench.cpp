// A loop that keeps calls under way.
#include "client/bench/file_bench.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstring>

#include "client/files/file_reader.h"
#include "client/files/file_writer.h"
#include "endpoint/limits.h"

namespace steertag::peer {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using Time = std::chrono::steady_clock::time_point;

microseconds to_microseconds(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + microseconds(time.tv_usec);
}

Expected<void, FileError> ask_for_name(RemoteFiles& files, const NameMeasurement& what,
                                       const RemoteHandle& object) {
  if (what.operation == NameOperation::list)
    return files.list(object, [](const RemoteEntry&) { return true; });
  std::optional<FileError> error;
  if (what.operation == NameOperation::getattr) {
    if (const auto attributes = files.attributes(object); !attributes) error = attributes.error();
  } else if (const auto found = files.find(what.path, true); !found) {
    error = found.error();
  }
  if (error) return tl::unexpected(std::move(*error));
  return {};
}

}  // namespace

ProcessorTime since(const ProcessorTime& before, const ProcessorTime& now) {
  return {now.user - before.user, now.system - before.system};
}

ProcessorTime processor_time() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return {to_microseconds(usage.ru_utime), to_microseconds(usage.ru_stime)};
}

FileBench::FileBench(RemoteFiles& files, RemoteFile file, std::uint64_t size, DeadlineClock clock,
                     ProcessorClock processor)
    : files_(files),
      file_(file),
      size_(size),
      clock_(std::move(clock)),
      processor_(std::move(processor)) {}

View FileBench::content(std::uint64_t offset, std::size_t length) {
  if (content_.empty()) {
    content_.resize(kBenchPeriod + kLargestTransfer);
    for (std::size_t i = 0; i < content_.size(); ++i) {
      const std::size_t within = i % kBenchPeriod;
      content_[i] = static_cast<std::byte>(within * 31 + within / 251);
    }
  }
  return View(content_).subspan(offset % kBenchPeriod, length);
}

/// One measurement. Its callbacks come before `go` returns, whatever happens.
struct FileBench::Run {
  Run(FileBench& its_bench, const Measurement& its_what) : bench(its_bench), what(its_what) {}

  FileBench& bench;
  const Measurement& what;
  Time end{};       // no call begins after it, once there were enough
  Time last_end{};  // ... nor after this
  std::uint64_t next = 0;
  std::uint32_t under_way = 0;
  Measured measured{};
  std::optional<FileError> error;

  bool goes_on(Time now) const {
    if (error) return false;
    return now < end || (now < last_end && measured.calls < what.least_calls);
  }

  void begin(Time now) {
    if (what.place) next = what.place();
    // The last call of the file is a short one, or none.
    if (next >= bench.size_) next = 0;
    const std::uint64_t offset = next;
    const auto length =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(what.io_bytes, bench.size_ - offset));
    next += length;
    ++under_way;
    if (what.operation == BenchOperation::read) {
      bench.files_.read(bench.file_, offset, length,
                        [this, now, length](Expected<ReadOutcome, FileError> outcome) {
                          take(std::move(outcome), length, now);
                        });
    } else {
      const auto stability =
          what.operation == BenchOperation::write ? Stability::unstable : Stability::file_sync;
      bench.files_.write(bench.file_, offset, bench.content(offset, length), stability,
                         [this, now, length](Expected<WriteOutcome, FileError> outcome) {
                           take(std::move(outcome), length, now);
                         });
    }
  }

  void take(Expected<ReadOutcome, FileError> outcome, std::uint32_t length, Time begun) {
    if (!outcome) return ended(tl::unexpected(std::move(outcome.error())), begun);
    const View data = outcome->data;
    if (data.size() > length || data.empty())
      return ended(tl::unexpected(FileError{FileErrc::changed,
                                            "READ: " + std::to_string(data.size()) + " octets of " +
                                                std::to_string(length),
                                            0,
                                            {}}),
                   begun);
    if (what.copies) std::memcpy(bench.copy_.data(), data.data(), data.size());
    if (what.work_bytes > 0)
      std::memcpy(bench.copy_.data(), data.data(), std::min(what.work_bytes, data.size()));
    ended(data.size(), begun);
  }

  void take(Expected<WriteOutcome, FileError> outcome, std::uint32_t length, Time begun) {
    if (!outcome) return ended(tl::unexpected(std::move(outcome.error())), begun);
    if (outcome->count == 0 || outcome->count > length)
      return ended(tl::unexpected(FileError{FileErrc::bad_results,
                                            "WRITE: count is " + std::to_string(outcome->count) +
                                                " of " + std::to_string(length),
                                            0,
                                            {}}),
                   begun);
    ended(outcome->count, begun);
  }

  void ended(Expected<std::size_t, FileError> octets, Time begun) {
    --under_way;
    if (!octets) {
      if (!error) error = std::move(octets.error());
      return;
    }
    const Time now = bench.clock_();
    ++measured.calls;
    measured.bytes += *octets;
    measured.times.add(now - begun);
    if (goes_on(now)) begin(now);
  }

  void commit() {
    ++under_way;
    bench.files_.commit(bench.file_, [this](const Expected<WriteVerifier, FileError>& outcome) {
      --under_way;
      if (!outcome) error = outcome.error();
    });
    finish();
  }

  void finish() {
    while (under_way > 0) bench.files_.step(kBenchStep);
  }

  void go() {
    const ProcessorTime before = bench.processor_();
    const Time start = bench.clock_();
    end = start + std::min(what.duration, kLongestMeasurement);
    last_end = start + std::min(what.duration * kMostExtension, kLongestMeasurement);
    for (std::uint32_t i = 0; i < std::max(what.calls, 1U); ++i) begin(bench.clock_());
    finish();
    if (!error && what.operation == BenchOperation::write) commit();
    measured.elapsed = bench.clock_() - start;
    measured.processor = since(before, bench.processor_());
  }
};

Expected<Measured, FileError> FileBench::measure(const Measurement& what) {
  const TransferLimits limits = files_.limits_of(file_);
  const bool reads = what.operation == BenchOperation::read;
  const std::uint32_t most = reads ? limits.read_bytes : limits.write_bytes;
  if (what.io_bytes < 1 || what.io_bytes > std::min(most, kLargestTransfer))
    return tl::unexpected(
        FileError{FileErrc::too_long,
                  std::to_string(what.io_bytes) + " octets: the server takes at most " +
                      std::to_string(most) + (reads ? " in one READ" : " in one WRITE"),
                  0,
                  {}});
  if (what.copies || what.work_bytes > 0) copy_.resize(kLargestTransfer);
  Run run(*this, what);
  run.go();
  if (run.error) return tl::unexpected(std::move(*run.error));
  return std::move(run.measured);
}

Expected<void, FileError> FileBench::fill() {
  FileWriter writer(files_, file_, {{0, size_}},
                    [this](std::uint64_t offset, MutableView into) {
                      std::ranges::copy(content(offset, into.size()), into.begin());
                      return Expected<void, FileError>();
                    },
                    {.io_bytes = kLargestTransfer});
  while (!writer.done()) writer.step(kBenchStep);
  if (writer.error()) return tl::unexpected(*writer.error());
  return {};
}

Expected<void, FileError> FileBench::compare() {
  FileReader reader(files_, file_, size_,
                    [this](std::uint64_t offset, View data) -> Expected<void, FileError> {
                      if (std::ranges::equal(data, content(offset, data.size()))) return {};
                      return tl::unexpected(FileError{FileErrc::changed,
                                                      "other octets than were written, from " +
                                                          std::to_string(offset) + " to " +
                                                          std::to_string(offset + data.size()),
                                                      0,
                                                      {}});
                    },
                    {.io_bytes = kLargestTransfer});
  while (!reader.done()) reader.step(kBenchStep);
  if (reader.error()) return tl::unexpected(*reader.error());
  if (reader.delivered_bytes() != size_)
    return tl::unexpected(FileError{FileErrc::changed, "the size", 0, {}});
  return {};
}

Expected<Measured, FileError> measure_names(RemoteFiles& files, const NameMeasurement& what,
                                            const DeadlineClock& clock,
                                            const ProcessorClock& processor) {
  const auto found = files.find(what.path, true);
  if (!found) return tl::unexpected(found.error());
  Measured measured;
  const ProcessorTime before = processor();
  const Time start = clock();
  const Time end = start + std::min(what.duration, kLongestMeasurement);
  Time now = start;
  do {
    if (auto done = ask_for_name(files, what, found->handle); !done)
      return tl::unexpected(std::move(done.error()));
    const Time ended = clock();
    ++measured.calls;
    measured.times.add(ended - std::exchange(now, ended));
  } while (now < end);
  measured.elapsed = now - start;
  measured.processor = since(before, processor());
  return measured;
}

}  // namespace steertag::peer
