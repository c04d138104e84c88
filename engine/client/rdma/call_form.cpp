// The form of a call.
#include "client/rdma/call_form.h"

#include "wire/header.h"
#include "wire/xdr.h"

namespace steertag::peer {
namespace {

bool use(Use wish, bool needed) {
  return wish == Use::always || (wish == Use::when_needed && needed);
}

/// Octets of a write chunk in a header: presence word, count, segments.
std::size_t chunk_bytes(std::size_t segments) {
  return 4 + 4 + segments * wire::kSegmentBytes;
}

std::size_t read_chunk_bytes(std::size_t segments) {
  return segments * (4 + wire::kReadSegmentBytes);
}

}  // namespace

CallForm choose_form(const CallSize& size, const FormWish& wish, const wire::Negotiated& limits) {
  CallForm form;
  const std::size_t segments = wish.segments;
  // The reply's header repeats the chunks of the call, so it counts against both thresholds.
  std::size_t header = wire::kSmallestHeaderBytes;

  const nfs::ReplySize& reply = size.reply;
  const bool reply_fits = header + reply.payload <= limits.to_client_bytes;
  std::size_t stream = reply.payload;
  if (reply.eligible > 0 && wish.empty_write_chunk) {
    form.write_chunk = true;
    header += chunk_bytes(0);
  } else if (reply.eligible > 0 &&
             use(wish.write_chunk, !reply_fits || reply.eligible >= wish.chunk_from)) {
    form.write_chunk = true;
    form.write_chunk_bytes = reply.eligible;
    header += size.results * chunk_bytes(segments);
    stream = reply.reduced();
  }
  // RFC 8166 4.3.3: a reply chunk whenever the reply may not fit.
  if (use(wish.reply_chunk, false) || header + stream > limits.to_client_bytes) {
    form.reply_chunk = true;
    form.reply_chunk_bytes = stream;
    header += chunk_bytes(segments) - 4;  // the absent chunk's word is among the 28 octets
  }

  const std::size_t item = wire::roundup4(size.item);
  const bool call_fits = header + size.stream + item <= limits.to_server_bytes;
  std::size_t payload = size.stream + item;
  if (size.has_item && use(wish.read_chunk, !call_fits || size.item >= wish.chunk_from)) {
    form.read_chunk = true;
    header += read_chunk_bytes(segments);
    payload = size.stream;
  }
  if (use(wish.long_call, false) || header + payload > limits.to_server_bytes) {
    form.long_call = true;
    header += read_chunk_bytes(segments);
  }
  form.possible = header <= limits.to_server_bytes;
  return form;
}

}  // namespace steertag::peer
