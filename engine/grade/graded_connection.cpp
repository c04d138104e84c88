// Counts events around the judge, and writes notes for a sink.
#include "grade/graded_connection.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "conformance/rules/rdma_write_read_rules.h"
#include "grade/grader.h"
#include "grade/note_builder.h"
#include "trace/describe.h"

namespace steertag::grade {

namespace {

using conformance::Kind;
using trace::Role;

std::size_t index(Role role) {
  return static_cast<std::size_t>(role);
}

/// A capture shows what passed between the sides, and counts packets.
conformance::Visibility visibility_of_captures() {
  conformance::Visibility visibility;
  visibility.index_counts = "frame";
  return visibility;
}

/// Octets of private data, or nullptr if the event is no opening.
const View* private_data_of(const trace::Body& body) {
  if (const auto* connect = std::get_if<trace::Connect>(&body)) return &connect->private_data;
  if (const auto* accept = std::get_if<trace::Accept>(&body)) return &accept->private_data;
  if (const auto* reject = std::get_if<trace::Reject>(&body)) return &reject->private_data;
  return nullptr;
}

}  // namespace

GradedConnection::GradedConnection(Grader& grader, NoteSink* notes, ConnectionSummary* summary,
                                   const capture::ConnectionName& name, Order order,
                                   Profile profile, conformance::DirectAccess& direct,
                                   conformance::Layouts& layouts)
    : grader_(grader),
      notes_(notes),
      summary_(summary == nullptr ? &own_ : summary),
      judge_(visibility_of_captures(), this, &direct, &layouts),
      order_(order) {
  judge_.set_server_end(name.ends.server);
  if (name.fabric != capture::Fabric::iwarp) pending_.emplace(visibility_of_captures());
  if (profile != Profile::rfc8166) legacy_ = std::make_unique<LegacyJudge>(profile);
}

void GradedConnection::see(const capture::FrameStamp& stamp) {
  stamp_ = stamp;
  // A loss becomes visible after what the other side sent meanwhile.
  if (stamp.frame == 0) return;
  if (stamp.frame < summary_->first.frame) summary_->first = stamp;
  if (stamp.frame > summary_->last.frame) summary_->last = stamp;
}

void GradedConnection::on_event(const capture::FrameStamp& stamp, const trace::Event& event) {
  see(stamp);
  trace::Event seen = event;
  seen.index = stamp.frame;
  seen.time_ns = stamp.time_ns;
  event_ = {event.actor, trace::kind_name(event.body),
            ++event_counts_[index(event.actor)][event.body.index()]};
  std::optional<OperationNote> operation;
  if (notes_ != nullptr) operation = operation_note(seen, judge_.connection());
  judge_.on_event(seen);
  if (const auto* optimistic = judge_.optimistic()) {
    count_direct(*optimistic);
    if (notes_ != nullptr) operation = optimistic_note(seen, *optimistic);
  } else if (legacy_) {
    legacy_->on_event(seen);
  }
  if (pending_ && private_data_of(seen.body) != nullptr) pending_->open(seen);
  if (pending_ && std::holds_alternative<trace::RdmaReadResponse>(seen.body)) {
    pending_->read_response(seen.actor);
  }
  count(seen);
  if (operation) {
    operation->connection = summary_->number;
    operation->stamp = stamp;
    notes_->on_operation(*operation);
  }
  tell_findings(seen);
  if (pending_ && std::holds_alternative<trace::Send>(seen.body)) {
    settle(pending_->decide(seen.actor));
    if (std::exchange(reordered_, false)) forget_history();
  }
  account();
}

/// Reports the size of the judge's state to the grader.
void GradedConnection::account() {
  const conformance::Connection& connection = judge_.connection();
  const std::size_t before = kept_bytes_;
  kept_bytes_ = connection.directions[0].kept_bytes() + connection.directions[1].kept_bytes();
  if (kept_bytes_ != before) grader_.account(before, kept_bytes_);
}

void GradedConnection::on_loss(const capture::FrameStamp& stamp, Role actor,
                               capture::LossKind kind) {
  see(stamp);
  forget_history();
  if (pending_) leave_undecided(pending_->drop());
  LossSummary& loss = summary_->losses[static_cast<std::size_t>(kind)];
  if (loss.count++ == 0) loss.first_frame = stamp.frame;
  loss.first_frame = std::min(loss.first_frame, stamp.frame);
  loss.last_frame = std::max(loss.last_frame, stamp.frame);
  if (notes_ != nullptr) notes_->on_loss({summary_->number, stamp, actor, kind});
  account();
}

void GradedConnection::on_acknowledged(const capture::FrameStamp&, Role actor,
                                       const capture::FrameStamp& up_to) {
  if (pending_) pending_->acknowledged(actor, up_to);
}

void GradedConnection::on_wrong_crcs(Role actor, const capture::PacketTally& packets) {
  summary_->side(actor).wrong_crcs = packets;
}

void GradedConnection::on_message_packet(const capture::FrameStamp&, Role actor, bool in_order) {
  if (!pending_) return;
  if (!in_order) order_ = Order::doubtful;
  pending_->message_packet(actor, in_order);
  reordered_ |= !in_order;
}

/// The judge saw messages in another order than they passed, so their history is no evidence. An
/// answer that came before its call, without a finding, leaves the call open.
void GradedConnection::forget_history() {
  judge_.forget_history();
  if (legacy_) legacy_->forget_history();
  granted_ = {};
}

void GradedConnection::settle(const Decision& decision) {
  for (const PendingFinding& each : decision.confirmed) {
    tell_finding(each.finding, each.stamp, each.event);
  }
  if (decision.undecided == 0) return;
  // Other findings in that order are as doubtful.
  leave_undecided(decision.undecided + pending_->drop());
  forget_history();
}

void GradedConnection::leave_undecided(std::size_t count) {
  summary_->findings_undecided += count;
}

void GradedConnection::on_end(const capture::FrameStamp& stamp) {
  if (pending_) settle(pending_->end());
  see(stamp);
  if (stamp.frame != 0) summary_->ended = true;
  for (const Role role : {Role::client, Role::server}) {
    summary_->direction(role).unanswered = judge_.connection().direction(role).credits.in_flight();
  }
  grader_.close(*this);
}

/// Notes the current Send before the judge sees it.
void GradedConnection::on_message(const conformance::Message& message,
                                  const conformance::Connection& connection) {
  ++summary_->messages[static_cast<std::size_t>(message.kind)];
  grader_.count_message();
  requester_ = requester_of(message);
  if (pending_) note_context(message, connection);
  if (requester_ == message.sender) {
    count_call(message, summary_->direction(message.sender));
  } else if (requester_) {
    count_answer(message, *requester_);
  }
  if (notes_ != nullptr) fill(note_, message, connection);
}

/// Finds the call that the message answers, or the findings that it may explain.
void GradedConnection::note_context(const conformance::Message& message,
                                    const conformance::Connection& connection) {
  const bool answer = requester_ && requester_ != message.sender;
  answered_xid_ = answer ? std::optional(message.words.xid) : std::nullopt;
  answers_seen_call_ = false;
  if (!answer) pending_->explain(message);
  if (message.kind == Kind::call) return;
  const Role requester = trace::other(message.sender);
  const conformance::Call* call = connection.direction(requester).calls.find(message.words.xid);
  answers_seen_call_ = call != nullptr && call->answers > 0;
}

void GradedConnection::count_call(const conformance::Message& message,
                                  DirectionSummary& direction) {
  ++direction.calls;
  direction.largest_requested = std::max(direction.largest_requested, message.words.credit);
  const wire::Header& header = *message.header;
  direction.read_segments += header.read_list.size();
  if (conformance::position_zero_length(header)) ++direction.position_zero_chunks;
  direction.write_chunks += header.write_list.size();
  if (header.has_reply_chunk) ++direction.reply_chunks;
}

void GradedConnection::count_answer(const conformance::Message& message, Role requester) {
  DirectionSummary& direction = summary_->direction(requester);
  ++(message.kind == Kind::reply ? direction.replies : direction.errors);
  const std::uint32_t grant = message.words.credit;
  direction.largest_granted = std::max(direction.largest_granted, grant);
  direction.last_granted = grant;
  // RFC 8166 3.3.1: a grant of zero has no meaning.
  if (grant != 0) granted_[index(requester)] = grant;
}

void GradedConnection::count(const trace::Event& event) {
  SideSummary& side = summary_->side(event.actor);
  if (const auto* send = std::get_if<trace::Send>(&event.body)) {
    ++side.sends;
    side.send_bytes += send->bytes.size();
    if (send->invalidated) ++side.invalidating_sends;
    if (judge_.optimistic() == nullptr) tell_message();
  } else if (const auto* write = std::get_if<trace::RdmaWrite>(&event.body)) {
    side.placed_bytes += write->length;
  } else if (std::holds_alternative<trace::RdmaRead>(event.body)) {
    ++side.reads;
  } else if (const auto* response = std::get_if<trace::RdmaReadResponse>(&event.body)) {
    summary_->side(trace::other(event.actor)).read_bytes += response->length;
  } else if (std::holds_alternative<trace::Terminate>(event.body)) {
    ++side.terminates;
  } else if (const auto* disconnect = std::get_if<trace::Disconnect>(&event.body)) {
    summary_->ended = true;
    summary_->ended_clean = disconnect->clean;
  } else {
    tell_opening(event);
  }
}

void GradedConnection::count_direct(const conformance::OptimisticConnection& connection) {
  if (!summary_->optimistic) summary_->optimistic.emplace();
  OptimisticSummary& optimistic = *summary_->optimistic;
  if (connection.user() != nullptr) optimistic.hello_frame = connection.user()->hello_event;
  const conformance::OptimisticRead* read = connection.latest();
  if (read == nullptr || read->state == conformance::ReadState::waiting) return;
  ++optimistic.reads[static_cast<std::size_t>(read->state)];
}

void GradedConnection::tell_opening(const trace::Event& event) {
  const View* octets = private_data_of(event.body);
  if (octets == nullptr) return;
  const conformance::Connection& connection = judge_.connection();
  const auto found = wire::find_private_data(*octets);
  const bool rejected = std::holds_alternative<trace::Reject>(event.body);
  SideSummary& side = summary_->side(event.actor);
  summary_->rejected |= rejected;
  side.opening_seen = true;
  if (found) side.announced = found->data;
  if (connection.established()) {
    summary_->negotiated = wire::negotiate(connection.private_data[0], connection.private_data[1]);
  }
  if (notes_ == nullptr) return;
  notes_->on_opening({summary_->number, stamp_, event.actor, rejected, *octets, found,
                      judge_.optimistic() != nullptr, summary_->negotiated});
}

/// Notes the current Send after the judge saw it.
void GradedConnection::tell_message() {
  const conformance::DirectMessage& direct = judge_.direct_calls().latest();
  summary_->references += direct.references;
  if (direct.fallback) ++summary_->fallbacks;
  std::uint64_t in_flight = 0;
  if (requester_) {
    in_flight = judge_.connection().direction(*requester_).credits.in_flight();
    std::uint64_t& most = summary_->direction(*requester_).most_in_flight;
    most = std::max(most, in_flight);
  }
  if (notes_ == nullptr) return;
  note_.connection = summary_->number;
  note_.stamp = stamp_;
  note_.calls_in_flight = in_flight;
  note_.granted = requester_ ? granted_[index(*requester_)] : std::nullopt;
  note_.direct = direct;
  note_.threshold_bytes.reset();
  if (const auto& negotiated = summary_->negotiated) {
    note_.threshold_bytes =
        note_.sender == Role::client ? negotiated->to_server_bytes : negotiated->to_client_bytes;
  }
  notes_->on_message(note_);
}

void GradedConnection::take_findings() {
  judge_.take_findings(found_);
  if (legacy_) legacy_->take_findings(found_);
}

/// Takes the findings on the current event. The judge opens findings on the latest event only.
void GradedConnection::tell_findings(const trace::Event& event) {
  take_findings();
  if (found_.empty()) return;
  const bool doubtful = pending_ && order_ == Order::doubtful;
  if (doubtful && !legacy_) pending_->ask(event);
  for (conformance::Finding& finding : found_) {
    if (doubtful && !pending_->needs_no_history(finding)) {
      hold(std::move(finding), event);
    } else {
      tell_finding(finding, stamp_, event_);
    }
  }
  const std::size_t dropped = legacy_ ? legacy_->dropped_findings() : judge_.dropped_findings();
  const std::size_t lost = std::exchange(lost_findings_, dropped);
  if (doubtful) {
    leave_undecided(lost_findings_ - lost);
  } else {
    grader_.count_lost(lost_findings_ - lost);
  }
}

void GradedConnection::hold(conformance::Finding finding, const trace::Event& event) {
  PendingFinding pending;
  pending.stamp = stamp_;
  pending.event = event_;
  if (const auto* send = std::get_if<trace::Send>(&event.body)) {
    pending.possible_cause = {answered_xid_, send->invalidated};
    // RFC 8166 2.3.2: a reply waits for the other side's responses.
    pending.awaits_responses = finding.rule == conformance::kReplyAwaitsTheReads.name;
    pending.paired = answers_seen_call_ && !pending.awaits_responses;
  } else if (const auto* write = std::get_if<trace::RdmaWrite>(&event.body)) {
    pending.possible_cause.stag = write->stag;
  } else if (const auto* read = std::get_if<trace::RdmaRead>(&event.body)) {
    pending.possible_cause.stag = read->source_stag;
  }
  pending.finding = std::move(finding);
  if (!pending_->hold(std::move(pending))) leave_undecided(1);
}

void GradedConnection::tell_finding(const conformance::Finding& finding,
                                    const capture::FrameStamp& stamp, const EventName& event) {
  ++summary_->findings_in_all;
  count_by_rule(summary_->findings, finding, stamp.frame);
  const FindingNote note{summary_->number, stamp, &finding, event};
  grader_.count(note);
  if (findings_listed_ < kMostFindingsListed) {
    ++findings_listed_;
    grader_.keep(note);
  } else {
    ++summary_->findings_dropped;
  }
  if (notes_ != nullptr) notes_->on_finding(note);
}

}  // namespace steertag::grade
