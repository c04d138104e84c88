// Read-ahead.
#include "client/files/file_reader.h"

#include <algorithm>

namespace steertag::peer {

struct FileReader::State : std::enable_shared_from_this<FileReader::State> {
  /// One stretch of the file that was asked for at once; the next follows where it ends.
  struct Piece {
    std::uint64_t offset = 0;
    std::uint32_t length = 0;
    std::uint32_t got = 0;  // octets that came, delivered or kept
    Bytes kept;             // those that came before it was their turn
    bool whole = false;     // nothing more comes
  };
  using PieceRef = std::shared_ptr<Piece>;

  State(RemoteFiles& its_files, RemoteFile its_file, std::uint64_t its_size, FileSink its_sink,
        const TransferWish& its_wish)
      : files(its_files),
        file(its_file),
        size(its_size),
        sink(std::move(its_sink)),
        wish(its_wish),
        read_bytes(limits().read_bytes) {}

  TransferLimits limits() const { return limited(files.limits_of(file), wish); }

  void fill();
  bool may_ask() const;
  void ask(const PieceRef& piece);
  void take(const PieceRef& piece, const Expected<ReadOutcome, FileError>& outcome);
  void take_data(Piece& piece, View data);
  void deliver(View data);
  void deliver_kept();
  void fail(FileError why);

  RemoteFiles& files;
  RemoteFile file;
  std::uint64_t size;
  FileSink sink;
  TransferWish wish;
  std::uint32_t read_bytes;     // of one READ
  std::deque<PieceRef> pieces;  // in order; the first holds the place of delivery
  std::uint64_t next = 0;       // where the next piece starts
  std::uint64_t delivered = 0;  // octets
  std::uint32_t in_flight = 0;  // READs
  std::uint32_t most_in_flight = 0;
  std::optional<std::uint64_t> end;  // where a READ has seen the end
  std::optional<FileError> error;
};

bool FileReader::State::may_ask() const {
  if (error || end || in_flight >= std::max(limits().calls, 1U)) return false;
  if (pieces.empty()) return true;
  // Beyond the known size one READ is enough to see the end.
  const std::size_t window = std::min(kReadAheadBytes, limits().transfer_bytes);
  return next < size && next + read_bytes - delivered <= window;
}

void FileReader::State::fill() {
  while (may_ask()) {
    auto piece = std::make_shared<Piece>();
    piece->offset = next;
    piece->length = read_bytes;
    // A READ beyond the size is not divided: one that ends there tells eof.
    if (next < size) {
      const std::uint64_t left = size - next;
      piece->length = static_cast<std::uint32_t>(std::min<std::uint64_t>(read_bytes, left));
    }
    next += piece->length;
    pieces.push_back(piece);
    ask(piece);
  }
}

void FileReader::State::ask(const PieceRef& piece) {
  ++in_flight;
  most_in_flight = std::max(most_in_flight, in_flight);
  files.read(file, piece->offset + piece->got, piece->length - piece->got,
             [state = shared_from_this(), piece](const Expected<ReadOutcome, FileError>& outcome) {
               --state->in_flight;
               state->take(piece, outcome);
             });
}

void FileReader::State::take(const PieceRef& piece,
                             const Expected<ReadOutcome, FileError>& outcome) {
  if (error) return;
  if (!outcome) return fail(outcome.error());
  const View data = outcome->data;
  if (data.empty() && !outcome->eof)
    return fail({FileErrc::bad_results, "READ: no octets, and no end of the file", 0, {}});
  if (end && piece->offset + piece->got >= *end && !data.empty())
    return fail({FileErrc::changed, "READ: octets behind the end of the file", 0, {}});
  take_data(*piece, data);
  if (error) return;
  if (outcome->eof) {
    end = std::min(end.value_or(UINT64_MAX), piece->offset + piece->got);
    piece->whole = true;
  } else if (piece->got == piece->length) {
    piece->whole = true;
  } else {
    // The server gives less than was asked for: it would again, so ask for less.
    const auto given = static_cast<std::uint32_t>(data.size());
    read_bytes = std::clamp(given, std::min(kSmallestRead, read_bytes), read_bytes);
    ask(piece);
  }
  deliver_kept();
  fill();
}

void FileReader::State::take_data(Piece& piece, View data) {
  const bool its_turn = &piece == pieces.front().get() && piece.kept.empty();
  piece.got += static_cast<std::uint32_t>(data.size());
  if (its_turn) return deliver(data);
  piece.kept.insert(piece.kept.end(), data.begin(), data.end());
}

void FileReader::State::deliver(View data) {
  if (data.empty()) return;
  if (auto taken = sink(delivered, data); !taken) return fail(std::move(taken.error()));
  delivered += data.size();
}

void FileReader::State::deliver_kept() {
  while (!pieces.empty() && !error) {
    Piece& first = *pieces.front();
    deliver(first.kept);
    first.kept.clear();
    if (!first.whole) return;
    if (end && first.got > 0 && first.offset + first.got > *end)
      return fail({FileErrc::changed, "READ: octets behind the end of the file", 0, {}});
    pieces.pop_front();
  }
}

void FileReader::State::fail(FileError why) {
  if (!error) error = std::move(why);
}

FileReader::FileReader(RemoteFiles& files, RemoteFile file, std::uint64_t size, FileSink sink,
                       const TransferWish& wish)
    : files_(files), state_(std::make_shared<State>(files, file, size, std::move(sink), wish)) {}

FileReader::~FileReader() {
  state_->fail({FileErrc::call_failed, "the reader was destroyed before it had all data", 0, {}});
}

void FileReader::step(std::chrono::milliseconds timeout) {
  state_->fill();
  if (!done()) files_.step(timeout);
}

bool FileReader::done() const {
  const State& state = *state_;
  return state.in_flight == 0 && (state.error || (state.end && state.pieces.empty()));
}

const std::optional<FileError>& FileReader::error() const {
  return state_->error;
}

std::uint64_t FileReader::delivered_bytes() const {
  return state_->delivered;
}

std::uint32_t FileReader::most_in_flight() const {
  return state_->most_in_flight;
}

}  // namespace steertag::peer
