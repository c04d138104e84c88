// Puts a judge on each connection of a capture and keeps the report.
#pragma once

#include <memory>
#include <unordered_map>

#include "capture/connection.h"
#include "grade/note.h"
#include "grade/profile.h"
#include "grade/report.h"

namespace steertag::grade {

class GradedConnection;

/// Connections judged at a time; a judge without calls takes some 8 KiB. Readers keep fewer.
inline constexpr std::size_t kMostConnectionsOpen = 8192;

/// What the calls that wait for answers may take, of all connections together: some thousand calls
/// of the largest, or a hundred thousand of those in use. Beyond it the connection that takes most
/// loses its past, as if the capture had lost it.
inline constexpr std::size_t kMostKeptBytesInAll = std::size_t{64} << 20;

/// Hand it to a capture::Reader; the report is whole after Reader::finish.
class Grader final : public capture::ConnectionSinks {
 public:
  /// `notes`, if there is one, must outlive the grader.
  explicit Grader(NoteSink* notes = nullptr, Profile profile = Profile::rfc8166);
  ~Grader() override;
  Grader(const Grader&) = delete;
  Grader& operator=(const Grader&) = delete;

  capture::ConnectionSink& open(const capture::Place& place,
                                const capture::ConnectionName& name) override;
  /// The packet that is read next; 0 for the capture's end.
  void reading(std::uint64_t frame) { reading_ = frame; }
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
  std::size_t kept_bytes_ = 0;  // by the judges of all that are open
  Report report_;
  std::unordered_map<std::uint64_t, std::unique_ptr<GradedConnection>> open_;  // by number
  std::unique_ptr<GradedConnection> closed_;  // the latest: it may still be on the stack
  std::unique_ptr<Refused> refused_;
};

}  // namespace steertag::grade
