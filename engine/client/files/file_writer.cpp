// Writes under way, their verifiers, and commits.
#include "client/files/file_writer.h"

#include <algorithm>

namespace steertag::peer {

struct FileWriter::State : std::enable_shared_from_this<FileWriter::State> {
  /// A place in the list of extents.
  struct Cursor {
    std::size_t extent = 0;
    std::uint64_t done = 0;  // octets of it
  };
  /// The octets of one WRITE; what the server did not take is written by another.
  struct Block {
    std::uint64_t offset = 0;
    Bytes data;
    std::size_t taken = 0;
  };
  using BlockRef = std::shared_ptr<Block>;

  State(RemoteFiles& its_files, RemoteFile its_file, std::vector<Extent> its_extents,
        FileSource its_source, const TransferWish& its_wish)
      : files(its_files),
        file(its_file),
        extents(std::move(its_extents)),
        source(std::move(its_source)),
        wish(its_wish) {}

  TransferLimits limits() const { return limited(files.limits_of(file), wish); }

  void fill();
  bool may_write() const;
  bool at_end() const { return next.extent == extents.size(); }
  BlockRef take_block();
  void write(const BlockRef& block);
  void take(const BlockRef& block, const Expected<WriteOutcome, FileError>& outcome);
  void note(const WriteOutcome& outcome);
  void commit();
  void take_commit(const Expected<WriteVerifier, FileError>& outcome);
  void write_again();
  void fail(FileError why);

  RemoteFiles& files;
  RemoteFile file;
  std::vector<Extent> extents;
  FileSource source;
  TransferWish wish;
  Cursor next;                     // what is to be written
  Cursor safe;                     // what is on stable storage
  std::uint64_t safe_bytes = 0;    // octets before `safe`
  std::uint64_t since_commit = 0;  // octets that were begun since
  std::uint64_t written = 0;       // octets that the server has taken since
  bool unstable = false;           // of these some need a COMMIT
  std::optional<WriteVerifier> verifier;
  bool changed = false;  // replies since the last COMMIT had several verifiers
  bool committing = false;
  bool finished = false;
  std::uint32_t rewrites = 0;  // in a row
  std::uint32_t all_rewrites = 0;
  std::uint32_t in_flight = 0;  // WRITEs
  std::uint32_t most_in_flight = 0;
  std::size_t in_flight_bytes = 0;
  std::vector<BlockRef> spare;
  std::optional<FileError> error;
};

bool FileWriter::State::may_write() const {
  if (error || finished || committing || at_end() || since_commit >= kCommitBytes) return false;
  if (in_flight == 0) return true;
  const TransferLimits most = limits();
  return in_flight < most.calls &&
         in_flight_bytes + most.write_bytes <= std::min(kWriteAheadBytes, most.transfer_bytes);
}

void FileWriter::State::fill() {
  while (may_write()) {
    const BlockRef block = take_block();
    if (!block) return;
    write(block);
  }
  const bool pause = at_end() || since_commit >= kCommitBytes;
  if (!error && !finished && !committing && in_flight == 0 && pause) commit();
}

FileWriter::State::BlockRef FileWriter::State::take_block() {
  BlockRef block = spare.empty() ? std::make_shared<Block>() : std::move(spare.back());
  if (!spare.empty()) spare.pop_back();
  const Extent& extent = extents[next.extent];
  const std::uint64_t left = extent.length - next.done;
  block->offset = extent.offset + next.done;
  block->taken = 0;
  block->data.resize(std::min<std::uint64_t>(left, limits().write_bytes));
  if (auto given = source(block->offset, block->data); !given) {
    fail(std::move(given.error()));
    return nullptr;
  }
  next.done += block->data.size();
  since_commit += block->data.size();
  if (next.done == extent.length) next = {next.extent + 1, 0};
  return block;
}

void FileWriter::State::write(const BlockRef& block) {
  ++in_flight;
  most_in_flight = std::max(most_in_flight, in_flight);
  const View data = View(block->data).subspan(block->taken);
  in_flight_bytes += data.size();
  files.write(file, block->offset + block->taken, data, Stability::unstable,
              [state = shared_from_this(), block,
               size = data.size()](const Expected<WriteOutcome, FileError>& outcome) {
                --state->in_flight;
                state->in_flight_bytes -= size;
                state->take(block, outcome);
              });
}

void FileWriter::State::take(const BlockRef& block,
                             const Expected<WriteOutcome, FileError>& outcome) {
  if (error) return;
  if (!outcome) return fail(outcome.error());
  const std::size_t left = block->data.size() - block->taken;
  if (outcome->count == 0 || outcome->count > left)
    return fail(
        {FileErrc::bad_results,
         "WRITE: count is " + std::to_string(outcome->count) + " of " + std::to_string(left),
         0,
         {}});
  note(*outcome);
  block->taken += outcome->count;
  written += outcome->count;
  if (block->taken < block->data.size()) {
    write(block);
  } else {
    spare.push_back(block);
  }
  fill();
}

void FileWriter::State::note(const WriteOutcome& outcome) {
  // RFC 8881 18.32.3: another verifier means that the server may have lost what was unstable.
  if (verifier && *verifier != outcome.verifier) changed = true;
  verifier = outcome.verifier;
  if (!outcome.stable) unstable = true;
}

void FileWriter::State::commit() {
  if (changed) return write_again();
  if (!unstable) return take_commit(verifier.value_or(0));
  committing = true;
  files.commit(file,
               [state = shared_from_this()](const Expected<WriteVerifier, FileError>& outcome) {
                 state->committing = false;
                 if (!state->error) state->take_commit(outcome);
               });
}

void FileWriter::State::take_commit(const Expected<WriteVerifier, FileError>& outcome) {
  if (!outcome) return fail(outcome.error());
  if (unstable && verifier && *outcome != *verifier) return write_again();
  safe = next;
  safe_bytes += written;
  since_commit = written = 0;
  rewrites = 0;
  unstable = false;
  verifier.reset();
  finished = at_end();
  fill();
}

void FileWriter::State::write_again() {
  if (++rewrites > kMostRewrites)
    return fail({FileErrc::state_lost, "the write verifier changes all the time", 0, {}});
  ++all_rewrites;
  next = safe;
  since_commit = written = 0;
  unstable = changed = false;
  verifier.reset();
  fill();
}

void FileWriter::State::fail(FileError why) {
  if (!error) error = std::move(why);
}

FileWriter::FileWriter(RemoteFiles& files, RemoteFile file, std::vector<Extent> extents,
                       FileSource source, const TransferWish& wish)
    : files_(files) {
  std::erase_if(extents, [](const Extent& extent) { return extent.length == 0; });
  state_ = std::make_shared<State>(files, file, std::move(extents), std::move(source), wish);
}

FileWriter::~FileWriter() {
  state_->fail(
      {FileErrc::call_failed, "the writer was destroyed before it had written all data", 0, {}});
}

void FileWriter::step(std::chrono::milliseconds timeout) {
  state_->fill();
  if (!done()) files_.step(timeout);
}

bool FileWriter::done() const {
  const State& state = *state_;
  return state.in_flight == 0 && !state.committing && (state.error || state.finished);
}

const std::optional<FileError>& FileWriter::error() const {
  return state_->error;
}

std::uint64_t FileWriter::written_bytes() const {
  return state_->safe_bytes + state_->written;
}

std::uint32_t FileWriter::rewrites() const {
  return state_->all_rewrites;
}

std::uint32_t FileWriter::most_in_flight() const {
  return state_->most_in_flight;
}

}  // namespace steertag::peer
