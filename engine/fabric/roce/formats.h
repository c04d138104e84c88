// Short names for the InfiniBand formats and for software memory, for the files of this folder.
#pragma once

#include "fabric/software/memory_region.h"
#include "fabric/software/posted_receive.h"
#include "rdma/infiniband/cm_message.h"
#include "rdma/infiniband/ip_service.h"
#include "rdma/infiniband/mad.h"
#include "rdma/infiniband/psn.h"
#include "rdma/infiniband/transport.h"
#include "rdma/octets.h"
#include "rdma/text.h"

namespace steertag::fabric::roce {

// Not the whole namespace: it has an Operation of its own.
using rdma::load16;
using rdma::load32;
using rdma::load8;
using rdma::store16;
using rdma::store32;
using rdma::store8;
using rdma::text;
using rdma::infiniband::ack_kind;
using rdma::infiniband::AckHeader;
using rdma::infiniband::AckKind;
using rdma::infiniband::BaseHeader;
using rdma::infiniband::CmKind;
using rdma::infiniband::CmMessage;
using rdma::infiniband::DatagramHeader;
using rdma::infiniband::kManagementQueuePair;
using rdma::infiniband::kRoceUdpPort;
using rdma::infiniband::Opcode;
using rdma::infiniband::OpcodeTraits;
using rdma::infiniband::psn_after;
using rdma::infiniband::psn_distance;
using rdma::infiniband::RdmaHeader;
using rdma::infiniband::traits;
namespace wire = rdma::infiniband;
using namespace software;

}  // namespace steertag::fabric::roce
