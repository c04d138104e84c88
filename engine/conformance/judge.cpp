// Calls the rules for each event in order, then changes the state.
#include "conformance/judge.h"

#include <utility>
#include <variant>

#include "conformance/connection_state.h"
#include "conformance/direct/direct_access.h"
#include "conformance/direct/direct_calls.h"
#include "conformance/direct/optimistic_connection.h"
#include "conformance/message.h"
#include "conformance/message_observer.h"
#include "conformance/pnfs/layout_calls.h"
#include "conformance/rules/binding_rules.h"
#include "conformance/rules/chunk_rules.h"
#include "conformance/rules/connection_rules.h"
#include "conformance/rules/credit_rules.h"
#include "conformance/rules/error_rules.h"
#include "conformance/rules/form_rules.h"
#include "conformance/rules/header_rules.h"
#include "conformance/rules/invalidation_rules.h"
#include "conformance/rules/private_data_rules.h"
#include "conformance/rules/rdma_write_read_rules.h"
#include "conformance/rules/returned_chunk_rules.h"
#include "conformance/rules/threshold_rules.h"
#include "conformance/rules/xid_rules.h"
#include "wire/direct_format.h"
#include "wire/draft.h"
#include "wire/xdr.h"

namespace steertag::conformance {

struct Judge::State {
  State(Visibility visibility, MessageObserver* watcher, DirectAccess* shared_access,
        Layouts* shared_layouts)
      : connection(visibility),
        observer(watcher),
        own_access(shared_access == nullptr ? std::make_unique<DirectAccess>() : nullptr),
        access(shared_access == nullptr ? *own_access : *shared_access),
        direct_calls(access),
        own_layouts(shared_layouts == nullptr ? std::make_unique<Layouts>() : nullptr),
        layout_calls(shared_layouts == nullptr ? *own_layouts : *shared_layouts) {}

  void on_event(const trace::Event& event);

  void on(const trace::Event& event, const trace::Connect& body);
  void on(const trace::Event& event, const trace::Accept& body);
  void on(const trace::Event& event, const trace::Reject& body);
  void on(const trace::Event& event, const trace::Send& body);
  void on(const trace::Event& event, const trace::RdmaWrite& body);
  void on(const trace::Event& event, const trace::RdmaRead& body);
  void on(const trace::Event& event, const trace::RdmaReadResponse& body);
  void on(const trace::Event& event, const trace::MemoryOffered& body);
  void on(const trace::Event& event, const trace::MemoryInvalidated& body);
  void on(const trace::Event& event, const trace::ReceivePosted& body);
  void on(const trace::Event& event, const trace::Terminate& body);
  void on(const trace::Event& event, const trace::Disconnect& body);
  void on(const trace::Event& event, const trace::RdmaReadRefused& body);

  void judge(const Message& message);
  void on_call(const Message& message);
  void on_reply(const Message& message);
  void on_error(const Message& message);
  void on_faulty(const Message& message);
  void on_discardable(const Message& message, Discard discard);

  /// The direction of the calls that a side answers, and the direction of its own calls.
  Direction& answered_by(trace::Role sender) { return connection.direction(trace::other(sender)); }
  Call* record(Direction& direction, std::uint32_t xid);
  void remember(const Message& message, std::optional<RpcCall> rpc, bool legal);
  void tolerate(Direction& direction, std::uint32_t xid, const Message& message);
  void doubt(Direction& direction, std::uint32_t xid);
  bool adds_chunks(const Message& reply, const Call& call) const;
  void consume(Direction& direction, Call& call, std::uint32_t grant);

  Connection connection;
  MessageObserver* observer;
  wire::Header scratch;
  std::unique_ptr<DirectAccess> own_access;
  DirectAccess& access;
  DirectCalls direct_calls;
  std::unique_ptr<Layouts> own_layouts;
  LayoutCalls layout_calls;
  std::unique_ptr<OptimisticConnection> optimistic;
};

namespace {

/// Reads the lists of a message that does not decode, as far as possible.
void read_leniently(View bytes, wire::Header& header) {
  const wire::Draft draft = wire::draft_of(bytes);
  header.clear();
  for (const wire::DraftReadEntry& each : draft.read_list) {
    if (!each.omit_body) header.read_list.push_back(each.segment);
  }
  for (const wire::DraftChunk& each : draft.write_list) header.write_list.add(each.segments);
  header.has_reply_chunk = draft.reply_chunk.has_value();
  if (draft.reply_chunk) header.reply_chunk = draft.reply_chunk->segments;
}

}  // namespace

/// The record of an XID, or a fresh one. Without room, the direction's history is incomplete.
Call* Judge::State::record(Direction& direction, std::uint32_t xid) {
  Call* call = direction.calls.find(xid);
  if (call == nullptr) call = direction.calls.insert(xid);
  if (call == nullptr) direction.history_incomplete = true;
  return call;
}

/// Records a call and the memory that it offers. Moves the header to the record.
void Judge::State::remember(const Message& message, std::optional<RpcCall> rpc, bool legal) {
  Direction& direction = connection.direction(message.sender);
  Call* call = record(direction, message.words.xid);
  if (call == nullptr) return;
  ++call->messages;
  ++call->answers;
  call->event = message.event;
  call->time_ns = message.time_ns;
  call->vers = message.words.vers;
  call->discard = Discard::none;
  call->faulty |= !legal;
  call->rpc = rpc;
  std::swap(call->header, *message.header);
  direction.add_segments(*call);
  if (!legal || call->messages != 1) return;
  call->counted = true;
  direction.credits.call_sent();
}

/// Any answer of the other side under this XID is allowed.
void Judge::State::tolerate(Direction& direction, std::uint32_t xid, const Message& message) {
  Call* call = record(direction, xid);
  if (call == nullptr) return;
  ++call->messages;
  ++call->answers;
  call->event = message.event;
  call->time_ns = message.time_ns;
  call->vers = message.words.vers;
  call->discard = Discard::none;
  call->faulty = true;
}

/// An illegal message may have answered the call. Its credit is free, and later answers are
/// allowed.
void Judge::State::doubt(Direction& direction, std::uint32_t xid) {
  Call* call = direction.calls.find(xid);
  if (call == nullptr || call->answers == 0) return;
  direction.release_credit(*call);
  call->doubtful = true;
}

/// Whether a client's reply has chunks that the server's call did not offer. A server may read them
/// as a call's chunks, and refuse it as a call.
bool Judge::State::adds_chunks(const Message& reply, const Call& call) const {
  if (reply.sender != trace::Role::client) return false;
  const wire::Header& header = *reply.header;
  return !header.read_list.empty() || header.write_list.size() > call.header.write_list.size() ||
         (header.has_reply_chunk && !call.header.has_reply_chunk);
}

/// One answer to the call was sent.
void Judge::State::consume(Direction& direction, Call& call, std::uint32_t grant) {
  direction.release_credit(call);
  direction.credits.grant(grant);
  if (--call.answers == 0) direction.retire(call);
}

void Judge::State::on_call(const Message& message) {
  Direction& direction = connection.direction(message.sender);
  direction.used = true;
  const bool same_xid = check_rpc_xid(message, connection);
  const bool legal = check_call_form(message, connection) && same_xid;
  check_call_chunks(message, connection);
  check_threshold(message, connection);
  check_invalidation(message, nullptr, connection);
  const std::optional<RpcCall> rpc = read_rpc_call(message);
  if (rpc) check_call_binding(message, *rpc, connection);
  if (rpc) direct_calls.on_call(message, *rpc, connection);
  if (rpc) layout_calls.on_call(message, *rpc, connection);

  const Call* earlier = direction.calls.find(message.words.xid);
  check_unique(message, earlier, connection);
  const bool fresh = earlier == nullptr || earlier->answers == 0;
  if (fresh && legal) check_call_credits(message, connection);
  // RFC 8166 4.2.1: a receiver may use either XID.
  if (!same_xid) tolerate(direction, wire::load_u32(message.payload.data()), message);
  remember(message, rpc, legal);
}

void Judge::State::on_reply(const Message& message) {
  Direction& direction = answered_by(message.sender);
  check_threshold(message, connection);
  check_reply_read_list(message, connection);
  direct_calls.on_reply(message, connection);
  layout_calls.on_reply(message, connection);
  Call* call = direction.calls.find(message.words.xid);
  if (call == nullptr || call->answers == 0) {
    check_unexpected_reply(message, call, connection);
    if (message.inline_payload()) doubt(direction, wire::load_u32(message.payload.data()));
    check_invalidation(message, nullptr, connection);
    direction.credits.grant(message.words.credit);
    check_grant(message, connection);
    tolerate(connection.direction(message.sender), message.words.xid, message);
    return;
  }
  if (!call->faulty) {
    if (!check_rpc_xid(message, connection)) {
      doubt(direction, wire::load_u32(message.payload.data()));
    }
    check_reply_form(message, connection);
  }
  check_invalidation(message, call, connection);
  check_reads_done(message.event, message.sender, *call, connection);
  if (call->clear()) {
    check_returned_chunks(message, *call, connection);
    check_reply_binding(message, *call, connection);
  }
  const bool like_a_call = adds_chunks(message, *call);
  consume(direction, *call, message.words.credit);
  check_grant(message, connection);
  if (like_a_call) remember(message, std::nullopt, false);
}

void Judge::State::on_error(const Message& message) {
  Direction& direction = answered_by(message.sender);
  check_error_shape(message, connection);
  check_threshold(message, connection);
  Call* call = direction.calls.find(message.words.xid);
  if (call != nullptr && call->answers > 0) {
    check_error_request(message, *call, connection);
    check_invalidation(message, call, connection);
    check_reads_done(message.event, message.sender, *call, connection);
    consume(direction, *call, message.words.credit);
    check_grant(message, connection);
    return;
  }
  check_unexpected_error(message, call, connection);
  direction.credits.grant(message.words.credit);
  if (message.sender == trace::Role::server) return check_grant(message, connection);
  if (message.words.vers == wire::kVersion) return on_discardable(message, Discard::error);
  // Another version: discarded because of its procedure, or answered because of its version.
  tolerate(connection.direction(message.sender), message.words.xid, message);
}

/// A peer may take such a message for a call, and for an answer.
void Judge::State::on_faulty(const Message& message) {
  Direction& own = connection.direction(message.sender);
  own.used |= message.sender == trace::Role::client;
  check_threshold(message, connection);
  Direction& others = answered_by(message.sender);
  doubt(others, message.words.xid);
  others.credits.grant(message.words.credit);

  if (message.fault.code == wire::FaultCode::limit_exceeded) {
    own.history_incomplete = true;
    return;
  }
  if (message.fault) read_leniently(message.bytes, *message.header);
  const bool rpc_xid = !message.fault && message.payload.size() >= 4;
  if (rpc_xid && wire::load_u32(message.payload.data()) != message.words.xid) {
    tolerate(own, wire::load_u32(message.payload.data()), message);
  }
  remember(message, std::nullopt, false);
}

void Judge::State::on_discardable(const Message& message, Discard discard) {
  if (message.bytes.size() < 4) return;
  Direction& direction = connection.direction(message.sender);
  Call* call = record(direction, wire::load_u32(message.bytes.data()));
  if (call == nullptr || call->answers > 0) return;
  call->discard = discard;
  call->event = message.event;
  call->time_ns = message.time_ns;
}

void Judge::State::on(const trace::Event& event, const trace::Send& body) {
  connection.begin();
  check_after_terminate(event, connection);
  ++connection.receives(trace::other(event.actor)).taken;
  const Message message = read_message(event, body, scratch, connection);
  direct_calls.begin_message();
  if (observer != nullptr) observer->on_message(message, connection);
  const bool large = list_entries(scratch) > kMostIdleEntries;
  judge(message);
  if (large) scratch = {};  // so that records do not hand on its capacity
}

void Judge::State::judge(const Message& message) {
  check_header(message, connection);
  switch (message.kind) {
    case Kind::empty:
      return;
    case Kind::too_short:
      return on_discardable(message, Discard::too_short);
    case Kind::done:
      return on_discardable(message, Discard::done);
    case Kind::error:
      return on_error(message);
    case Kind::msgp:
    case Kind::faulty:
      return on_faulty(message);
    case Kind::call:
      return on_call(message);
    case Kind::reply:
      return on_reply(message);
  }
}

void Judge::State::on(const trace::Event& event, const trace::Connect& body) {
  connection.connect_seen = true;
  check_private_data(event, body.private_data, connection);
  const auto found = wire::find_private_data(body.private_data);
  if (found) connection.private_data[0] = found->data;
}

void Judge::State::on(const trace::Event& event, const trace::Accept& body) {
  connection.accept_seen = true;
  check_private_data(event, body.private_data, connection);
  const auto found = wire::find_private_data(body.private_data);
  if (found) connection.private_data[1] = found->data;
}

void Judge::State::on(const trace::Event& event, const trace::Reject& body) {
  check_private_data(event, body.private_data, connection);
}

void Judge::State::on(const trace::Event& event, const trace::RdmaWrite& body) {
  connection.begin();
  check_after_terminate(event, connection);
  check_write_inside_chunks(event, body, connection);
  if (event.actor == trace::Role::server) layout_calls.on_write(body);
}

void Judge::State::on(const trace::Event& event, const trace::RdmaRead& body) {
  connection.begin();
  check_after_terminate(event, connection);
  check_read_inside_chunks(event, body, connection);
}

void Judge::State::on(const trace::Event& event, const trace::RdmaReadResponse& body) {
  connection.begin();
  check_after_terminate(event, connection);
  note_read_response(event, body, connection);
}

void Judge::State::on(const trace::Event&, const trace::MemoryOffered&) {}

void Judge::State::on(const trace::Event& event, const trace::MemoryInvalidated& body) {
  check_invalidated(event, body, connection);
}

void Judge::State::on(const trace::Event& event, const trace::ReceivePosted& body) {
  Receives& receives = connection.receives(event.actor);
  if (!connection.sends_seen) receives.known = true;
  receives.posted += body.count;
  check_receive(event, body, connection);
}

void Judge::State::on(const trace::Event& event, const trace::Terminate&) {
  connection.terminated[static_cast<std::size_t>(event.actor)] = true;
}

void Judge::State::on(const trace::Event&, const trace::Disconnect&) {
  direct_calls.on_end();
}

void Judge::State::on(const trace::Event& event, const trace::RdmaReadRefused&) {
  connection.begin();
  check_after_terminate(event, connection);
  refuse_read_refusal(event, connection);
}

void Judge::State::on_event(const trace::Event& event) {
  const auto* connect = std::get_if<trace::Connect>(&event.body);
  if (connect != nullptr && wire::has_direct_format(connect->private_data)) {
    optimistic = std::make_unique<OptimisticConnection>(access, connection);
  }
  if (optimistic) return optimistic->on_event(event);
  std::visit([&](const auto& body) { on(event, body); }, event.body);
}

Judge::Judge(Visibility visibility, MessageObserver* observer, DirectAccess* direct,
             Layouts* layouts)
    : state_(std::make_unique<State>(visibility, observer, direct, layouts)) {}
Judge::~Judge() = default;
Judge::Judge(Judge&&) noexcept = default;
Judge& Judge::operator=(Judge&&) noexcept = default;

void Judge::set_server_end(std::string_view end) {
  state_->layout_calls.set_server_end(end);
}

void Judge::on_event(const trace::Event& event) {
  state_->on_event(event);
}

void Judge::stop_observing() {
  Connection& connection = state_->connection;
  connection.observation_lost = true;
  for (Direction& each : connection.directions) each.history_incomplete = true;
  state_->direct_calls.forget_history();
  state_->layout_calls.forget_history();
}

void Judge::forget_history() {
  state_->connection.forget_history();
  state_->direct_calls.forget_history();
  state_->layout_calls.forget_history();
  if (state_->optimistic) state_->optimistic->forget_history();
}

const Connection& Judge::connection() const {
  return state_->connection;
}

const DirectCalls& Judge::direct_calls() const {
  return state_->direct_calls;
}

const OptimisticConnection* Judge::optimistic() const {
  return state_->optimistic.get();
}

const std::vector<Finding>& Judge::findings() const {
  return state_->connection.findings.all();
}

std::size_t Judge::dropped_findings() const {
  return state_->connection.findings.dropped();
}

void Judge::take_findings(std::vector<Finding>& into) {
  state_->connection.findings.take(into);
}

}  // namespace steertag::conformance
