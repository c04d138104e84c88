// Applies the changes of deviations to the messages of a server.
#include "deviations/server_interposer.h"

#include <algorithm>

namespace steertag::deviations {
namespace {

Bytes joined(std::span<const View> parts) {
  Bytes whole;
  for (const View part : parts) whole.insert(whole.end(), part.begin(), part.end());
  return whole;
}

Departing as_values(const peer::Departure& departure) {
  Departing departing;
  departing.kind = departure.kind;
  departing.call = departure.call;
  departing.rpc_call = departure.rpc_call;
  departing.draft = wire::draft_of(joined(departure.parts));
  for (const peer::RemoteWrite& write : departure.writes)
    departing.writes.push_back(
        {Bytes(write.from.begin(), write.from.end()), write.stag, write.offset});
  departing.invalidate = departure.invalidate;
  return departing;
}

/// An operation that fails ends the connection, and the server learns it from there.
void post(peer::Line& line, Departing departing) {
  const auto writes = [&] {
    for (Departing::Write& write : departing.writes)
      (void)line.write(std::move(write.octets), write.stag, write.offset);
  };
  if (!departing.writes_last) writes();
  Bytes message;
  wire::encode(departing.draft, message);
  (void)line.send(std::move(message), departing.invalidate);
  if (departing.writes_last) writes();
  for (Bytes& send : departing.sends_after) (void)line.send(std::move(send));
  for (const Departing::Read& read : departing.reads_after)
    (void)line.read(read.stag, read.offset, read.length);
}

/// An STag that the client offered with the call: of its write list, else its read list, else its
/// reply chunk.
std::optional<std::uint32_t> offered_stag(const wire::Header& call) {
  if (call.write_list.segment_count() > 0 && !call.write_list[0].empty())
    return call.write_list[0].front().handle;
  if (!call.read_list.empty()) return call.read_list.front().target.handle;
  if (!call.reply_chunk.empty()) return call.reply_chunk.front().handle;
  return std::nullopt;
}

}  // namespace

void ServerInterposer::on_request(View private_data, peer::AcceptStep& step) {
  for (const ServerChange& change : changes_) {
    if (change.accept) change.accept(private_data, step);
  }
}

void ServerInterposer::on_arrival(const std::shared_ptr<peer::Line>& /*line*/,
                                  peer::Arrival& arrival) {
  for (const ServerChange& change : changes_) {
    if (change.arrival && !arrival.taken) change.arrival(arrival);
  }
}

void ServerInterposer::on_call(peer::CallStep& call) {
  for (const ServerChange& change : changes_) {
    if (change.call && !call.outcome) change.call(call);
  }
}

void ServerInterposer::on_reply(peer::ReplyStep& reply) {
  for (const ServerChange& change : changes_) {
    if (change.reply && reply.outcome == peer::Outcome::reply) change.reply(reply);
  }
}

bool ServerInterposer::on_departure(const std::shared_ptr<peer::Line>& line,
                                    const peer::Departure& departure) {
  const bool any = std::ranges::any_of(
      changes_, [](const ServerChange& change) { return change.departure != nullptr; });
  if (!any) return false;
  History& history = histories_[line->number()];
  Departing departing = as_values(departure);
  departing.history = &history;
  for (const ServerChange& change : changes_) {
    if (change.departure && !departing.withheld) change.departure(departing);
  }
  if (departing.is_reply()) {
    ++history.replies;
    if (const auto stag = offered_stag(*departing.call)) history.earlier_stag = stag;
  }
  if (!departing.withheld) post(*line, std::move(departing));
  return true;
}

void ServerInterposer::on_down(const std::shared_ptr<peer::Line>& line,
                               const fabric::CloseReason& /*reason*/) {
  histories_.erase(line->number());
}

}  // namespace steertag::deviations
