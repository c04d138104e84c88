// Changes one operation of a COMPOUND of NFS version 4: its arguments or its result.
// The arguments are in a call, the result is in a reply.
#pragma once

#include <optional>

#include "nfs/v4/operations.h"
#include "server/interposer.h"

namespace steertag::deviations {

/// Where an operation's arguments or result stand in an RPC message, behind the number.
struct OperationSpan {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::uint32_t index = 0;  // in the argarray or resarray
};

/// The first operation of that number. Nothing if the message is no COMPOUND, or if an operation
/// before it does not decode.
std::optional<OperationSpan> find_arguments(View call, nfs4::Opnum wanted);
std::optional<OperationSpan> find_result(View reply, nfs4::Opnum wanted);

/// The call as earlier changes have left it.
inline View message_of(const peer::CallStep& call) {
  return call.instead ? View(*call.instead) : call.message;
}

void replace_arguments(peer::CallStep& call, const OperationSpan& span, const Bytes& octets);
/// A result with an error becomes the last one. The status of the last one is the COMPOUND's.
void replace_result(peer::ReplyStep& reply, const OperationSpan& span, const Bytes& octets);

/// Answers the call with one result, the status of its first operation. Nothing is executed.
void refuse(peer::CallStep& call, nfs4::Opnum first, nfs4::Status status);

/// Operations that the argarray of a COMPOUND claims to have; 0 if the call is none.
std::uint32_t operation_count(View call);
/// Cuts off the operations behind the first one, if that has this number.
void keep_first_alone(peer::CallStep& call, nfs4::Opnum first);
/// Nothing if the message is no reply to a COMPOUND.
std::optional<nfs4::Status> compound_status(View reply);

/// What stands there, with views into the message.
template <class Value>
std::optional<Value> decoded(View message, const std::optional<OperationSpan>& span) {
  if (!span) return std::nullopt;
  wire::Reader reader(message.subspan(span->begin, span->end - span->begin));
  Value value{};
  value.decode(reader);
  return reader.ok() ? std::optional(std::move(value)) : std::nullopt;
}

template <class Args>
std::optional<Args> arguments_of(View call, nfs4::Opnum number) {
  return decoded<Args>(call, find_arguments(call, number));
}

template <class Result>
std::optional<Result> result_of(View reply, nfs4::Opnum number) {
  return decoded<Result>(reply, find_result(reply, number));
}

/// The octets of what stands there after `change(Value&)`; nothing if it does not decode.
template <class Value, class Change>
std::optional<Bytes> changed(View message, const std::optional<OperationSpan>& span,
                             Change change) {
  auto value = decoded<Value>(message, span);
  if (!value) return std::nullopt;
  change(*value);
  Bytes octets;
  wire::Writer writer(octets);
  value->encode(writer);
  return octets;
}

/// `change(Args&)` of the first operation of that number.
template <class Args, class Change>
void change_arguments(peer::CallStep& call, nfs4::Opnum number, Change change) {
  const auto span = find_arguments(message_of(call), number);
  if (const auto octets = changed<Args>(message_of(call), span, change))
    replace_arguments(call, *span, *octets);
}

/// `change(Result&)` of the first result of that number.
template <class Result, class Change>
void change_result(peer::ReplyStep& reply, nfs4::Opnum number, Change change) {
  const auto span = find_result(reply.reply.stream(), number);
  if (const auto octets = changed<Result>(reply.reply.stream(), span, change))
    replace_result(reply, *span, *octets);
}

}  // namespace steertag::deviations
