// Memory for records over TCP that have not arrived completely, and the records that wait for it.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "net/source.h"
#include "server/stream/limits.h"

namespace steertag::peer {

class StreamConnection;

/// It is taken for octets that have arrived, because a length costs nothing to announce. Room for
/// one of the largest records is set aside, so that what was begun can always end. It goes to one
/// record at a time, whatever the others hold.
///
/// Each source has a part of the rest, see kRecordParts. Sources take turns, and the records of one
/// keep their order. A record that waits for its source's part lets other sources pass. One that
/// waits for the memory of all does not, so that small records cannot pass a large one for ever.
class RecordBudget {
 public:
  /// Whose record it is.
  struct Owner {
    StreamConnection* connection;
    net::Source source;
    bool proven;  // has delivered a whole record before
  };
  /// For the record of a connection that waited: `octets`, or all that it may need of what is set
  /// aside.
  struct Grant {
    StreamConnection* connection;
    std::size_t octets;
    bool is_set_aside;
  };

  /// `budget_bytes` is at least kLargestStreamRecord.
  explicit RecordBudget(std::size_t budget_bytes)
      : shared_bytes_(budget_bytes - kLargestStreamRecord) {}

  /// Takes `octets` more for a record. If there are none, the connection waits for a Grant.
  bool take(const Owner& owner, std::size_t octets);
  void give_back(const net::Source& source, std::size_t octets);
  void give_back_set_aside() { set_aside_taken_ = false; }
  /// The next that need not wait any more, which has what it waited for.
  std::optional<Grant> next();
  /// The connection waits no more.
  void forget(const StreamConnection& connection);

  bool has_waiting() const { return !turns_.empty(); }
  /// Whether a record waits for memory that records of this source hold.
  bool is_wanted_from(const net::Source& source) const;

 private:
  struct Record {
    StreamConnection* connection;
    std::size_t octets;
  };
  struct Turn {
    net::Source source;
    bool proven;
    std::deque<Record> records;  // never empty
  };

  bool is_within_part(const net::Source& source, bool proven, std::size_t octets) const;
  bool has_room(std::size_t octets) const { return octets <= shared_bytes_ - taken_bytes_; }
  void add(const net::Source& source, std::size_t octets);
  Record take_first();

  std::size_t shared_bytes_;
  std::size_t taken_bytes_ = 0;
  std::map<net::Source, std::size_t> taken_of_;  // none is 0
  std::deque<Turn> turns_;                       // in their order
  bool set_aside_taken_ = false;
  bool is_short_ = false;  // a record waits for the memory of all
};

}  // namespace steertag::peer
