// What the changes of a client share.
#include "deviations/client/client_change.h"

#include <algorithm>

#include "mutate/catalogue.h"

namespace steertag::deviations {

SentCall* ClientHistory::find(std::uint32_t xid) {
  const auto found = waiting.find(xid);
  return found == waiting.end() ? nullptr : &found->second;
}

std::optional<std::uint32_t> ClientHistory::oldest() const {
  const auto first =
      std::ranges::min_element(waiting, {}, [](const auto& entry) { return entry.second.number; });
  return first == waiting.end() ? std::nullopt : std::optional(first->first);
}

bool calls(const DepartingCall& /*call*/) {
  return true;
}

bool calls_of_small_thresholds(const DepartingCall& call) {
  return is_small(call.step.limits);
}

/// What still decodes stays in `header`, against which the reply is checked.
void DepartingCall::mutate(std::string_view mutation) const {
  wire::Draft draft =
      step.header_octets ? wire::draft_of(*step.header_octets) : wire::Draft::from(step.header, {});
  if (!mutate::apply_mutation(draft, mutation)) return;
  Bytes octets;
  wire::encode(draft, octets);
  wire::Header changed;
  if (wire::decode(octets, changed)) {
    step.header = std::move(changed);
    step.header_octets.reset();
  } else {
    step.header_octets = std::move(octets);
  }
}

void ArrivingMessage::mutate(std::string_view mutation) const {
  Bytes octets(message().begin(), message().end());
  if (mutate::apply_mutation(octets, mutation)) replace(std::move(octets));
}

void ClientChange::depart(DepartingCall& call) const {
  if (mutation.of && mutation.of(call)) call.mutate(mutation.name);
  if (departure) departure(call);
}

void ArrivingMessage::fail(std::uint32_t xid) const {
  replace(error_message(xid, step.granted));
}

bool is_small(const wire::Negotiated& limits) {
  return limits.to_server_bytes == wire::kDefaultInlineBytes;
}

Bytes error_message(std::uint32_t xid, std::uint32_t credit) {
  wire::Header header;
  header.xid = xid;
  header.credit = credit;
  header.proc = wire::Procedure::error;
  header.error = wire::ErrorCode::chunk;
  Bytes message;
  wire::encode(header, message);
  return message;
}

bool Decoded::is_call() const {
  return header.proc == wire::Procedure::msg && rpc::direction(payload) == rpc::MessageType::CALL;
}

bool Decoded::is_reply() const {
  return header.proc == wire::Procedure::nomsg ||
         (header.proc == wire::Procedure::msg &&
          rpc::direction(payload) == rpc::MessageType::REPLY);
}

std::optional<Decoded> decode(View message) {
  Decoded decoded;
  const auto payload = wire::decode(message, decoded.header);
  if (!payload) return std::nullopt;
  decoded.payload = *payload;
  return decoded;
}

bool has_procedure(const ArrivingMessage& arriving, wire::Procedure procedure) {
  const auto words = wire::peek(arriving.message());
  return words && words->proc == static_cast<std::uint32_t>(procedure);
}

bool is_bad_reply(const ArrivingMessage& arriving) {
  return arriving.message().size() >= wire::kSmallestHeaderBytes && !decode(arriving.message()) &&
         !has_procedure(arriving, wire::Procedure::error);
}

bool is_short(const ArrivingMessage& arriving) {
  return arriving.message().size() < wire::kSmallestHeaderBytes &&
         !has_procedure(arriving, wire::Procedure::error);
}

bool is_bad_error(const ArrivingMessage& arriving) {
  return has_procedure(arriving, wire::Procedure::error) && !decode(arriving.message());
}

bool is_server_call(const ArrivingMessage& arriving) {
  const auto decoded = decode(arriving.message());
  return decoded && decoded->is_call();
}

bool is_unexpected(const ArrivingMessage& arriving) {
  const auto decoded = decode(arriving.message());
  return decoded && decoded->header.proc != wire::Procedure::error && !decoded->is_call() &&
         !arriving.history.find(decoded->header.xid);
}

}  // namespace steertag::deviations
