// Judges each connection of a capture and writes the report.
#pragma once

#include <memory>
#include <unordered_map>

#include "capture/connection.h"
#include "conformance/direct/direct_access.h"
#include "conformance/pnfs/layouts.h"
#include "grade/note.h"
#include "grade/profile.h"
#include "grade/report.h"

namespace steertag::grade {

class GradedConnection;

/// At most this many connections are judged at a time. A judge without calls takes about 8 KiB.
/// Readers keep fewer connections.
inline constexpr std::size_t kMostConnectionsOpen = 8192;

/// At most this much memory for the outstanding calls of all connections: some thousand of the
/// largest calls, or a hundred thousand typical ones. Beyond it the largest connection drops its
/// history, as after a loss.
inline constexpr std::size_t kMostKeptBytesInAll = std::size_t{64} << 20;

/// Pass it to a capture::Reader. The report is complete after Reader::finish.
class Grader final : public capture::ConnectionSinks {
 public:
  /// `notes` may be nullptr. Otherwise it must outlive the grader.
  explicit Grader(NoteSink* notes = nullptr, Profile profile = Profile::rfc8166);
  ~Grader() override;
  Grader(const Grader&) = delete;
  Grader& operator=(const Grader&) = delete;

  capture::ConnectionSink& open(const capture::FrameStamp& stamp,
                                const capture::ConnectionName& name) override;
  /// Sets the packet that is read next; 0 for the capture's end.
  void reading(std::uint64_t frame) { reading_ = frame; }
  /// Adds to the report what it has of no single connection. Call it at the capture's end.
  void finish();
  const Report& report() const { return report_; }
  std::size_t kept_bytes() const { return kept_bytes_; }

 private:
  friend class GradedConnection;
  struct Refused;

  void account(std::size_t before, std::size_t after);
  void keep(const FindingNote& note);
  void count_message() { ++report_.messages_judged; }
  void count(const FindingNote& note);
  void count_lost(std::size_t findings) { report_.findings_in_all += findings; }
  void close(GradedConnection& connection);

  NoteSink* notes_;
  Profile profile_;
  std::uint64_t reading_ = 0;
  std::size_t kept_bytes_ = 0;  // by the judges of all open connections
  Report report_;
  conformance::DirectAccess direct_;                                           // of all connections
  conformance::Layouts layouts_;                                               // the same
  std::unordered_map<std::uint64_t, std::unique_ptr<GradedConnection>> open_;  // by number
  // the latest one, which may still be on the call stack
  std::unique_ptr<GradedConnection> closed_;
  std::unique_ptr<Refused> refused_;
};

}  // namespace steertag::grade
