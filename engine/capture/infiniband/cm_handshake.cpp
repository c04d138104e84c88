// Copies the consumer's private data out of messages of the connection manager.
#include "capture/infiniband/cm_handshake.h"

#include "rdma/infiniband/ip_service.h"

namespace steertag::capture::infiniband {

namespace ib = rdma::infiniband;

KeptPrivateData::KeptPrivateData(const ib::CmMessage& message)
    : whole(message.private_data.size() == ib::layout(message.kind).private_data) {
  View data = message.private_data;
  if (message.kind == ib::CmKind::connect_request) data = ib::consumer_data(message.service, data);
  octets.assign(data.begin(), data.end());
}

}  // namespace steertag::capture::infiniband
