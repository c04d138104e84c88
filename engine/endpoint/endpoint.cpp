// One end of an RPC-over-RDMA connection.
#include "endpoint/endpoint.h"

namespace steertag::peer {

Endpoint::Endpoint(fabric::Provider& provider, EndpointUser& user, EndpointOptions options)
    : provider_(provider), user_(user), options_(std::move(options)) {}

Endpoint::~Endpoint() {
  if (!connection_) return;
  // No notice may reach a user that is being destroyed.
  connection_->set_handler(nullptr);
  if (options_.head_reader) (void)connection_->split_sends(nullptr);
  connection_->abort();
  provider_.retire(std::move(connection_));
}

std::optional<wire::PrivateData> Endpoint::own() const {
  if (options_.raw_private_data) {
    const auto found = wire::find_private_data(*options_.raw_private_data);
    return found ? std::optional(found->data) : std::nullopt;
  }
  return options_.sends_private_data ? std::optional(options_.announced) : std::nullopt;
}

void Endpoint::prepare() {
  Bytes& data = options_.connection.private_data;
  data.clear();
  if (options_.raw_private_data) {
    data = *options_.raw_private_data;
  } else if (options_.sends_private_data) {
    wire::encode(options_.announced, data);
  }
  receive_bytes_ = options_.receive_bytes.value_or(options_.announced.receive_bytes);
  options_.connection.receives = options_.pool ? &options_.pool->queue() : nullptr;
  if (options_.pool) return copies_.allow(options_.receives);
  receives_ = ReceiveMemory(std::size_t{receive_bytes_} * options_.receives);
}

void Endpoint::post_all() {
  if (options_.pool) return;
  for (ReceiveId id = 0; id < options_.receives; ++id) post(id);
}

Expected<void, fabric::Error> Endpoint::accept(fabric::ConnectionRequest& request,
                                               fabric::Domain& domain,
                                               const std::optional<wire::PrivateData>& found,
                                               trace::EventSink* events, trace::ByteSink* bytes) {
  prepare();
  peer_ = found;
  negotiated_ = wire::negotiate(peer_, own());
  auto accepted = request.accept(domain, options_.connection, *this, events, bytes);
  if (!accepted) return tl::unexpected(std::move(accepted.error()));
  connection_ = std::move(*accepted);
  // No call can have arrived yet: notices come from inside poll only.
  post_all();
  return {};
}

Expected<void, fabric::Error> Endpoint::connect(const fabric::Url& url, fabric::Domain& domain,
                                                trace::EventSink* events, trace::ByteSink* bytes) {
  prepare();
  auto started = provider_.connect(url, domain, options_.connection, *this, events, bytes);
  if (!started) return tl::unexpected(std::move(started.error()));
  connection_ = std::move(*started);
  if (options_.head_reader) (void)connection_->split_sends(options_.head_reader);
  post_all();
  return {};
}

MutableView Endpoint::receive_buffer(ReceiveId receive) {
  const std::size_t at = std::size_t{receive} * receive_bytes_;
  return at < receives_.size()
             ? receives_.bytes().subspan(at, receive_bytes_)
             : added_receives_.bytes().subspan(at - receives_.size(), receive_bytes_);
}

void Endpoint::add_receives(std::uint32_t count) {
  if (added_ || !connection_) return;
  added_ = true;
  if (options_.pool) return copies_.allow(count);
  added_receives_ = ReceiveMemory(std::size_t{receive_bytes_} * count);
  for (ReceiveId id = 0; id < count; ++id) post(options_.receives + id);
}

void Endpoint::post(ReceiveId receive) {
  if (connection_) connection_->post_receive(receive_buffer(receive), receive);
}

void Endpoint::repost(ReceiveId receive) {
  --used_receives_;
  if (options_.pool) return copies_.remove(receive);
  post(receive);
}

void Endpoint::release_receives() {
  if (!connection_ || used_receives_ > 0 || !connection_->receives_are_empty()) return;
  receives_.release();
  added_receives_.release();
  copies_.release();
}

Expected<void, fabric::Error> Endpoint::send(std::span<const View> parts, WorkTag tag,
                                             std::optional<std::uint32_t> invalidate) {
  return connection_->send(parts, tag, invalidate);
}

Expected<void, fabric::Error> Endpoint::rdma_write(std::span<const View> parts, std::uint32_t stag,
                                                   std::uint64_t offset, WorkTag tag) {
  return connection_->rdma_write(parts, stag, offset, tag);
}

Expected<void, fabric::Error> Endpoint::rdma_read(fabric::Region& sink, std::uint64_t sink_offset,
                                                  std::uint32_t length, std::uint32_t stag,
                                                  std::uint64_t offset, WorkTag tag) {
  return connection_->rdma_read(sink, sink_offset, length, stag, offset, tag);
}

void Endpoint::disconnect() {
  if (connection_) connection_->disconnect();
}

void Endpoint::abort() {
  if (connection_) connection_->abort();
}

void Endpoint::on_established(fabric::Connection& connection, View private_data) {
  up_ = true;
  if (connection.role() == trace::Role::client) {
    found_ = wire::find_private_data(private_data);
    peer_ = found_ ? std::optional(found_->data) : std::nullopt;
    negotiated_ = wire::negotiate(own(), peer_);
  }
  user_.on_up();
}

void Endpoint::on_refused(fabric::Connection& /*connection*/, const fabric::Error& error,
                          View /*private_data*/) {
  up_ = false;
  user_.on_down({error.code, error.detail, {}, false});
}

void Endpoint::on_received(fabric::Connection& /*connection*/, fabric::WorkId id,
                           MutableView buffer, std::optional<std::uint32_t> invalidated) {
  auto receive = static_cast<ReceiveId>(id);
  if (options_.pool) {
    const auto copied = copies_.add(buffer);
    options_.pool->repost(id);
    // RFC 8166 3.3.1: the peer has more calls outstanding than were granted.
    if (!copied) return abort();
    receive = *copied;
    buffer = copies_.at(receive);
  }
  ++used_receives_;
  user_.on_message(receive, buffer, invalidated);
}

void Endpoint::on_completed(fabric::Connection& /*connection*/, fabric::WorkId id,
                            fabric::Operation operation) {
  user_.on_done(id, operation);
}

void Endpoint::on_closed(fabric::Connection& /*connection*/, const fabric::CloseReason& reason) {
  up_ = false;
  user_.on_down(reason);
}

}  // namespace steertag::peer
