// What changes do to a message that has arrived.
#include "deviations/server/server_change.h"

#include "wire/xdr.h"

namespace steertag::deviations {

void Arriving::refuse() {
  wire::Header error;
  if (message().size() >= 4) error.xid = wire::load_u32(message().data());
  error.credit = peer::kDefaultCredits;
  error.proc = wire::Procedure::error;
  error.error = wire::ErrorCode::chunk;
  Bytes octets;
  wire::encode(error, octets);
  (void)line->send(std::move(octets));
  take();
}

void Arriving::abort() {
  take();
  line->abort();
}

}  // namespace steertag::deviations
