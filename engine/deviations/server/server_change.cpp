// What changes do to messages that have arrived, or are about to leave.
#include "deviations/server/server_change.h"

#include "mutate/catalogue.h"
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
  (void)connection->send(std::move(octets));
  take();
}

void Arriving::abort() {
  take();
  connection->abort();
}

void Arriving::mutate(std::string_view mutation) {
  Bytes octets(message().begin(), message().end());
  if (mutate::apply_mutation(octets, mutation)) replace(std::move(octets));
}

void Departing::mutate(std::string_view mutation) {
  (void)mutate::apply_mutation(draft, mutation);
}

bool replies(const Departing& departing) {
  return departing.is_reply();
}

bool inline_replies(const Departing& departing) {
  return departing.is_reply() &&
         departing.draft.proc == static_cast<std::uint32_t>(wire::Procedure::msg);
}

bool version_errors(const Departing& departing) {
  return departing.is_error(wire::ErrorCode::vers);
}

bool chunk_errors(const Departing& departing) {
  return departing.is_error(wire::ErrorCode::chunk);
}

bool callbacks(const Departing& departing) {
  return departing.is_callback();
}

bool recalls(const Departing& departing) {
  constexpr std::size_t kSmallestRecall = 128;
  return departing.is_callback() && departing.draft.payload.size() >= kSmallestRecall;
}

void ServerChange::depart(Departing& departing) const {
  if (mutation.of && mutation.of(departing)) departing.mutate(mutation.name);
  if (departure) departure(departing);
}

}  // namespace steertag::deviations
