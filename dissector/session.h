// The grading session of the open capture: reader, grader and their notes.
//
// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "capture/reader.h"
#include "dissector/store.h"
#include "grade/grader.h"

namespace steertag::dissector {

class Session {
 public:
  Session(const capture::ReaderOptions& options, grade::Profile profile)
      : grader_(&store_, profile), reader_(grader_, options) {}

  /// Reads the next packet. No exception leaves, since Wireshark is C. After memory ran out the
  /// session reads nothing more, and `stopped_at` is set.
  void read(const capture::Packet& packet) noexcept;
  /// The capture ends: queued events are reported. Later packets start a new capture.
  void finish() noexcept;
  /// The frame at which memory ran out; 0 if it did not.
  std::uint32_t stopped_at() const { return stopped_at_; }
  /// Whether the latest notes were made by reading this frame.
  bool has_just_read(std::uint32_t frame) const { return latest_ == frame; }
  const Store& store() const { return store_; }

 private:
  Store store_;
  grade::Grader grader_;
  capture::Reader reader_;
  std::uint32_t latest_ = 0;  // the frame that was read
  std::uint32_t stopped_at_ = 0;
};

}  // namespace steertag::dissector
