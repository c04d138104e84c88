// One end of an RPC-over-RDMA connection (RFC 8166, RFC 8797).
// It has the connection, its thresholds, and receives that are always posted. Requester and
// responder roles sit on top of it; with RFC 8167 both can share one endpoint.
#pragma once

#include <memory>
#include <optional>

#include "endpoint/limits.h"
#include "endpoint/message_copies.h"
#include "endpoint/receive_memory.h"
#include "endpoint/receive_pool.h"
#include "fabric/fabric.h"
#include "wire/private_data.h"

namespace steertag::peer {

struct EndpointOptions {
  wire::PrivateData announced;               // what we tell the peer; also the size of our receives
  bool sends_private_data = true;            // false: a peer from before RFC 8797
  std::optional<Bytes> raw_private_data;     // sent instead of the encoding of `announced`
  std::uint32_t receives = kDefaultCredits;  // receives kept posted
  std::optional<std::uint32_t> receive_bytes;  // size of a receive, if not as announced
  /// Of the server side: its receives are these, and `receives` only limits the messages that are
  /// in use at a time. A peer that sends more loses the connection. Must outlive the endpoint.
  ReceivePool* pool = nullptr;
  fabric::ConnectionOptions connection;  // its private_data is filled in
  /// Of the client side: places octets of messages (fabric::Connection::split_sends), if the
  /// provider can. Must outlive the endpoint.
  fabric::HeadReader* head_reader = nullptr;
};

using ReceiveId = std::uint32_t;
/// Tells the owner of an endpoint which of its operations completed.
using WorkTag = std::uint64_t;

/// What sits on an endpoint. All calls come from inside Provider::poll; none may destroy the
/// endpoint.
class EndpointUser {
 public:
  virtual ~EndpointUser() = default;
  virtual void on_up() = 0;
  /// `message` stays valid until the receive is given back with Endpoint::repost.
  virtual void on_message(ReceiveId receive, View message,
                          std::optional<std::uint32_t> invalidated) = 0;
  virtual void on_done(WorkTag tag, fabric::Operation operation) = 0;
  /// The end, or the failed start, of the connection. Posted operations do not complete any more.
  virtual void on_down(const fabric::CloseReason& reason) = 0;
};

class Endpoint final : private fabric::Handler {
 public:
  Endpoint(fabric::Provider& provider, EndpointUser& user, EndpointOptions options);
  ~Endpoint() override;
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  /// The server side. `found` is what was made of the client's private data.
  Expected<void, fabric::Error> accept(fabric::ConnectionRequest& request, fabric::Domain& domain,
                                       const std::optional<wire::PrivateData>& found,
                                       trace::EventSink* events = nullptr,
                                       trace::ByteSink* bytes = nullptr);
  /// The client side; on_up or on_down follows.
  Expected<void, fabric::Error> connect(const fabric::Url& url, fabric::Domain& domain,
                                        trace::EventSink* events = nullptr,
                                        trace::ByteSink* bytes = nullptr);

  /// Fixed for the life of the connection (RFC 8797 4).
  const wire::Negotiated& negotiated() const { return negotiated_; }
  /// What the peer announced; nothing if it did not.
  const std::optional<wire::PrivateData>& peer() const { return peer_; }
  /// The client side: where and how the server's announcement stood in its private data.
  const std::optional<wire::FoundPrivateData>& found() const { return found_; }
  bool up() const { return up_; }

  /// Posts further receives, once in the life of the connection, for replies to calls that this
  /// side makes beside its main role (RFC 8167 4.2).
  void add_receives(std::uint32_t count);
  /// Posts a receive again; the message that was in it is gone.
  void repost(ReceiveId receive);
  /// Gives back the memory of the receives. Does nothing while a message is in one.
  void release_receives();
  /// `parts` must stay until on_done(tag).
  Expected<void, fabric::Error> send(std::span<const View> parts, WorkTag tag,
                                     std::optional<std::uint32_t> invalidate = {});
  Expected<void, fabric::Error> rdma_write(std::span<const View> parts, std::uint32_t stag,
                                           std::uint64_t offset, WorkTag tag);
  Expected<void, fabric::Error> rdma_read(fabric::Region& sink, std::uint64_t sink_offset,
                                          std::uint32_t length, std::uint32_t stag,
                                          std::uint64_t offset, WorkTag tag);
  /// What is queued still leaves.
  void disconnect();
  void abort();
  fabric::Connection* connection() { return connection_.get(); }
  const fabric::Connection* connection() const { return connection_.get(); }

 private:
  void on_established(fabric::Connection& connection, View private_data) override;
  void on_refused(fabric::Connection& connection, const fabric::Error& error,
                  View private_data) override;
  void on_received(fabric::Connection& connection, fabric::WorkId id, MutableView buffer,
                   std::optional<std::uint32_t> invalidated) override;
  void on_completed(fabric::Connection& connection, fabric::WorkId id,
                    fabric::Operation operation) override;
  void on_closed(fabric::Connection& connection, const fabric::CloseReason& reason) override;
  void prepare();
  void post_all();
  void post(ReceiveId receive);
  MutableView receive_buffer(ReceiveId receive);
  std::optional<wire::PrivateData> own() const;

  fabric::Provider& provider_;
  EndpointUser& user_;
  EndpointOptions options_;
  std::unique_ptr<fabric::Connection> connection_;
  std::optional<wire::PrivateData> peer_;
  std::optional<wire::FoundPrivateData> found_;
  wire::Negotiated negotiated_;
  std::uint32_t receive_bytes_ = 0;
  ReceiveMemory receives_;        // `receive_bytes_` octets for each receive
  ReceiveMemory added_receives_;  // likewise, for the receives with the next numbers
  bool added_ = false;
  MessageCopies copies_;           // instead, with a pool
  std::size_t used_receives_ = 0;  // that are not posted
  bool up_ = false;
};

}  // namespace steertag::peer
