// Any buffer: private data is found only with all eight octets, and has their values.
#include "wire/private_data.h"

#include <algorithm>

#include "wire/fuzz/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace steertag;
  const View buffer = fuzz::view_of(data, size);
  const auto found = wire::find_private_data(buffer);
  if (!found) return 0;
  fuzz::check(found->offset + wire::kPrivateDataBytes <= size);

  wire::PrivateDataDraft draft;
  draft.flags = found->raw_flags;
  draft.send_size = wire::encode_size(found->data.send_bytes);
  draft.receive_size = wire::encode_size(found->data.receive_bytes);
  Bytes again;
  wire::encode(draft, again);
  fuzz::check(std::ranges::equal(again, buffer.subspan(found->offset, wire::kPrivateDataBytes)));

  const wire::Negotiated result = wire::negotiate(found->data, found->data);
  fuzz::check(result.to_server_bytes >= wire::kDefaultInlineBytes);
  fuzz::check(result.to_server_bytes <= wire::kLargestInlineBytes);
  fuzz::check(result.to_client_bytes == result.to_server_bytes);
  return 0;
}
