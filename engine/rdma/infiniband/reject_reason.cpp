// The sentences of the reasons.
#include "rdma/infiniband/reject_reason.h"

namespace steertag::rdma::infiniband {

std::string_view reject_reason(std::uint16_t reason) {
  switch (reason) {
    case kRejectedForQueuePairs:
      return "no queue pair is available";
    case kRejectedForResources:
      return "no resources are available";
    case kRejectedForTimeout:
      return "a message timed out";
    case kRejectedAsUnsupported:
      return "the request is unsupported";
    case kRejectedForId:
      return "the communication id is invalid";
    case kRejectedForService:
      return "the service id is invalid";
    case kRejectedForServiceType:
      return "the transport service type is invalid";
    case kRejectedAsStale:
      return "the connection is stale";
    case kRejectedForGid:
      return "the primary path's GID is invalid";
    case kRejectedForMtu:
      return "the path MTU is rejected";
    case kRejectedForResponderResources:
      return "the responder resources are insufficient";
    case kRejectedByConsumer:
      return "the consumer rejected";
    case kRejectedForRnrRetry:
      return "the RNR retry count is rejected";
    case kRejectedAsDuplicate:
      return "the local communication id is a duplicate";
    default:
      return "another reason";
  }
}

}  // namespace steertag::rdma::infiniband
