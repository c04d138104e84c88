// The fabric: RDMA as verbs people know it. A provider gives domains (memory), listeners and
// connections; it has no thread of its own and works only inside `poll`, so an owner is
// single-threaded and deterministic. Every provider reports the same notices and the same events.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "fabric/defect.h"
#include "fabric/region.h"
#include "net/clock.h"
#include "net/error.h"
#include "net/pollable.h"
#include "net/url.h"
#include "support/bytes.h"
#include "support/expected.h"
#include "trace/event.h"

namespace steertag::fabric {

using net::Clock;
using net::Errc;
using net::Error;
using net::parse_url;
using net::sentence;
using net::system_clock;
using net::Url;

/// What a provider can do; cases state what they need of it.
struct Capabilities {
  // A peer's Send with Invalidate closes any open region ...
  bool remote_invalidation = false;
  // ... and those that Connection::open_window has opened. Without either, nothing can be closed by
  // the peer: a connection on which it tries may end.
  bool windows = false;
  bool fault_hooks = false;   // bytes below the message level can be bent
  bool byte_capture = false;  // the real octets of the stream can be seen
  // The peer's RDMA Writes and Reads of our memory, and our Read Responses, are told as events.
  bool sees_remote_operations = false;
  bool sees_reset = false;  // a peer that aborts is told from one that disconnects
  // Who broke a rule is told by the end of the connection; otherwise it may look orderly.
  bool sees_violations = false;
  bool exact_private_data = false;  // otherwise zeros follow what the peer sent
  bool chosen_base = false;         // Domain::allocate takes a base
  bool responder_waits = false;     // nothing leaves before the initiator's first message
  std::size_t largest_send = 0;
  std::size_t largest_private_data = 0;
};

/// Identifies a posted operation to its owner; given back in the notice of its completion.
using WorkId = std::uint64_t;

/// Why a connection ended.
struct CloseReason {
  Errc code = Errc::peer_closed;
  std::string detail;
  std::optional<trace::Terminate> terminate;  // sent or received; see `terminate_from_peer`
  bool terminate_from_peer = false;
};

enum class Operation : std::uint8_t { send, rdma_write, rdma_read };

class Connection;

/// What the owner of a connection is told, always from inside `Provider::poll`. A handler may post
/// operations and disconnect, but must not destroy the connection: give it to `Provider::retire`.
class Handler {
 public:
  virtual ~Handler() = default;
  virtual void on_established(Connection& connection, View private_data) = 0;
  /// The attempt failed or was rejected (then with the peer's private data).
  virtual void on_refused(Connection& connection, const Error& error, View private_data) = 0;
  /// `buffer` is the posted receive, cut to what arrived.
  virtual void on_received(Connection& connection, WorkId id, MutableView buffer,
                           std::optional<std::uint32_t> invalidated) = 0;
  virtual void on_completed(Connection& connection, WorkId id, Operation operation) = 0;
  /// The last notice of an established connection. Posted work does not complete any more.
  virtual void on_closed(Connection& connection, const CloseReason& reason) = 0;
};

/// Parameters of a connection that either side chooses before it is up.
struct ConnectionOptions {
  Bytes private_data;      // consumer's private data, without provider framing
  std::uint16_t ird = 16;  // inbound RDMA Reads we take at a time
  std::uint16_t ord = 16;  // RDMA Reads we issue at a time
  std::chrono::milliseconds startup_timeout{5000};
  std::chrono::milliseconds idle_timeout{0};  // 0: none. Silence in mid-message is always limited.
  bool crc = true;                            // iwarp: ask for CRC32C
  std::uint8_t mpa_revision = 2;              // iwarp: 1, or 2 with S=1
  // iwarp fault hook: sent instead of the MPA request, or instead of the MPA reply by who accepts.
  std::optional<Bytes> raw_startup;
};

/// Bends what one Send, Write or Read puts on the wire (iwarp; Capabilities::fault_hooks).
struct Fault {
  bool bad_crc = false;
  std::optional<std::uint32_t> msn;         // instead of the right message sequence number
  std::optional<std::uint32_t> mo;          // instead of the right message offset
  std::optional<std::uint32_t> qn;          // instead of the right queue number
  std::optional<std::uint8_t> opcode;       // instead of the right RDMAP opcode
  std::optional<std::uint8_t> ddp_version;  // 2 bits
  std::optional<std::uint8_t> rdmap_version;
  std::optional<std::uint16_t> ulpdu_length;  // instead of the right MPA length
  std::optional<std::size_t> cut_after;  // octets of this operation that reach the wire, then close
};

class Connection {
 public:
  virtual ~Connection() = default;

  /// Receives are used in posting order. The buffer must stay until its notice or `on_closed`.
  virtual void post_receive(MutableView buffer, WorkId id) = 0;
  /// Sends the concatenation of `parts` as one message, with Invalidate if `invalidate` is set.
  /// The parts must stay until the completion notice.
  virtual Expected<void, Error> send(std::span<const View> parts, WorkId id,
                                     std::optional<std::uint32_t> invalidate = {},
                                     const Fault* fault = nullptr) = 0;
  /// Writes `from` (which must stay until completion) to the peer's memory.
  virtual Expected<void, Error> rdma_write(View from, std::uint32_t stag, std::uint64_t offset,
                                           WorkId id, const Fault* fault = nullptr) = 0;
  /// Reads `length` octets of the peer's memory into `sink` from `sink_offset` octets after its
  /// base. The sink needs no remote rights: the provider opens it for this operation alone.
  virtual Expected<void, Error> rdma_read(Region& sink, std::uint64_t sink_offset,
                                          std::uint32_t length, std::uint32_t stag,
                                          std::uint64_t offset, WorkId id,
                                          const Fault* fault = nullptr) = 0;
  /// Opens the first `length` octets of a region of this connection's domain again, with a new STag
  /// that the peer's Send with Invalidate closes. Where this takes a memory window of type 2 the
  /// region is open to this connection's peer alone, and is closed at the connection's end. Needs
  /// Capabilities::windows.
  virtual Expected<void, Error> open_window(Region& region, Rights rights, std::size_t length) {
    region.open(rights, length);
    return {};
  }
  /// All of the region.
  Expected<void, Error> open_window(Region& region, Rights rights) {
    return open_window(region, rights, region.bytes().size());
  }
  /// iwarp: octets straight into the stream, after what is queued (fault hook).
  virtual Expected<void, Error> send_raw(View bytes) = 0;
  /// iwarp: sends a Terminate with these values, then closes (fault hook).
  virtual Expected<void, Error> terminate(const trace::Terminate& terminate) = 0;
  /// Orderly end: what is queued still leaves. `on_closed` follows with Errc::local_close.
  virtual void disconnect() = 0;
  /// Hard end: nothing queued leaves, the stream is reset.
  virtual void abort() = 0;

  virtual Domain& domain() = 0;
  virtual trace::Role role() const = 0;
  virtual bool established() const = 0;
  virtual std::string peer_name() const = 0;
  virtual std::size_t unsent_operations() const = 0;
  /// RDMA Reads that may be in flight at a time, as startup has settled it (ORD, RFC 6581 9.1);
  /// further ones wait for their turn. 0: the peer takes none and `rdma_read` will fail with
  /// Errc::unsupported, or the connection has not been established.
  virtual std::uint16_t most_outbound_reads() const = 0;
  /// Octets that RDMA Reads have brought so far, as finely as the provider sees them come: by
  /// segment, or by Read where a device does not tell more.
  virtual std::uint64_t octets_read() const = 0;

  /// Observers see every event (and octet) of this connection from now on. They must outlive it or
  /// be taken off with nullptr. What is told:
  /// - Events of both directions in the order in which this side saw them: an outgoing message when
  ///   it is queued for the socket, an incoming one just before its notice. A message that a Fault
  ///   makes invalid on the wire gives no event of its own.
  /// - Memory of the connection's domain that is remotely open: right after Accept (so what was
  ///   opened earlier is told then), and whenever it is opened or closed later. Every connection of
  ///   a domain is told. Posted receives likewise, each with its size.
  /// - One Disconnect at the end; its actor is the side that ended the connection.
  virtual void observe(trace::EventSink* events, trace::ByteSink* bytes) = 0;

  void set_handler(Handler* handler) { handler_ = handler; }

 protected:
  Handler* handler_ = nullptr;
};

/// A connection request that waits for an answer (private data already seen).
class ConnectionRequest {
 public:
  virtual ~ConnectionRequest() = default;
  virtual View private_data() const = 0;
  virtual std::string peer_name() const = 0;
  /// The connection is established as soon as its startup reply has left; notices go to `handler`.
  /// Observers given here see the Connect event too.
  virtual Expected<std::unique_ptr<Connection>, Error> accept(Domain& domain,
                                                              const ConnectionOptions& options,
                                                              Handler& handler,
                                                              trace::EventSink* events = nullptr,
                                                              trace::ByteSink* bytes = nullptr) = 0;
  virtual void reject(View private_data) = 0;
};

class Listener {
 public:
  virtual ~Listener() = default;
  /// The port really bound (for port 0).
  virtual std::uint16_t port() const = 0;
};

using AcceptCallback = std::function<void(std::unique_ptr<ConnectionRequest>)>;
/// Is told of attempts that end before the owner is asked: what came was no startup request, it
/// came too late or not whole, or the provider has no room for it. `peer` is empty where no peer
/// could be told apart, because the system gives no further descriptors.
using RefusedCallback = std::function<void(const std::string& peer, const Error& error)>;

class Provider : public net::Pollable {
 public:
  virtual Capabilities capabilities() const = 0;
  virtual std::unique_ptr<Domain> make_domain() = 0;
  /// Either callback may destroy the listener.
  virtual Expected<std::unique_ptr<Listener>, Error> listen(const Url& url,
                                                            AcceptCallback on_request,
                                                            RefusedCallback on_refused = {}) = 0;
  /// Starts a connection; the outcome arrives as on_established or on_refused.
  virtual Expected<std::unique_ptr<Connection>, Error> connect(
      const Url& url, Domain& domain, const ConnectionOptions& options, Handler& handler,
      trace::EventSink* events = nullptr, trace::ByteSink* bytes = nullptr) = 0;
  /// Destroys the connection when no handler of it is running.
  virtual void retire(std::unique_ptr<Connection> connection) = 0;
  /// iwarp: connections from now on have these defects.
  virtual void misbehave(Defects /*defects*/) {}
};

/// The source of random steering tags and bases; passed in so that runs can be repeated.
using RandomSource = std::function<std::uint64_t()>;

/// Bounds that a provider sets on what a peer, or a careless owner, can make it keep or await.
struct Limits {
  /// A listener's wait for the whole startup request (ConnectionOptions has the initiator's wait).
  std::chrono::milliseconds startup{5000};
  /// Silence inside an FPDU or between the segments of one message.
  std::chrono::milliseconds mid_message{5000};
  /// Octets to send, and the peer takes none.
  std::chrono::milliseconds unsent{15000};
  /// From our end of the stream to the peer's.
  std::chrono::milliseconds closing{2000};
  /// Posted operations of one connection that have not left; then Errc::queue_full. What a peer may
  /// make its owner post at once must fit: with 32 credits, and chunks of 256 segments (a mebibyte
  /// in pages), 32 calls want 32 x 256 RDMA Reads or Writes and a reply each, 8224 in all. This is
  /// eight times as much. Room is taken only as it is used, and given back.
  std::size_t posted_operations = 65536;
  /// RDMA Reads are outstanding, and no segment of their responses comes. As long as for octets
  /// that the peer does not take: an adapter answers without asking its owner, so only the network
  /// may take its time, and until the end the owner's memory is bound.
  std::chrono::milliseconds unanswered_read{15000};
};

/// The provider that a URL names: "iwarp", or "verbs" (Errc::no_device where there is no RDMA
/// device); Errc::unknown_provider otherwise. `random` is for iwarp's tags: a device chooses its
/// own.
Expected<std::unique_ptr<Provider>, Error> make_provider(std::string_view name, RandomSource random,
                                                         const Limits& limits = {},
                                                         Clock clock = {});
/// A source seeded from the system.
RandomSource system_random();

}  // namespace steertag::fabric
