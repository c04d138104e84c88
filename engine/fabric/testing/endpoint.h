// Test helpers: a handler and a sink that record, and a pair of connected endpoints.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "fabric/fabric.h"
#include "trace/datagram_capture.h"

namespace steertag::fabric::testing {

/// Octets 0, 1, 2 ... from `first` on.
Bytes pattern(std::size_t length, std::uint8_t first = 0);
Bytes octets(std::string_view text);
/// The octets of hexadecimal digits; blanks are skipped.
Bytes hex(std::string_view digits);

struct Received {
  WorkId id = 0;
  Bytes bytes;
  std::optional<std::uint32_t> invalidated;
};
struct Completed {
  WorkId id = 0;
  Operation operation = Operation::send;
};

struct RefusedRead {
  WorkId id = 0;
  trace::Terminate cause;
  std::size_t behind = 0;  // completed operations
};

/// Records the notifications of a connection's owner.
class Notices final : public Handler {
 public:
  void on_established(Connection& connection, View private_data) override;
  void on_refused(Connection& connection, const Error& error, View private_data) override;
  void on_received(Connection& connection, WorkId id, MutableView buffer,
                   std::optional<std::uint32_t> invalidated) override;
  void on_completed(Connection& connection, WorkId id, Operation operation) override;
  void on_read_refused(Connection& connection, WorkId id, const trace::Terminate& cause) override;
  void on_closed(Connection& connection, const CloseReason& reason) override;

  bool established = false;
  Bytes peer_private_data;
  std::optional<Error> refused;
  std::vector<Received> received;
  std::vector<Completed> completed;
  std::vector<RefusedRead> refused_reads;
  std::optional<CloseReason> closed;
  std::function<void(Connection&, const Received&)> when_received;
  bool over() const { return closed || refused; }
};

/// Keeps events as lines: "client Send 5", "server Terminate 1/2/2".
class EventLines final : public trace::EventSink {
 public:
  void on_event(const trace::Event& event) override;
  std::vector<std::string> lines;
  Bytes written;  // by RDMA Writes, in order
  std::uint64_t next_index = 0;
};

/// Keeps the octets, or the datagrams, of both directions.
class ByteLog final : public trace::ByteSink {
 public:
  void on_bytes(std::int64_t time_ns, trace::Role sender, View bytes) override;
  void on_end(std::int64_t time_ns, trace::Role sender, bool clean) override;
  void on_datagram(std::int64_t time_ns, const trace::Datagram& datagram) override {
    datagrams.on_datagram(time_ns, datagram);
  }
  trace::DatagramCapture datagrams;
  Bytes from_client;
  Bytes from_server;
  std::vector<std::string> ends;
};

/// How the tests get a provider, so that every provider runs the same suite.
struct Factory {
  std::string name;  // of the provider and its URL scheme
  std::string host;  // the address to listen on and connect to
  std::function<std::unique_ptr<Provider>(const Limits&, Clock)> make;
  /// Another address to listen on, if one has room for one provider only.
  std::function<std::string()> another_host{};
  /// The network loses packets: a mebibyte takes seconds.
  bool loses = false;
};
inline void PrintTo(const Factory& factory, std::ostream* out) {
  *out << factory.name;
}
Factory iwarp_factory();
/// The roce provider, on addresses of 127/8 that no other process of these tests takes.
Factory roce_factory();
/// The verbs provider, on the address of an RDMA device.
Factory verbs_factory(std::string host);
/// The factory of that name if this run tests it (see provider_suite.h); otherwise nothing.
std::vector<Factory> if_chosen(std::string_view name);

/// Polls the provider until `done`, at most kPatience, or the seconds of STEERTAG_PATIENCE_S on a
/// slow network. Returns the result of `done`.
inline constexpr std::chrono::seconds kPatience{20};
bool poll_until(Provider& provider, const std::function<bool()>& done);

/// One provider in both roles, connected to itself.
class Pair {
 public:
  explicit Pair(const Factory& factory, const Limits& limits = {}, Clock clock = {});
  ~Pair();

  /// Refused attempts, as reported to the listening side.
  struct Refusal {
    std::string peer;
    Error error;
  };
  std::vector<Refusal> refusals;
  /// The listening side's reaction to a request; by default it accepts.
  std::function<void(std::unique_ptr<ConnectionRequest>)> answer;
  ConnectionOptions client_options;
  ConnectionOptions server_options;

  /// Starts the client and polls until both sides have a result.
  void connect();
  /// Posts `count` receives of `size` octets on both sides, ids from 0.
  void post_receives(std::size_t count, std::size_t size);
  bool poll_until(const std::function<bool()>& done) {
    return testing::poll_until(*provider, done);
  }
  /// Both sides were notified of the end.
  bool poll_until_closed();
  /// How far both sides are, for the message of a failure.
  std::string progress() const;
  /// Drops one side's connection and its notifications, so that another can be made.
  void drop_client();
  void drop_server();
  std::string url() const;

  Factory factory;
  std::unique_ptr<Provider> provider;
  std::unique_ptr<Domain> client_domain;
  std::unique_ptr<Domain> server_domain;
  std::unique_ptr<Domain> other_domain;  // of the server; no connection uses it
  Notices client_notices;
  Notices server_notices;
  EventLines client_events;
  EventLines server_events;
  ByteLog client_bytes;
  ByteLog server_bytes;
  std::unique_ptr<Listener> listener;
  std::unique_ptr<Connection> client;
  std::unique_ptr<Connection> server;
  std::vector<std::unique_ptr<Bytes>> buffers;
};

}  // namespace steertag::fabric::testing
