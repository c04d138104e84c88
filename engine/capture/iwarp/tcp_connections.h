// All TCP connections of a capture: detects iWARP and reports its events.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <unordered_set>

#include "capture/connection.h"
#include "capture/datagram.h"
#include "capture/iwarp/budget.h"
#include "capture/iwarp/mpa_connection.h"
#include "capture/reader.h"

namespace steertag::capture::iwarp {

/// At most this many iWARP connections; beyond that the longest idle one is ended.
inline constexpr std::size_t kMostConnections = 1024;
/// At most this many connections that may be iWARP, or that ended and may still send duplicates.
inline constexpr std::size_t kMostOthers = 4096;

class TcpConnections {
 public:
  TcpConnections(ConnectionSinks& sinks, const ReaderOptions& options);
  ~TcpConnections();
  TcpConnections(const TcpConnections&) = delete;
  TcpConnections& operator=(const TcpConnections&) = delete;

  /// Returns whether the datagram belongs to a connection that is, or was, iWARP.
  bool read(const Datagram& datagram);
  /// The capture ends.
  void finish();
  /// iWARP connections that the limit kMostConnections ended.
  std::uint64_t forgotten() const { return forgotten_; }

 private:
  /// Both ends; the lesser one is side a.
  struct Key {
    std::array<IpAddress, 2> addresses;
    std::array<std::uint16_t, 2> ports{};
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };
  struct Entry;
  using Entries = std::list<Entry>;  // most recently active first

  Entry* find(const Key& key, Side from, const TcpSegment& segment, const FrameStamp& stamp);
  Entry* add(const Key& key);
  void file(Entry& entry, const FrameStamp& stamp);
  void remove(Entry& entry);
  ConnectionHints hints_of(const Key& key) const;
  bool known(std::uint16_t port) const;

  ConnectionSinks& sinks_;
  std::unordered_set<std::uint16_t> ports_;  // ports of NFS/RDMA; looked up for each packet
  Budget budget_;                            // must outlive the connections
  Entries recognized_;
  Entries others_;
  std::unordered_map<Key, Entry*, KeyHash> by_key_;
  std::uint64_t forgotten_ = 0;
};

}  // namespace steertag::capture::iwarp
