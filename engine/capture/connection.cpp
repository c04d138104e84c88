// Names of fabrics and losses.
#include "capture/connection.h"

namespace steertag::capture {

std::string_view name(Fabric fabric) {
  switch (fabric) {
    case Fabric::iwarp:
      return "iWARP";
    case Fabric::rocev2:
      return "RoCEv2";
    case Fabric::infiniband:
      return "InfiniBand";
  }
  return "unknown fabric";
}

std::string_view sentence(LossKind kind) {
  switch (kind) {
    case LossKind::joined:
      return "the capture begins in the middle of the connection";
    case LossKind::missing:
      return "packets are missing in the capture";
    case LossKind::cut:
      return "packets are cut in the capture";
    case LossKind::damaged:
      return "octets that are no frame of the protocol";
    case LossKind::overflow:
      return "more would have to be kept than the limits allow";
  }
  return "unknown loss";
}

}  // namespace steertag::capture
