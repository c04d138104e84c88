// The grading of the one capture that is open: reader, grader and what they noted.
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

  /// Takes the next packet. No exception leaves: Wireshark is C. Once memory ran out nothing more
  /// is read, and `stopped_at` says so.
  void read(const capture::Packet& packet) noexcept;
  /// The capture is over: what was held back is told. Later packets are read as if the capture
  /// began with them.
  void finish() noexcept;
  /// The frame at which memory ran out; 0 if it did not.
  std::uint32_t stopped_at() const { return stopped_at_; }
  /// What was found out last was found out by reading this frame.
  bool has_just_read(std::uint32_t frame) const { return latest_ == frame; }
  const Store& store() const { return store_; }

 private:
  Store store_;
  grade::Grader grader_;
  capture::Reader reader_;
  std::uint32_t latest_ = 0;  // frame that was read
  std::uint32_t stopped_at_ = 0;
};

}  // namespace steertag::dissector
