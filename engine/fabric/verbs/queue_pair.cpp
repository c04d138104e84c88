// Posts work requests and takes completions.
#include "fabric/verbs/queue_pair.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "fabric/net_names.h"

namespace steertag::fabric::verbs {
namespace {

constexpr int kMostCompletionsPerTurn = 64;  // a connection's share of one turn
constexpr std::uint64_t kSendQueue = 0;      // as wr_id: each queue completes in its order
constexpr std::uint64_t kReceiveQueue = 1;

ibv_send_wr request_of(Outgoing& operation) {
  ibv_send_wr request{};
  request.wr_id = kSendQueue;
  request.send_flags = IBV_SEND_SIGNALED;
  request.sg_list = &operation.local.element();
  request.num_sge = 1;
  switch (operation.kind) {
    case Outgoing::Kind::send:
      request.opcode = operation.invalidate ? IBV_WR_SEND_WITH_INV : IBV_WR_SEND;
      request.invalidate_rkey = operation.stag;
      break;
    case Outgoing::Kind::rdma_write:
    case Outgoing::Kind::rdma_read:
      request.opcode =
          operation.kind == Outgoing::Kind::rdma_read ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE;
      request.wr.rdma.rkey = operation.stag;
      request.wr.rdma.remote_addr = operation.offset;
      break;
    case Outgoing::Kind::bind:
      request.opcode = IBV_WR_BIND_MW;
      request.num_sge = 0;  // rxe accepts no list here
      request.bind_mw.mw = operation.bind.window;
      request.bind_mw.rkey = operation.bind.rkey;
      request.bind_mw.bind_info = {operation.bind.of,
                                   reinterpret_cast<std::uintptr_t>(operation.bind.of->addr),
                                   operation.bind.length, operation.bind.access};
      break;
  }
  return request;
}

// siw's codes are negative.
Unexpected<Error> refusal(const std::string& what, int code) {
  return tl::unexpected(
      Error{Errc::peer_reset, "the device takes no " + what + ": " + error_text(std::abs(code))});
}

}  // namespace

bool QueuePair::create(rdma_cm_id& id) {
  const Device& device = domain_.device();
  send_depth_ = device.send_depth();
  receive_depth_ = device.receive_depth();
  completions_ = device.completion_queues().take(owner_);
  if (completions_ == nullptr) {
    return false;
  }
  ibv_qp_init_attr wanted{};
  wanted.qp_context = &owner_;
  wanted.send_cq = completions_;
  wanted.recv_cq = completions_;
  wanted.qp_type = IBV_QPT_RC;
  wanted.sq_sig_all = 1;
  wanted.cap.max_send_wr = send_depth_;
  wanted.cap.max_recv_wr = receive_depth_;
  wanted.cap.max_send_sge = 1;
  wanted.cap.max_recv_sge = 1;
  if (!domain_.pd() || rdma_create_qp(&id, domain_.pd().get(), &wanted) != 0) {
    return false;
  }
  id_ = &id;
  return true;
}

void QueuePair::unmake() {
  windows_.close_all();
  if (id_ != nullptr) {
    rdma_destroy_qp(std::exchange(id_, nullptr));
  }
  if (completions_ != nullptr) {
    domain_.device().completion_queues().give_back(*std::exchange(completions_, nullptr));
  }
  while (!posted_receives_.empty()) {
    waiting_receives_.push_front(std::move(posted_receives_.back()));
    posted_receives_.pop_back();
  }
}

void QueuePair::destroy() {
  unmake();
  waiting_.clear();
  in_flight_.clear();
  waiting_receives_.clear();
}

bool QueuePair::failed() const {
  ibv_qp_attr state{};
  ibv_qp_init_attr made{};
  return exists() && ibv_query_qp(id_->qp, &state, IBV_QP_STATE, &made) == 0 &&
         state.qp_state == IBV_QPS_ERR;
}

Expected<void, Error> QueuePair::flush_receives() {
  while (exists() && !waiting_receives_.empty() && posted_receives_.size() < receive_depth_) {
    PostedReceive& receive = waiting_receives_.front();
    auto local = LocalBuffer::landing(domain_, receive.buffer);
    if (!local) {
      return tl::unexpected(std::move(local.error()));
    }
    receive.local = std::move(*local);
    ibv_recv_wr request{};
    request.wr_id = kReceiveQueue;
    request.sg_list = &receive.local.element();
    request.num_sge = 1;
    ibv_recv_wr* refused = nullptr;
    if (const int code = ibv_post_recv(id_->qp, &request, &refused); code != 0) {
      return refusal("receive", code);
    }
    posted_receives_.push_back(std::move(receive));
    waiting_receives_.pop_front();
  }
  return {};
}

Expected<void, Error> QueuePair::prepare(Outgoing& operation) {
  Expected<LocalBuffer, Error> local;
  switch (operation.kind) {
    case Outgoing::Kind::send:
    case Outgoing::Kind::rdma_write:
      local = LocalBuffer::gather(domain_, operation.parts);
      break;
    case Outgoing::Kind::rdma_read:
      local =
          LocalBuffer::sink(domain_, operation.sink, operation.sink_offset, operation.sink_length);
      break;
    case Outgoing::Kind::bind:
      break;
  }
  if (!local) {
    return tl::unexpected(std::move(local.error()));
  }
  operation.local = std::move(*local);
  return {};
}

Expected<const Outgoing*, Error> QueuePair::flush_one() {
  if (!exists() || waiting_.empty() || in_flight_.size() >= send_depth_) {
    return nullptr;
  }
  if (auto prepared = prepare(waiting_.front()); !prepared) {
    if (!in_flight_.empty()) {
      return nullptr;  // memory of work in flight is released on completion
    }
    return tl::unexpected(std::move(prepared.error()));
  }
  ibv_send_wr request = request_of(waiting_.front());
  ibv_send_wr* refused = nullptr;
  if (const int code = ibv_post_send(id_->qp, &request, &refused); code != 0) {
    return refusal("operation", code);
  }
  in_flight_.push_back(std::move(waiting_.front()));
  waiting_.pop_front();
  return &in_flight_.back();
}

bool QueuePair::poll() {
  std::array<ibv_wc, 16> taken;
  for (int total = 0; total < kMostCompletionsPerTurn;) {
    if (completions_ == nullptr) {
      return false;
    }
    const int count = ibv_poll_cq(completions_, static_cast<int>(taken.size()), taken.data());
    for (int i = 0; i < count && completions_ != nullptr; ++i) {
      take(taken[static_cast<std::size_t>(i)]);
    }
    if (count < static_cast<int>(taken.size())) {
      return false;
    }
    total += count;
  }
  return true;
}

void QueuePair::take(const ibv_wc& completion) {
  if (completion.wr_id == kReceiveQueue) {
    take_receive(completion);
    return;
  }
  if (in_flight_.empty()) {
    return;
  }
  const Outgoing operation = std::move(in_flight_.front());
  in_flight_.pop_front();
  if (operation.kind == Outgoing::Kind::bind) {
    windows_.settled(operation.bind.rkey);
  } else {
    ++operations_done_;
  }
  if (completion.status != IBV_WC_SUCCESS) {
    progress_.on_failed({completion.status, false, operations_done_, &operation});
  } else if (operation.kind != Outgoing::Kind::bind) {
    progress_.on_done(operation);
  }
}

void QueuePair::take_receive(const ibv_wc& completion) {
  if (posted_receives_.empty()) {
    return;
  }
  const PostedReceive receive = std::move(posted_receives_.front());
  posted_receives_.pop_front();
  ++receives_done_;
  if (completion.status != IBV_WC_SUCCESS) {
    progress_.on_failed({completion.status, true, receives_done_, nullptr});
    return;
  }
  const MutableView bytes =
      receive.buffer.first(std::min<std::size_t>(completion.byte_len, receive.buffer.size()));
  if (receive.local.staged()) {
    std::copy_n(receive.local.first(), bytes.size(), bytes.data());
  }
  std::optional<std::uint32_t> invalidated;
  if ((completion.wc_flags & domain_.device().invalidated_flags()) != 0) {
    invalidated = completion.invalidated_rkey;
  }
  progress_.on_message(receive, bytes, invalidated);
}

}  // namespace steertag::fabric::verbs
