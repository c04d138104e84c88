// Reads events of librdmacm and passes them to the owners of their identifiers.
#include "fabric/verbs/event_channel.h"

#include <fcntl.h>
#include <sys/epoll.h>

#include <cerrno>

#include "fabric/verbs/device.h"

namespace steertag::fabric::verbs {
namespace {

constexpr int kMostEventsPerTurn = 64;  // then completions get their turn

}  // namespace

Expected<std::unique_ptr<EventChannel>, Error> EventChannel::open(Reactor& reactor) {
  rdma_event_channel* const channel = rdma_create_event_channel();
  if (channel == nullptr) {
    return tl::unexpected(no_device("no event channel: " + error_text(errno)));
  }
  ::fcntl(channel->fd, F_SETFL, ::fcntl(channel->fd, F_GETFL) | O_NONBLOCK);
  std::unique_ptr<EventChannel> made(new EventChannel(reactor, *channel));
  const auto key = reactor.add(*made, channel->fd, EPOLLIN);
  if (!key) {
    return tl::unexpected(no_device(key.error().detail));
  }
  made->key_ = *key;
  return made;
}

EventChannel::~EventChannel() {
  reactor_.remove(key_);
  rdma_destroy_event_channel(&channel_);
}

CmId EventChannel::make_id(CmOwner& owner) {
  rdma_cm_id* id = nullptr;
  if (rdma_create_id(&channel_, &id, &owner, RDMA_PS_TCP) != 0) {
    return nullptr;
  }
  return CmId(id);
}

void EventChannel::on_ready(std::uint32_t /*events*/) {
  for (int i = 0; i < kMostEventsPerTurn && take_one(); ++i) {
  }
}

bool EventChannel::take_one() {
  rdma_cm_event* taken = nullptr;
  if (rdma_get_cm_event(&channel_, &taken) != 0) {
    return false;
  }
  CmEvent event;
  event.type = taken->event;
  event.status = taken->status;
  event.id = taken->id;
  event.initiator_depth = taken->param.conn.initiator_depth;
  event.responder_resources = taken->param.conn.responder_resources;
  if (taken->param.conn.private_data != nullptr) {
    const auto* first = static_cast<const std::byte*>(taken->param.conn.private_data);
    event.private_data.assign(first, first + taken->param.conn.private_data_len);
  }
  const bool request = taken->event == RDMA_CM_EVENT_CONNECT_REQUEST;
  auto* owner = static_cast<CmOwner*>(request ? taken->listen_id->context : taken->id->context);
  rdma_ack_cm_event(taken);
  if (owner != nullptr) {
    owner->on_cm_event(event);
  } else if (request) {
    rdma_destroy_id(event.id);
  }
  return true;
}

}  // namespace steertag::fabric::verbs
