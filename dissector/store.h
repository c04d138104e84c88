// The notes on each frame of the open capture, for every later dissection.
//
// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "grade/note.h"

namespace steertag::dissector {

/// Private data has at most 196 octets on InfiniBand and 512 on iWARP. Longer data is truncated.
inline constexpr std::size_t kMostPrivateDataKept = 512;

/// A FindingNote that owns its texts.
struct Finding {
  std::uint64_t connection = 0;
  std::uint64_t frame = 0;
  const ledger::Requirement* requirement = nullptr;
  trace::Role culprit = trace::Role::server;
  std::string rule;
  std::string expected;
  std::string observed;
};

/// An OpeningNote that owns its octets.
struct Opening {
  grade::OpeningNote note;  // its view is invalid
  Bytes private_data;
};

struct Message {
  grade::MessageNote note;
  std::uint64_t answer_frame = 0;  // of a call; 0 before its answer
};

enum class NoteKind : std::uint8_t { opening, message, operation, loss, finding };

/// A note: `index` counts within its kind.
struct Entry {
  NoteKind kind = NoteKind::message;
  bool opens_connection = false;  // the first entry of its connection
  std::uint32_t index = 0;
  std::uint32_t next = 0;   // next entry of the same frame; Store::kNone at the end
  std::uint32_t frame = 0;  // the frame that it is about
};

class Store final : public grade::NoteSink {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  /// `frame` is about to be read for the first time. All notes until the next call come from
  /// reading it, also those about earlier frames.
  void begin(std::uint32_t frame);

  void on_opening(const grade::OpeningNote& note) override;
  void on_message(const grade::MessageNote& note) override;
  void on_operation(const grade::OperationNote& note) override;
  void on_loss(const grade::LossNote& note) override;
  void on_finding(const grade::FindingNote& note) override;

  /// Whether a frame has entries. `late` includes entries about earlier frames that reading the
  /// latest frame added. In a single pass there is no other place to show them.
  bool any(std::uint32_t frame, bool late) const {
    return first(frame) != kNone || (late && !late_.empty());
  }
  /// Calls `show(entry)` for each entry of a frame, oldest first.
  template <class Show>
  void each(std::uint32_t frame, bool late, const Show& show) const {
    for (std::uint32_t at = first(frame); at != kNone; at = entries_[at].next) show(entries_[at]);
    if (!late) return;
    for (const std::uint32_t at : late_) show(entries_[at]);
  }

  const Opening& opening(const Entry& entry) const { return openings_[entry.index]; }
  const Message& message(const Entry& entry) const { return messages_[entry.index]; }
  const grade::OperationNote& operation(const Entry& entry) const {
    return operations_[entry.index];
  }
  /// The file handle of an optimistic Read whose block is known.
  const std::string& handle(const grade::BlockNote& block) const { return handles_[block.file]; }
  const grade::LossNote& loss(const Entry& entry) const { return losses_[entry.index]; }
  const Finding& finding(const Entry& entry) const { return findings_[entry.index]; }
  std::uint64_t connection(const Entry& entry) const;

 private:
  struct Chain {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
  };

  std::uint32_t first(std::uint32_t frame) const {
    return frame < chains_.size() ? chains_[frame].first : kNone;
  }
  void add(NoteKind kind, std::size_t count, std::uint64_t connection, std::uint64_t frame);
  void link_answer(const grade::MessageNote& answer);

  std::uint32_t current_ = 0;
  std::uint64_t connections_ = 0;  // so far
  std::vector<Chain> chains_;      // by frame number
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> late_;  // entries about earlier frames, from reading current_
  std::vector<Opening> openings_;
  std::vector<Message> messages_;
  std::vector<grade::OperationNote> operations_;
  std::vector<std::string> handles_;  // of files, by number
  std::vector<grade::LossNote> losses_;
  std::vector<Finding> findings_;
};

}  // namespace steertag::dissector
