// Looks up calls and segments for notes.
#include "grade/note_builder.h"

#include <type_traits>
#include <variant>

namespace steertag::grade {

namespace {

using conformance::Kind;

void add(MessageNote& note, ChunkNote::Kind kind, const wire::Segment& segment,
         std::uint32_t position = 0) {
  ++note.segments[static_cast<std::size_t>(kind)];
  if (note.chunks.size() < kMostChunksNoted) note.chunks.push_back({kind, position, segment});
}

void add_chunks(MessageNote& note, const wire::Header& header) {
  for (const wire::ReadSegment& each : header.read_list) {
    add(note, ChunkNote::Kind::read, each.target, each.position);
  }
  for (std::size_t i = 0; i < header.write_list.size(); ++i) {
    for (const wire::Segment& each : header.write_list[i]) add(note, ChunkNote::Kind::write, each);
  }
  for (const wire::Segment& each : header.reply_chunk) add(note, ChunkNote::Kind::reply, each);
}

/// The only call with a segment at this address.
const conformance::Call* call_at(const conformance::Direction& direction, std::uint32_t stag,
                                 std::uint64_t offset, bool read) {
  const conformance::Call* call = nullptr;
  std::size_t count = 0;
  direction.segments.each(stag, [&](const conformance::OfferedSegment& segment) {
    if ((segment.kind == conformance::SegmentKind::read) != read || !segment.holds(offset)) return;
    call = &direction.calls.at(segment.call);
    ++count;
  });
  return count == 1 ? call : nullptr;
}

/// The call whose RDMA Read the next Read Response answers.
const conformance::Call* call_of_response(const conformance::Direction& direction) {
  const conformance::PendingRead* read = direction.reads.first();
  if (read == nullptr || read->serial == 0) return nullptr;
  return direction.calls.at(read->call, read->serial);
}

/// The note on an RDMA operation, without what it belongs to.
std::optional<OperationNote> plain_note(const trace::Event& event) {
  OperationNote note;
  note.actor = event.actor;
  if (const auto* write = std::get_if<trace::RdmaWrite>(&event.body)) {
    note.kind = OperationNote::Kind::write;
    note.stag = write->stag;
    note.offset = write->offset;
    note.length = write->length;
  } else if (const auto* read = std::get_if<trace::RdmaRead>(&event.body)) {
    note.kind = OperationNote::Kind::read;
    note.stag = read->source_stag;
    note.offset = read->source_offset;
    note.length = read->length;
  } else if (const auto* response = std::get_if<trace::RdmaReadResponse>(&event.body)) {
    note.kind = OperationNote::Kind::read_response;
    note.stag = response->sink_stag;
    note.offset = response->sink_offset;
    note.length = response->length;
  } else {
    return std::nullopt;
  }
  return note;
}

}  // namespace

std::optional<trace::Role> requester_of(const conformance::Message& message) {
  switch (message.kind) {
    case Kind::call:
      return message.sender;
    case Kind::reply:
    case Kind::error:
      return trace::other(message.sender);
    default:
      return std::nullopt;
  }
}

void fill(MessageNote& note, const conformance::Message& message,
          const conformance::Connection& connection) {
  note.sender = message.sender;
  note.kind = message.kind;
  note.length_bytes = message.bytes.size();
  note.words = message.words;
  note.invalidated = message.invalidated;
  note.chunks.clear();
  note.segments = {};
  note.call_frame = 0;
  note.answered_after_ns = 0;
  const std::optional<trace::Role> requester = requester_of(message);
  note.reverse = requester == trace::Role::server;
  if (requester) add_chunks(note, *message.header);
  if (!requester || *requester == message.sender) return;
  const conformance::Call* call = connection.direction(*requester).calls.find(message.words.xid);
  if (call == nullptr || call->answers == 0) return;
  note.call_frame = call->event;
  note.answered_after_ns = message.time_ns - call->time_ns;
}

std::optional<OperationNote> operation_note(const trace::Event& event,
                                            const conformance::Connection& connection) {
  std::optional<OperationNote> note = plain_note(event);
  if (!note) return note;
  const conformance::Direction& of_other = connection.direction(trace::other(event.actor));
  const bool is_response = note->kind == OperationNote::Kind::read_response;
  const bool is_read = note->kind == OperationNote::Kind::read;
  const conformance::Call* call = is_response
                                      ? call_of_response(connection.direction(event.actor))
                                      : call_at(of_other, note->stag, note->offset, is_read);
  if (call == nullptr) return note;
  note->call_frame = call->event;
  note->call_xid = call->xid;
  return note;
}

std::optional<OperationNote> optimistic_note(const trace::Event& event,
                                             const conformance::OptimisticConnection& connection) {
  const conformance::OptimisticRead* read = connection.latest();
  const bool is_fault = read != nullptr && read->state == conformance::ReadState::faulted;
  std::optional<OperationNote> note = plain_note(event);
  if (is_fault) {
    note.emplace();
    note->kind = std::holds_alternative<trace::RdmaReadRefused>(event.body)
                     ? OperationNote::Kind::refusal
                     : OperationNote::Kind::fault;
    note->actor = event.actor;
    note->stag = read->stag;
    note->offset = read->offset;
    note->length = read->length;
  }
  if (!note || read == nullptr) return note;
  BlockNote& block = note->block.emplace();
  block.state = read->state;
  block.request_frame = read->event;
  if (!read->in_frame) return note;
  block.grant_frame = read->grant_event;
  block.file = read->file;
  block.handle = connection.access().handle_of(read->file);
  block.offset = read->block_offset;
  block.length = read->block_length;
  return note;
}

}  // namespace steertag::grade
