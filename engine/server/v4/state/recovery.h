// The clients that may reclaim state after a restart of the server, and the grace period for it.
// RFC 7530 9.6.2, RFC 8881 8.4.2.
#pragma once

#include <chrono>
#include <set>
#include <span>
#include <string>

#include "server/v4/state/records.h"

namespace steertag::peer {

/// The file has one line a client: its minor version, a blank and the octets of its owner in hex.
/// It is written to a second file first, which then takes its name, so that a crash leaves the old
/// or the new one.
class Recovery {
 public:
  /// Whether a server writes such a line.
  static bool is_line(std::string_view line);

  /// Reads the file; grace lasts until `now` + `grace` if it names a client. No path: no grace.
  Recovery(std::string path, TimePoint now, std::chrono::seconds grace);

  /// Whether reclaims are granted and everything else waits.
  bool in_grace() const { return in_grace_; }
  /// The client had state when the server went down.
  bool may_reclaim(const Client& client) const;
  /// The client has all that it wants back: the period ends with the last one's word.
  void complete(const Client& client);
  /// While held, no client's word ends the period, but time does.
  void hold(bool held);
  /// Ends the period when its time has passed. What was not reclaimed is lost then.
  void check(TimePoint now);

  /// Makes sure that the file names the client; call it before the client's first state is granted.
  /// False when the file cannot be written: nothing may be granted that a restart would lose.
  bool record(Client& client);
  /// The clients have no state any more.
  void forget(std::span<Client* const> clients);

 private:
  bool write() const;
  void end_grace();

  std::string path_;
  bool in_grace_ = false;
  bool held_ = false;
  TimePoint ends_{};
  std::set<std::string> former_;   // of the file as the server found it
  std::set<std::string> waiting_;  // of these, who has not completed
  std::set<std::string> present_;  // who has state now
};

}  // namespace steertag::peer
