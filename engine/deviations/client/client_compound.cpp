// Operations of the client's COMPOUNDs.
#include "deviations/client/client_compound.h"

#include "nfs/v4/compound.h"
#include "rpc/message.h"
#include "wire/xdr.h"

namespace steertag::deviations {

void append_operation(peer::RequestStep& step, nfs4::Opnum number) {
  Bytes& stream = step.request.stream;
  wire::Reader reader(stream);
  rpc::CallHeader header;
  header.decode(reader);
  nfs4::CompoundArgs compound;
  compound.decode(reader);
  if (!reader.ok() || step.request.has_item) return;
  const std::size_t count_at = reader.offset();
  wire::store_u32(stream.data() + count_at, wire::load_u32(stream.data() + count_at) + 1);
  wire::Writer writer(stream);
  writer.u32(static_cast<std::uint32_t>(number));
}

}  // namespace steertag::deviations
