// Operations that an interposer posts.
#include "server/rdma/interposed_connection.h"

namespace steertag::peer {
namespace {

tl::unexpected<fabric::Error> gone() {
  return tl::unexpected(fabric::Error{fabric::Errc::not_connected, "the connection has ended"});
}

}  // namespace

Expected<void, fabric::Error> InterposedConnection::send(Bytes octets,
                                                         std::optional<std::uint32_t> invalidate,
                                                         const fabric::Fault* fault) {
  if (!up()) return gone();
  const WorkTag tag = next_tag();
  const View view = leaving_[tag] = std::move(octets);
  auto posted = endpoint_->connection()->send({&view, 1}, tag, invalidate, fault);
  if (!posted) leaving_.erase(tag);
  return posted;
}

Expected<void, fabric::Error> InterposedConnection::write(Bytes octets, std::uint32_t stag,
                                                          std::uint64_t offset,
                                                          const fabric::Fault* fault) {
  if (!up()) return gone();
  const WorkTag tag = next_tag();
  const View view = leaving_[tag] = std::move(octets);
  auto posted = endpoint_->connection()->rdma_write(view, stag, offset, tag, fault);
  has_written_ = true;
  if (!posted) leaving_.erase(tag);
  return posted;
}

Expected<std::uint64_t, fabric::Error> InterposedConnection::read(std::uint32_t stag,
                                                                  std::uint64_t offset,
                                                                  std::uint32_t length,
                                                                  const fabric::Fault* fault) {
  if (!up()) return gone();
  const WorkTag tag = next_tag();
  Sink& sink = reading_[tag];
  sink = {pool_->acquire(length, {}), length};
  if (!sink.region) {
    reading_.erase(tag);
    return tl::unexpected(fabric::Error{fabric::Errc::bad_region, "no memory for the sink"});
  }
  auto posted =
      endpoint_->connection()->rdma_read(*sink.region, 0, length, stag, offset, tag, fault);
  has_read_ = true;
  if (!posted) {
    reading_.erase(tag);
    return tl::unexpected(std::move(posted.error()));
  }
  return tag & ~kTag;
}

Expected<void, fabric::Error> InterposedConnection::send_raw(View octets) {
  return up() ? endpoint_->connection()->send_raw(octets) : gone();
}

Expected<void, fabric::Error> InterposedConnection::terminate(const trace::Terminate& terminate) {
  return up() ? endpoint_->connection()->terminate(terminate) : gone();
}

void InterposedConnection::add_receives(std::uint32_t count) {
  if (endpoint_) endpoint_->add_receives(count);
}

void InterposedConnection::grant_callbacks(std::uint32_t window) {
  if (up()) callbacks_->grant(window);
}

void InterposedConnection::disconnect() {
  if (endpoint_) endpoint_->disconnect();
}

void InterposedConnection::abort() {
  if (endpoint_) endpoint_->abort();
}

Bytes InterposedConnection::take_done(WorkTag tag) {
  leaving_.erase(tag);
  const auto found = reading_.find(tag);
  if (found == reading_.end()) return {};
  const View octets = found->second.region->bytes();
  Bytes read(octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(found->second.length));
  reading_.erase(found);
  return read;
}

void InterposedConnection::close() {
  endpoint_ = nullptr;
  reading_.clear();  // the pool goes; octets on their way out outlive their last reader
}

}  // namespace steertag::peer
