// Chooses and opens the device, and dispatches its reports.
#include "fabric/verbs/device.h"

#include <fcntl.h>
#include <rdma/rdma_cma.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace steertag::fabric::verbs {
namespace {

constexpr int kMostEventsPerTurn = 64;  // then the connection manager gets its turn
constexpr const char* kConnectionManager = "/dev/infiniband/rdma_cm";

// Linux's rxe returns the kernel's IB_WC_WITH_INVALIDATE to programs. In user space that bit is
// IBV_WC_IP_CSUM_OK, which no reliable connection uses.
constexpr std::uint32_t kRxeVendor = 0xffffff;

constexpr std::uint32_t kSiwVendor = 0x626d74;

// rdma_cm takes 36 of the 92 octets of a CM REQ (InfiniBand specification, annex 11).
constexpr std::size_t kInfiniBandPrivateData = 56;
// librdmacm counts them in one octet. Linux's iWARP reserves 4 of 256 for IRD and ORD.
constexpr std::size_t kIwarpPrivateData = 252;

void make_non_blocking(int fd) {
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

bool any_port_active(ibv_context* context, const ibv_device_attr& attributes,
                     std::size_t& largest_message) {
  for (std::uint8_t port = 1; port <= attributes.phys_port_cnt; ++port) {
    ibv_port_attr state{};
    if (ibv_query_port(context, port, &state) == 0 && state.state == IBV_PORT_ACTIVE) {
      largest_message = state.max_msg_sz;
      return true;
    }
  }
  return false;
}

/// A descriptor of the device that the reactor watches.
class Watched : public Channel {
 public:
  Watched(Reactor& reactor, int descriptor) : reactor_(reactor), descriptor_(descriptor) {}
  ~Watched() override { reactor_.remove(key_); }

  Expected<void, Error> watch() {
    const auto key = reactor_.add(*this, descriptor_, EPOLLIN);
    if (!key) {
      return tl::unexpected(key.error());
    }
    key_ = *key;
    return {};
  }

  void on_deadline() override {}

 private:
  Reactor& reactor_;
  int descriptor_;
  Reactor::Key key_ = 0;
};

}  // namespace

Error no_device(const std::string& why) {
  return {Errc::no_device, "no RDMA device: " + why + "; use iwarp://"};
}

class Device::Completions final : public Watched {
 public:
  Completions(Reactor& reactor, ibv_comp_channel& channel)
      : Watched(reactor, channel.fd), channel_(channel) {}

  void on_ready(std::uint32_t /*events*/) override {
    for (int i = 0; i < kMostEventsPerTurn; ++i) {
      ibv_cq* queue = nullptr;
      void* owner = nullptr;
      if (ibv_get_cq_event(&channel_, &queue, &owner) != 0) {
        return;
      }
      // Acknowledge first: the owner may return the queue.
      ibv_ack_cq_events(queue, 1);
      if (owner == nullptr) {
        continue;  // it rests
      }
      ibv_req_notify_cq(queue, 0);
      static_cast<QueueOwner*>(owner)->on_completions();
    }
  }

 private:
  ibv_comp_channel& channel_;
};

class Device::AsyncEvents final : public Watched {
 public:
  AsyncEvents(Reactor& reactor, const Device& device)
      : Watched(reactor, device.context()->async_fd),
        device_(device),
        context_(*device.context()) {}

  void on_ready(std::uint32_t /*events*/) override {
    for (int i = 0; i < kMostEventsPerTurn; ++i) {
      ibv_async_event event{};
      if (ibv_get_async_event(&context_, &event) != 0) {
        return;
      }
      QueueOwner* const owner = owner_of(event);
      // Another provider of this process, perhaps in another thread, has the same context. Its
      // event is dropped. The completions and the end of the connection give the same information,
      // less exactly.
      const bool ours = owner != nullptr && &owner->queue_device() == &device_;
      ibv_ack_async_event(&event);  // from now on the owner of a foreign event may be destroyed
      if (ours) {
        owner->on_async_event(event.event_type);
      }
    }
  }

 private:
  static QueueOwner* owner_of(const ibv_async_event& event) {
    switch (event.event_type) {
      case IBV_EVENT_QP_FATAL:
      case IBV_EVENT_QP_REQ_ERR:
      case IBV_EVENT_QP_ACCESS_ERR:
      case IBV_EVENT_COMM_EST:
        return static_cast<QueueOwner*>(event.element.qp->qp_context);
      case IBV_EVENT_CQ_ERR:
        return static_cast<QueueOwner*>(event.element.cq->cq_context);
      default:
        return nullptr;  // of ports and of the device: connections notice these themselves
    }
  }

  const Device& device_;
  ibv_context& context_;
};

Expected<std::unique_ptr<Device>, Error> Device::open(Reactor& reactor) {
  // Checked first, because librdmacm writes to standard error without a device.
  int count = 0;
  ibv_device** const present = ibv_get_device_list(&count);
  if (present != nullptr) {
    ibv_free_device_list(present);
  }
  if (count == 0) {
    return tl::unexpected(no_device("the system has none"));
  }
  if (::access(kConnectionManager, R_OK | W_OK) != 0) {
    return tl::unexpected(no_device(std::string(kConnectionManager) + ": " + error_text(errno)));
  }
  ibv_context** const contexts = rdma_get_devices(&count);
  if (contexts == nullptr || count == 0) {
    return tl::unexpected(no_device("librdmacm opens none: " + error_text(errno)));
  }
  std::unique_ptr<Device> device;
  std::string why;
  for (int i = 0; i < count && !device; ++i) {
    device.reset(new Device(reactor, contexts[i]));
    if (const auto started = device->start(); !started) {
      why += (why.empty() ? "" : ", ") + device->name() + ": " + started.error().detail;
      device.reset();
    }
  }
  rdma_free_devices(contexts);
  if (!device) {
    return tl::unexpected(no_device(why));
  }
  return device;
}

Device::Device(Reactor& reactor, ibv_context* context) : reactor_(reactor), context_(context) {}

Device::~Device() {
  completion_events_.reset();
  async_events_.reset();
  completion_queues_.reset();
  if (completions_ != nullptr) {
    ibv_destroy_comp_channel(completions_);
  }
}

Expected<void, Error> Device::start() {
  const auto refused = [](const std::string& what) {
    return tl::unexpected(Error{Errc::no_device, what + ": " + error_text(errno)});
  };
  if (ibv_query_device(context_, &attributes_) != 0) {
    return refused("it does not tell what it can do");
  }
  if (!any_port_active(context_, attributes_, largest_message_)) {
    return tl::unexpected(Error{Errc::no_device, "no port is active"});
  }
  if (siw() && !siw_key_.emplace(*context_).held()) {
    return refused("no completion queue");
  }
  completions_ = ibv_create_comp_channel(context_);
  if (completions_ == nullptr) {
    return refused("no completion channel");
  }
  make_non_blocking(completions_->fd);
  make_non_blocking(context_->async_fd);
  completion_queues_ = std::make_unique<CompletionQueues>(
      *context_, *completions_, static_cast<int>(send_depth() + receive_depth()));
  completion_events_ = std::make_unique<Completions>(reactor_, *completions_);
  async_events_ = std::make_unique<AsyncEvents>(reactor_, *this);
  if (auto watched = completion_events_->watch(); !watched) {
    return watched;
  }
  return async_events_->watch();
}

std::uint32_t Device::send_depth() const {
  return std::min(kSendDepth, static_cast<std::uint32_t>(attributes_.max_qp_wr));
}

std::uint32_t Device::receive_depth() const {
  return std::min(kReceiveDepth, static_cast<std::uint32_t>(attributes_.max_qp_wr));
}

bool Device::windows() const {
  constexpr unsigned kType2 = IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B;
  return (attributes_.device_cap_flags & kType2) != 0;
}

unsigned Device::invalidated_flags() const {
  const bool rxe = attributes_.vendor_id == kRxeVendor && !iwarp();
  return rxe ? unsigned{IBV_WC_WITH_INV} | unsigned{IBV_WC_IP_CSUM_OK} : unsigned{IBV_WC_WITH_INV};
}

bool Device::siw() const {
  return attributes_.vendor_id == kSiwVendor && iwarp();
}

std::uint8_t Device::settled_reads(const CmEvent& established) const {
  // siw reports the initiator's own depths in the fields for the peer's depths (siw_cm_upcall).
  return siw() ? established.responder_resources : established.initiator_depth;
}

std::size_t Device::most_private_data() const {
  return iwarp() ? kIwarpPrivateData : kInfiniBandPrivateData;
}

}  // namespace steertag::fabric::verbs
