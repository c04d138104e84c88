// The fabric: RDMA in the terms of verbs.
//
// A provider makes domains (memory), listeners and connections. It has no thread of its own and
// works only inside `poll`, so its owner is single-threaded and deterministic. Every provider gives
// the same notifications and the same events.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "fabric/iwarp/policy.h"
#include "fabric/receive_queue.h"
#include "fabric/region.h"
#include "fabric/roce/packets/bent_packet.h"
#include "fabric/roce/packets/limits.h"
#include "fabric/roce/packets/policy.h"
#include "net/clock.h"
#include "net/error.h"
#include "net/pollable.h"
#include "net/source_quota.h"
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

/// The abilities of a provider; cases state which they need.
struct Capabilities {
  // A peer's Send with Invalidate closes any open region ...
  bool remote_invalidation = false;
  // ... and regions that Connection::open_window opened. Without either, the peer cannot close a
  // region, and an attempt may end the connection.
  bool windows = false;
  // What open_window opened is open when it returns. Otherwise it is once a later Send of the same
  // connection has arrived.
  bool windows_at_once = false;
  bool fault_hooks = false;   // octets of MPA, DDP and RDMAP can be altered
  bool bent_packets = false;  // packets of InfiniBand's transport can be altered
  bool byte_capture = false;  // the real octets of the stream can be seen
  // The peer's RDMA Writes and Reads of our memory, and our Read Responses, give events.
  bool sees_remote_operations = false;
  bool sees_reset = false;  // a peer's abort differs from its disconnect
  // The end of a connection shows who broke a rule. Otherwise it may look orderly.
  bool sees_violations = false;
  bool exact_private_data = false;       // otherwise zeros follow what the peer sent
  bool chosen_base = false;              // Domain::allocate takes a base
  bool chosen_port = false;              // ConnectionOptions::local_port
  bool chosen_host = false;              // ConnectionOptions::local_host
  bool responder_waits = false;          // nothing leaves before the initiator's first message
  bool splits_sends = false;             // Connection::split_sends
  bool recoverable_read_faults = false;  // Connection::recover_read_faults
  std::size_t write_parts = 1;           // that one RDMA Write may have
  std::size_t largest_send = 0;
  std::size_t largest_private_data = 0;
};

enum class Operation : std::uint8_t { send, rdma_write, rdma_read };

/// An RDMA Write or Read of ours that the peer's memory does not allow.
struct Denial {
  Operation operation = Operation::rdma_write;
  std::optional<WorkId> id;  // none from iwarp: a Terminate does not name the operation
};

/// Why a connection ended.
struct CloseReason {
  Errc code = Errc::peer_closed;
  std::string detail;
  std::optional<trace::Terminate> terminate;  // sent or received; see `terminate_from_peer`
  bool terminate_from_peer = false;
  std::optional<Denial> denied{};  // the operation that ended it
};

class Connection;

/// Notifications to the owner of a connection, always from inside `Provider::poll`. A handler may
/// post operations and disconnect. It must not destroy the connection: pass it to
/// `Provider::retire`.
class Handler {
 public:
  virtual ~Handler() = default;
  virtual void on_established(Connection& connection, View private_data) = 0;
  /// The attempt failed, or the peer rejected it (then with the peer's private data).
  virtual void on_refused(Connection& connection, const Error& error, View private_data) = 0;
  /// `buffer` is the posted receive, shortened to the received octets.
  virtual void on_received(Connection& connection, WorkId id, MutableView buffer,
                           std::optional<std::uint32_t> invalidated) = 0;
  virtual void on_completed(Connection& connection, WorkId id, Operation operation) = 0;
  /// The peer refused this RDMA Read alone (Connection::recover_read_faults). What its sink holds
  /// is no answer.
  virtual void on_read_refused(Connection& /*connection*/, WorkId /*id*/,
                               const trace::Terminate& /*cause*/) {}
  /// The last notification of an established connection. Posted work never completes after it.
  virtual void on_closed(Connection& connection, const CloseReason& reason) = 0;
};

/// Where octets of a Send go instead of into its posted receive.
struct Placement {
  std::size_t from = 0;  // of the message
  MutableView to{};      // empty: there is none
};

/// Octets at the start of a Send, by which its receiver may find the place of the others. They have
/// room for the transport and RPC headers, and for the results in front of a READ's data.
inline constexpr std::size_t kHeadBytes = 256;

/// Looks at Sends while they arrive.
class HeadReader {
 public:
  virtual ~HeadReader() = default;
  /// The first kHeadBytes of a longer Send are there, and nothing has checked them: a CRC may still
  /// end the connection. Called once for each, before its on_received. What was placed counts only
  /// when that comes. The place must stay until then, or until the connection is aborted. Must not
  /// post operations.
  virtual Placement on_head(View head) = 0;
};

/// Parameters that a side chooses for its connection before setup.
struct ConnectionOptions {
  Bytes private_data;      // consumer's private data, without provider framing
  std::uint16_t ird = 16;  // inbound RDMA Reads that we accept at a time
  std::uint16_t ord = 16;  // RDMA Reads we issue at a time
  std::chrono::milliseconds startup_timeout{5000};
  std::chrono::milliseconds idle_timeout{0};  // 0: none. Silence in mid-message always has a limit.
  bool crc = true;                            // iwarp: ask for CRC32C
  std::uint8_t mpa_revision = 2;              // iwarp: 1, or 2 with S=1
  // iwarp fault hook: replaces the MPA request, or the responder's MPA reply.
  std::optional<Bytes> raw_startup;
  // The initiator's port; 0: any. iwarp: of TCP. roce: the one that its REQ names.
  std::uint16_t local_port = 0;
  // iwarp: the initiator's numeric address; empty: the system's choice.
  std::string local_host;
  fabric::iwarp::Policy iwarp{};
  // roce fault hook: alters the REQ, or the responder's REP.
  fabric::roce::SharedBend bent_startup{};
  // roce fault hook: alters the packet of this index of our response to a READ request.
  fabric::roce::SharedBend bent_response{};
  fabric::roce::Policy roce{};
  /// Sends of the peer take these receives, and the connection has none of its own. The queue must
  /// be of the same provider and outlive the connection's end. Errc::unsupported without one.
  ReceiveQueue* receives = nullptr;
};

/// Alters what one Send, Write or Read transmits (Capabilities::fault_hooks; the last member:
/// bent_packets).
struct Fault {
  bool bad_crc = false;
  std::optional<std::uint32_t> msn;         // instead of the right message sequence number
  std::optional<std::uint32_t> mo;          // instead of the right message offset
  std::optional<std::uint32_t> qn;          // instead of the right queue number
  std::optional<std::uint8_t> opcode;       // instead of the right RDMAP opcode
  std::optional<std::uint8_t> ddp_version;  // 2 bits
  std::optional<std::uint8_t> rdmap_version;
  std::optional<std::uint16_t> ulpdu_length;  // instead of the right MPA length
  std::optional<std::size_t> cut_after;  // octets of this operation to transmit before the close
  roce::SharedBend packet{};             // roce
};

/// Octets of a message in parts.
inline std::uint64_t length_of(std::span<const View> parts) {
  std::uint64_t length = 0;
  for (const View part : parts) length += part.size();
  return length;
}

class Connection {
 public:
  virtual ~Connection() = default;

  /// Receives are used in posting order. The buffer must live until its notification or
  /// `on_closed`. Does nothing if the receives are of a queue (ConnectionOptions::receives).
  virtual void post_receive(MutableView buffer, WorkId id) = 0;
  /// From the next Send on, octets that `reader` places go there straight from the stream. Their
  /// part of the posted receive keeps its old octets. The message has its whole length all the
  /// same. `reader` must outlive the connection or be taken back with nullptr. Needs
  /// Capabilities::splits_sends.
  virtual Expected<void, Error> split_sends(HeadReader* /*reader*/) {
    return tl::unexpected(Error{Errc::unsupported, "the provider gives whole Sends only"});
  }
  /// From now on a Read of memory that its owner does not allow is refused alone. The refusal comes
  /// in place of its response, and the connection goes on. Other errors end it. No standard knows
  /// these refusals: both owners must have agreed, as by their private data. Both call it in
  /// on_established at the latest. Needs Capabilities::recoverable_read_faults.
  virtual Expected<void, Error> recover_read_faults() {
    return tl::unexpected(Error{Errc::unsupported, "a refused RDMA Read ends the connection"});
  }
  /// Sends the concatenation of `parts` as one message, with Invalidate if `invalidate` is set. The
  /// parts must live until the completion.
  virtual Expected<void, Error> send(std::span<const View> parts, WorkId id,
                                     std::optional<std::uint32_t> invalidate = {},
                                     const Fault* fault = nullptr) = 0;
  /// Writes the concatenation of `parts` to consecutive octets of the peer's memory, as one
  /// message. There are at most Capabilities::write_parts, which must live until the completion.
  virtual Expected<void, Error> rdma_write(std::span<const View> parts, std::uint32_t stag,
                                           std::uint64_t offset, WorkId id,
                                           const Fault* fault = nullptr) = 0;
  Expected<void, Error> rdma_write(View from, std::uint32_t stag, std::uint64_t offset, WorkId id,
                                   const Fault* fault = nullptr) {
    return rdma_write(std::span<const View>(&from, 1), stag, offset, id, fault);
  }
  /// Reads `length` octets of the peer's memory into `sink`, from `sink_offset` octets after its
  /// base. The sink needs no remote rights: the provider opens it for this operation alone.
  virtual Expected<void, Error> rdma_read(Region& sink, std::uint64_t sink_offset,
                                          std::uint32_t length, std::uint32_t stag,
                                          std::uint64_t offset, WorkId id,
                                          const Fault* fault = nullptr) = 0;
  /// Opens the first `length` octets of a region again, with a new STag that the peer's Send with
  /// Invalidate closes. The region must be in this connection's domain. With a type 2 memory
  /// window, only this connection's peer can access it, and the connection's end closes it. Needs
  /// Capabilities::windows.
  virtual Expected<void, Error> open_window(Region& region, Rights rights, std::size_t length) {
    region.open(rights, length);
    return {};
  }
  /// The whole region.
  Expected<void, Error> open_window(Region& region, Rights rights) {
    return open_window(region, rights, region.bytes().size());
  }
  /// Fault hook of iwarp and roce. Raw octets for the stream, after queued ones. Over roce they are
  /// a packet of its own from its base header on. Its invariant CRC is added.
  virtual Expected<void, Error> send_raw(View bytes) = 0;
  /// iwarp: sends a Terminate with these values, then closes (fault hook).
  virtual Expected<void, Error> terminate(const trace::Terminate& terminate) = 0;
  /// Orderly end: queued operations are still sent. `on_closed` follows with Errc::local_close.
  virtual void disconnect() = 0;
  /// Hard end: queued operations are dropped, and the stream is reset.
  virtual void abort() = 0;

  virtual Domain& domain() = 0;
  virtual trace::Role role() const = 0;
  virtual bool established() const = 0;
  virtual std::string peer_name() const = 0;
  virtual std::size_t unsent_operations() const = 0;
  /// RDMA Reads in flight at a time, as startup negotiated it (ORD, RFC 6581 9.1). Further ones
  /// wait for their turn. With 0 the peer takes none and `rdma_read` fails with Errc::unsupported,
  /// or the connection is not established.
  virtual std::uint16_t most_outbound_reads() const = 0;
  /// Octets received by RDMA Reads so far, as finely as the provider sees them: by segment, or by
  /// Read if the device shows no more.
  virtual std::uint64_t octets_read() const = 0;

  /// Whether no posted receive has octets of a message, until the next poll. False if the provider
  /// does not see that.
  virtual bool receives_are_empty() const { return false; }

  /// From now on observers receive every event (and octet) of this connection. They must outlive
  /// it, or be removed with nullptr. They receive:
  /// - Events of both directions in the order in which this side saw them. An outgoing message is
  ///   reported when it is queued for the socket, an incoming one just before its notification. A
  ///   message that a Fault makes invalid on the wire gives no event of its own. A bent packet is
  ///   repeated as it should be, so its operation keeps its event.
  /// - Memory of the connection's domain that is remotely open. It is reported right after Accept,
  ///   and whenever it is opened or closed later, on every connection of the domain.
  /// - Posted receives likewise, each with its size. Those of a ReceiveQueue are no connection's
  /// and
  ///   give no event.
  /// - One Disconnect at the end; its actor is the side that ended the connection.
  virtual void observe(trace::EventSink* events, trace::ByteSink* bytes) = 0;

  void set_handler(Handler* handler) { handler_ = handler; }

 protected:
  Handler* handler_ = nullptr;
};

/// A connection request that waits for an answer. Its private data is readable.
class ConnectionRequest {
 public:
  virtual ~ConnectionRequest() = default;
  virtual View private_data() const = 0;
  virtual net::Address peer() const = 0;
  std::string peer_name() const { return peer().text(); }
  /// Accepts. The connection is established once its startup reply has left. Notifications go to
  /// `handler`. Observers given here receive the Connect event too.
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
  /// The bound port (for port 0).
  virtual std::uint16_t port() const = 0;
};

/// How a listener takes requests, by provider.
struct ListenPolicy {
  fabric::iwarp::StartupPolicy iwarp{};
  fabric::roce::StartupPolicy roce{};
};

using AcceptCallback = std::function<void(std::unique_ptr<ConnectionRequest>)>;
/// Reports attempts that end before a request exists: no startup request, a late or truncated one,
/// or no room in the provider. `peer` is empty if the system has no descriptor to accept the peer.
using RefusedCallback = std::function<void(const std::string& peer, const Error& error)>;

class Provider : public net::Pollable {
 public:
  virtual Capabilities capabilities() const = 0;
  virtual std::unique_ptr<Domain> make_domain() = 0;
  /// Receives for any number of connections of the domain (ConnectionOptions::receives). When they
  /// are used up, a software provider holds the peers back. Over iwarp it reads no further on a
  /// connection whose next Send has no receive. Over roce that Send gets an RNR NAK, and the
  /// receive that comes next is kept for its repetition.
  virtual Expected<std::unique_ptr<ReceiveQueue>, Error> make_receive_queue(Domain& /*domain*/) {
    return tl::unexpected(Error{Errc::unsupported, "the provider has no shared receive queue"});
  }
  /// Either callback may destroy the listener.
  virtual Expected<std::unique_ptr<Listener>, Error> listen(const Url& url,
                                                            AcceptCallback on_request,
                                                            RefusedCallback on_refused = {},
                                                            const ListenPolicy& policy = {}) = 0;
  /// Starts a connection. The result arrives as on_established or on_refused.
  virtual Expected<std::unique_ptr<Connection>, Error> connect(
      const Url& url, Domain& domain, const ConnectionOptions& options, Handler& handler,
      trace::EventSink* events = nullptr, trace::ByteSink* bytes = nullptr) = 0;
  /// Destroys the connection when none of its handlers is running.
  virtual void retire(std::unique_ptr<Connection> connection) = 0;
};

/// The source of random steering tags and bases. It is a parameter, so that runs can be repeated.
using RandomSource = std::function<std::uint64_t()>;

/// iwarp: accepted sockets that have not sent their whole startup request. Each takes a descriptor
/// for Limits::startup at most. One source may have a quarter of the limit, which is far from any
/// refusal of others: 10,000 clients behind one address connect within seconds. Early drop begins
/// at twice that, so that two sources alone cannot have others refused.
inline constexpr net::SourceLimits kStartupLimits{
    .most = 1024, .of_source = 256, .early_drop = 512};

/// A provider's limits on what a peer, or a careless owner, can make it keep or await.
struct Limits {
  /// A listener's wait for the whole startup request. ConnectionOptions has the initiator's wait.
  std::chrono::milliseconds startup{5000};
  /// Silence inside an FPDU or between the segments of one message.
  std::chrono::milliseconds mid_message{5000};
  /// The peer takes no octets although some are queued.
  std::chrono::milliseconds unsent{15000};
  /// From our end of the stream to the peer's.
  std::chrono::milliseconds closing{2000};
  /// Posted operations of one connection that have not left; beyond it Errc::queue_full.
  ///
  /// A peer's most demanding legal load must fit. Assume 32 credits and chunks of 256 segments
  /// (a mebibyte in pages). Each of 32 calls then needs 256 RDMA Reads or Writes and a reply, 8224
  /// in all. This is eight times as much. Memory is allocated on use, and freed.
  std::size_t posted_operations = 65536;
  /// No segment of an outstanding RDMA Read's response arrives. The limit is that for octets that
  /// the peer does not take. An adapter answers without its owner, so only the network delays it.
  /// Until the end the owner's memory is pinned.
  std::chrono::milliseconds unanswered_read{15000};
  net::SourceLimits startups = kStartupLimits;
  roce::Limits roce{};
};

/// The provider of a URL: "iwarp", "roce", or "verbs" (Errc::no_device without an RDMA device).
/// Errc::unknown_provider otherwise. `random` is for tags and other numbers of iwarp and roce: a
/// device chooses its own.
Expected<std::unique_ptr<Provider>, Error> make_provider(std::string_view name, RandomSource random,
                                                         const Limits& limits = {},
                                                         Clock clock = {});
/// A source seeded from the system.
RandomSource system_random();

}  // namespace steertag::fabric
