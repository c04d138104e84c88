// A connection identifier of librdmacm and its events.
#pragma once

#include <rdma/rdma_cma.h>

#include <memory>

#include "support/bytes.h"

namespace steertag::fabric::verbs {

struct DestroyCmId {
  void operator()(rdma_cm_id* id) const { rdma_destroy_id(id); }
};
/// Destroy its queue pairs first.
using CmId = std::unique_ptr<rdma_cm_id, DestroyCmId>;

/// A copy of an rdma_cm_event. The event is acknowledged before delivery, so that the receiver may
/// destroy the identifier.
struct CmEvent {
  rdma_cm_event_type type{};
  int status = 0;
  rdma_cm_id* id = nullptr;
  Bytes private_data;
  /// The RDMA Reads that the peer takes, and issues (rdma_get_cm_event(3)).
  std::uint8_t initiator_depth = 0;
  std::uint8_t responder_resources = 0;
};

/// The owner of an identifier; its `context` points here.
class CmOwner {
 public:
  virtual ~CmOwner() = default;
  virtual void on_cm_event(const CmEvent& event) = 0;
};

}  // namespace steertag::fabric::verbs
