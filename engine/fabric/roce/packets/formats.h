// Short names for the InfiniBand formats and for software memory, for the files of this folder.
#pragma once

#include "fabric/software/memory_region.h"
#include "fabric/software/posted_receive.h"
#include "rdma/infiniband/cm_message.h"
#include "rdma/infiniband/ip_service.h"
#include "rdma/infiniband/mad.h"
#include "rdma/infiniband/packet.h"
#include "rdma/infiniband/psn.h"
#include "rdma/infiniband/reject_reason.h"
#include "rdma/infiniband/transport.h"
#include "rdma/text.h"

namespace steertag::fabric::roce {

// Not the whole namespace: it has an Operation of its own.
using rdma::text;
using rdma::infiniband::ack_kind;
using rdma::infiniband::AckHeader;
using rdma::infiniband::AckKind;
using rdma::infiniband::BaseHeader;
using rdma::infiniband::CmKind;
using rdma::infiniband::CmMessage;
using rdma::infiniband::CmSubject;
using rdma::infiniband::DatagramHeader;
using rdma::infiniband::kManagementQueuePair;
using rdma::infiniband::kRoceUdpPort;
using rdma::infiniband::Opcode;
using rdma::infiniband::OpcodeTraits;
using rdma::infiniband::Packet;
using rdma::infiniband::PacketHeaders;
using rdma::infiniband::psn_after;
using rdma::infiniband::psn_distance;
using rdma::infiniband::RdmaHeader;
namespace wire = rdma::infiniband;
using namespace software;

}  // namespace steertag::fabric::roce
