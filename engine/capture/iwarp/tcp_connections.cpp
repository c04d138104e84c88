// Tracks connections by their ends.
//
// Connections of other protocols are not tracked. A packet of an unknown connection counts only
// with a SYN, a startup frame or a known port.
#include "capture/iwarp/tcp_connections.h"

#include <cstring>
#include <tuple>
#include <utility>

#include "capture/iwarp/tcp_segment.h"
#include "rdma/iwarp/mpa_startup.h"

namespace steertag::capture::iwarp {
namespace {

using rdma::iwarp::StartupKind;

std::string end_text(const IpAddress& address, std::uint16_t port) {
  const std::string text = address.text();
  return (address.is_ipv4() ? text : '[' + text + ']') + ':' + std::to_string(port);
}

bool begins_startup(View octets) {
  return octets.size() >= rdma::iwarp::kStartupKeyBytes &&
         (octets_lacking(StartupKind::request, octets) ||
          octets_lacking(StartupKind::reply, octets));
}

}  // namespace

struct TcpConnections::Entry {
  Entry(const Key& entry_key, ConnectionSinks& sinks, Budget& budget, ConnectionHints hints)
      : key(entry_key), connection(sinks, budget, std::move(hints)) {}
  Key key;
  MpaConnection connection;
  bool recognized = false;  // the list that it is in
  Entries::iterator position;
};

std::size_t TcpConnections::KeyHash::operator()(const Key& key) const {
  // 2^64 divided by the golden ratio: spreads the bits
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  std::uint64_t hash = std::uint64_t{key.ports[0]} << 16 | key.ports[1];
  for (const IpAddress& address : key.addresses) {
    std::array<std::uint64_t, 2> words{};
    std::memcpy(words.data(), address.octets.data(), sizeof words);
    for (const std::uint64_t word : words) {
      hash = (hash ^ word) * kOdd;
      hash ^= hash >> 32;
    }
  }
  return hash;
}

TcpConnections::TcpConnections(ConnectionSinks& sinks, const ReaderOptions& options)
    : sinks_(sinks), ports_(options.ports.begin(), options.ports.end()) {
  ports_.insert(kNfsRdmaPort);
}

TcpConnections::~TcpConnections() = default;

bool TcpConnections::known(std::uint16_t port) const {
  return ports_.contains(port);
}

ConnectionHints TcpConnections::hints_of(const Key& key) const {
  ConnectionHints hints;
  hints.ends = {end_text(key.addresses[0], key.ports[0]), end_text(key.addresses[1], key.ports[1])};
  const std::array<bool, 2> at_known{known(key.ports[0]), known(key.ports[1])};
  hints.known_port = at_known[0] || at_known[1];
  if (at_known[0] != at_known[1]) hints.client = at_known[0] ? Side::b : Side::a;
  return hints;
}

bool TcpConnections::read(const Datagram& datagram) {
  const auto segment = parse_tcp(datagram);
  if (!segment) return false;
  Key key{{datagram.source, datagram.destination},
          {segment->source_port, segment->destination_port}};
  Side from = Side::a;
  if (std::tie(key.addresses[1], key.ports[1]) < std::tie(key.addresses[0], key.ports[0])) {
    std::swap(key.addresses[0], key.addresses[1]);
    std::swap(key.ports[0], key.ports[1]);
    from = Side::b;
  }
  Entry* entry = find(key, from, *segment, datagram.stamp);
  if (entry == nullptr) return false;
  entry->connection.take(from, *segment, datagram.stamp);
  const MpaConnection::State state = entry->connection.state();
  const bool is_iwarp =
      state == MpaConnection::State::recognized || state == MpaConnection::State::over;
  file(*entry, datagram.stamp);
  return is_iwarp;
}

/// Finds or adds the connection of the segment. nullptr if it is of no interest.
TcpConnections::Entry* TcpConnections::find(const Key& key, Side from, const TcpSegment& segment,
                                            const FrameStamp& stamp) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) {
    const bool interesting = (segment.syn && !segment.rst) || begins_startup(segment.octets) ||
                             known(key.ports[0]) || known(key.ports[1]);
    return interesting ? add(key) : nullptr;
  }
  Entry& entry = *found->second;
  if (!entry.connection.replaced_by(from, segment)) return &entry;
  entry.connection.finish(stamp);
  remove(entry);
  return add(key);
}

TcpConnections::Entry* TcpConnections::add(const Key& key) {
  Entry& entry = others_.emplace_front(key, sinks_, budget_, hints_of(key));
  entry.position = others_.begin();
  by_key_[key] = &entry;
  return &entry;
}

/// Moves the entry to the list of its standing, and enforces the limits of the lists.
void TcpConnections::file(Entry& entry, const FrameStamp& stamp) {
  const MpaConnection::State state = entry.connection.state();
  if (state == MpaConnection::State::refused && !known(entry.key.ports[0]) &&
      !known(entry.key.ports[1])) {
    return remove(entry);
  }
  const bool recognized = state == MpaConnection::State::recognized;
  Entries& from = entry.recognized ? recognized_ : others_;
  Entries& to = recognized ? recognized_ : others_;
  entry.recognized = recognized;
  to.splice(to.begin(), from, entry.position);
  if (others_.size() > kMostOthers) remove(others_.back());
  if (recognized_.size() > kMostConnections) {
    recognized_.back().connection.finish(stamp);
    ++forgotten_;
    remove(recognized_.back());
  }
}

void TcpConnections::remove(Entry& entry) {
  by_key_.erase(entry.key);
  (entry.recognized ? recognized_ : others_).erase(entry.position);
}

void TcpConnections::finish() {
  for (Entries* entries : {&recognized_, &others_}) {
    for (Entry& entry : *entries) entry.connection.finish({});
    entries->clear();
  }
  by_key_.clear();
}

}  // namespace steertag::capture::iwarp
