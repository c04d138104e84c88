// Fuzzes the record reassembler: the way a stream is cut into pieces changes nothing.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "rpc/record.h"

using namespace steertag;

namespace {

constexpr std::size_t kRecordLimit = 4096;

struct Outcome {
  std::vector<Bytes> records;
  wire::Fault fault;
};

Outcome read(View stream, std::size_t piece) {
  Outcome outcome;
  rpc::RecordReader reader(kRecordLimit);
  while (!stream.empty()) {
    const auto taken = reader.take(stream.first(std::min(piece, stream.size())));
    if (!taken) {
      outcome.fault = taken.error();
      return outcome;
    }
    stream = stream.subspan(*taken);
    if (!reader.complete()) continue;
    if (reader.record().size() > kRecordLimit) std::abort();
    outcome.records.emplace_back(reader.record().begin(), reader.record().end());
    reader.next();
  }
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const View input(reinterpret_cast<const std::byte*>(data), size);
  const std::size_t piece = 1 + std::to_integer<std::size_t>(input[0]);
  const View stream = input.subspan(1);
  const Outcome whole = read(stream, size);
  const Outcome pieces = read(stream, piece);
  if (whole.records != pieces.records || whole.fault.code != pieces.fault.code ||
      whole.fault.offset != pieces.fault.offset) {
    std::abort();
  }
  return 0;
}
