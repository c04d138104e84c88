// Private data as the consumer gave it.
#include "capture/infiniband/exchange.h"

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
