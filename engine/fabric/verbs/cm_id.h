// A connection identifier of librdmacm and the events that it gets.
#pragma once

#include <rdma/rdma_cma.h>

#include <memory>

#include "support/bytes.h"

namespace steertag::fabric::verbs {

struct DestroyCmId {
  void operator()(rdma_cm_id* id) const { rdma_destroy_id(id); }
};
/// Queue pairs on it must be destroyed before.
using CmId = std::unique_ptr<rdma_cm_id, DestroyCmId>;

/// A copy of an rdma_cm_event, which is acknowledged before anybody is told of it: so whoever is
/// told may destroy the identifier.
struct CmEvent {
  rdma_cm_event_type type{};
  int status = 0;
  rdma_cm_id* id = nullptr;
  Bytes private_data;
  /// What the peer takes of RDMA Reads, and issues (rdma_get_cm_event(3)).
  std::uint8_t initiator_depth = 0;
  std::uint8_t responder_resources = 0;
};

/// Whoever owns an identifier; its `context` points here.
class CmOwner {
 public:
  virtual ~CmOwner() = default;
  virtual void on_cm_event(const CmEvent& event) = 0;
};

}  // namespace steertag::fabric::verbs
