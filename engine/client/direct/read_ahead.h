// Which references a sequential reader asks for before it needs them, and which it needs no more.
#pragma once

#include <cstdint>
#include <optional>

namespace steertag::peer {

/// References that OPEN asks for (4 MiB of the file), and that a sequential reader asks for at
/// once.
inline constexpr std::uint32_t kEagerReferences = 64;
/// So many blocks one after the other are the reads of a sequential reader.
inline constexpr std::uint32_t kSequentialBlocks = 8;
/// References of so many blocks behind a sequential reader are kept: its Reads may be in flight.
inline constexpr std::uint64_t kKeptBehind = 32;

/// Of one open file. Blocks are numbers.
class ReadAhead {
 public:
  /// References of the blocks before this one were asked for.
  void asked(std::uint64_t end) { asked_ = end; }
  /// A read of this block. The first of kEagerReferences blocks to ask for; none: not now.
  std::optional<std::uint64_t> read(std::uint64_t block);
  /// The answer: so many references, of a file with so many blocks. The server may have no room for
  /// more: then the references of blocks before the one that is returned are to go back.
  std::optional<std::uint64_t> granted(std::uint64_t references, std::uint64_t blocks);
  /// There was no answer: not asked again before the reader begins anew.
  void refused();

 private:
  std::uint64_t last_ = 0;
  std::uint32_t run_ = 0;  // blocks one after the other
  std::uint64_t asked_ = 0;
  std::uint64_t end_ = UINT64_MAX;  // of the file
  std::uint64_t given_back_ = 0;    // blocks before this one
  bool asking_ = false;
};

}  // namespace steertag::peer
