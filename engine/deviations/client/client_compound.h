// Changes operations of the client's COMPOUNDs: their arguments in calls, their results in replies.
#pragma once

#include "deviations/client/client_change.h"
#include "deviations/server/compound.h"

namespace steertag::deviations {

/// `change(Args&)` of the first operation of that number. An eligible argument stays apart.
template <class Args, class Change>
void change_request(peer::RequestStep& step, nfs4::Opnum number, Change change) {
  Bytes& stream = step.request.stream;
  const auto span = find_arguments(stream, number);
  const auto octets = changed<Args>(stream, span, change);
  if (!octets) return;
  const auto begin = stream.begin() + static_cast<std::ptrdiff_t>(span->begin);
  const auto end = stream.begin() + static_cast<std::ptrdiff_t>(span->end);
  Bytes made(stream.begin(), begin);
  made.insert(made.end(), octets->begin(), octets->end());
  made.insert(made.end(), end, stream.end());
  stream = std::move(made);
}

/// `change(Result&)` of the first result of that number, in a reply that is inline. The result
/// keeps its length.
template <class Result, class Change>
void change_arrived(ArrivingMessage& arriving, nfs4::Opnum number, Change change) {
  Bytes message(arriving.message().begin(), arriving.message().end());
  const auto decoded = decode(message);
  if (!decoded || decoded->header.proc != wire::Procedure::msg || !decoded->is_reply()) return;
  const auto span = find_result(decoded->payload, number);
  if (!span) return;
  wire::Reader reader(decoded->payload.subspan(span->begin, span->end - span->begin));
  Result result{};
  result.decode(reader);
  if (!reader.ok() || result.status != nfs4::Status::NFS4_OK) return;
  change(decoded->header.xid, result.resok4);
  Bytes after;
  wire::Writer writer(after);
  result.encode(writer);
  if (after.size() != span->end - span->begin) return;
  const std::size_t payload_at = message.size() - decoded->payload.size();
  std::ranges::copy(after, message.begin() + static_cast<std::ptrdiff_t>(payload_at + span->begin));
  arriving.replace(std::move(message));
}

/// Adds an operation without arguments behind the last.
void append_operation(peer::RequestStep& step, nfs4::Opnum number);

}  // namespace steertag::deviations
