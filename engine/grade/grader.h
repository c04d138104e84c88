// Puts a judge on each connection of a capture and keeps the report.
#pragma once

#include <memory>
#include <unordered_map>

#include "capture/connection.h"
#include "grade/note.h"
#include "grade/report.h"

namespace steertag::grade {

class GradedConnection;

/// Connections judged at a time; a judge without calls takes some 8 KiB. Readers keep fewer.
inline constexpr std::size_t kMostConnectionsOpen = 8192;

/// Hand it to a capture::Reader; the report is whole after Reader::finish.
class Grader final : public capture::ConnectionSinks {
 public:
  /// `notes`, if there is one, must outlive the grader.
  explicit Grader(NoteSink* notes = nullptr);
  ~Grader() override;
  Grader(const Grader&) = delete;
  Grader& operator=(const Grader&) = delete;

  capture::ConnectionSink& open(const capture::Place& place,
                                const capture::ConnectionName& name) override;
  const Report& report() const { return report_; }

 private:
  friend class GradedConnection;
  struct Refused;

  void keep(const FindingNote& note);
  void count_dropped(std::size_t count) { report_.findings_in_all += count; }
  void close(GradedConnection& connection);

  NoteSink* notes_;
  Report report_;
  std::unordered_map<std::uint64_t, std::unique_ptr<GradedConnection>> open_;  // by number
  std::unique_ptr<GradedConnection> closed_;  // the latest: it may still be on the stack
  std::unique_ptr<Refused> refused_;
};

}  // namespace steertag::grade
