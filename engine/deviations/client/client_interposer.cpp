// Applies the changes of deviations to the messages of a client.
#include "deviations/client/client_interposer.h"

namespace steertag::deviations {
namespace {

Bytes whole(const peer::CallDeparture& departure) {
  Bytes message;
  if (departure.header_octets) {
    message = *departure.header_octets;
  } else {
    wire::encode(departure.header, message);
  }
  for (std::size_t part = 1; part < departure.parts.size(); ++part)
    message.insert(message.end(), departure.parts[part].begin(), departure.parts[part].end());
  return message;
}

}  // namespace

void ClientInterposer::on_connect(peer::ConnectStep& step) {
  history_.connection = step.number;
  for (const ClientChange& change : changes_) {
    if (change.connect) change.connect(step);
  }
}

void ClientInterposer::on_up(peer::UpStep& step) {
  for (const ClientChange& change : changes_) {
    if (change.up) change.up(step, history_);
  }
  if (!history_.first_limits) history_.first_limits = step.limits;
}

void ClientInterposer::on_request(peer::RequestStep& step) {
  for (const ClientChange& change : changes_) {
    if (change.request) change.request(step, history_);
  }
}

void ClientInterposer::on_form(peer::FormStep& step) {
  for (const ClientChange& change : changes_) {
    if (change.form) change.form(step);
  }
}

void ClientInterposer::on_departure(peer::CallDeparture& departure) {
  DepartingCall call{departure, history_};
  const std::uint32_t xid = departure.header.xid;
  const bool offers_result = !departure.header.write_list.empty();
  for (const ClientChange& change : changes_) {
    change.depart(call);
  }
  if (offers_result) history_.has_unused_chunk = false;
  history_.waiting[xid] = {departure.header, whole(departure), history_.sent++};
}

void ClientInterposer::on_arrival(peer::ClientArrival& arrival) {
  ArrivingMessage arriving{arrival, history_};
  for (const ClientChange& change : changes_) {
    if (change.arrival && !arrival.taken) change.arrival(arriving);
  }
  const auto decoded = decode(arriving.message());
  if (arrival.taken || !decoded || !decoded->is_reply()) return;
  if (!history_.find(decoded->header.xid)) return;
  history_.grant = decoded->header.credit;
  const wire::WriteList& chunks = decoded->header.write_list;
  if (!chunks.empty() && wire::chunk_length(chunks[0]) == 0) history_.has_unused_chunk = true;
}

void ClientInterposer::on_answer(peer::AnswerStep& step) {
  for (const ClientChange& change : changes_) {
    if (change.answer && !step.withheld) change.answer(step, history_);
  }
}

void ClientInterposer::on_ended(std::uint32_t xid) {
  history_.waiting.erase(xid);
  ++history_.ended;
}

void ClientInterposer::on_down() {
  history_.ended_idle = history_.waiting.empty();
  history_.waiting.clear();
}

}  // namespace steertag::deviations
