// Encoding and decoding of the header of management datagrams.
#include "rdma/infiniband/mad.h"

#include "rdma/octets.h"

namespace steertag::rdma::infiniband {

MadHeader decode_mad_header(const std::byte* from) {
  MadHeader header;
  header.base_version = load8(from);
  header.management_class = load8(from + 1);
  header.class_version = load8(from + 2);
  header.method = load8(from + 3);
  header.status = load16(from + 4);
  header.class_specific = load16(from + 6);
  header.transaction = load64(from + 8);
  header.attribute = load16(from + 16);
  header.modifier = load32(from + 20);
  return header;
}

void encode(const MadHeader& header, std::byte* to) {
  store8(to, header.base_version);
  store8(to + 1, header.management_class);
  store8(to + 2, header.class_version);
  store8(to + 3, header.method);
  store16(to + 4, header.status);
  store16(to + 6, header.class_specific);
  store64(to + 8, header.transaction);
  store16(to + 16, header.attribute);
  store16(to + 18, 0);
  store32(to + 20, header.modifier);
}

}  // namespace steertag::rdma::infiniband
