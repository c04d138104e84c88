// The items of each kind of note.
// SPDX-License-Identifier: GPL-2.0-or-later
#include "dissector/tree.h"

#include "dissector/fields.h"
#include "dissector/preferences.h"
#include "dissector/words.h"
#include "nfs/direct/private_data.h"

namespace steertag::dissector {

namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

/// Where items are added. It has no destructor (epan.h).
struct Canvas {
  const Store& store;
  tvbuff_t* tvb;
  packet_info* pinfo;
  proto_tree* tree;

  Canvas under(proto_tree* subtree) const { return {store, tvb, pinfo, subtree}; }
  const char* text(std::string_view text) const {
    return wmem_strndup(pinfo->pool, text.data(), text.size());
  }
  proto_item* add(int field, const char* value) const {
    return proto_tree_add_string(tree, field, tvb, 0, 0, value);
  }
  proto_item* add(int field, std::string_view value) const { return add(field, text(value)); }
  proto_item* add(int field, std::uint32_t value) const {
    return proto_tree_add_uint(tree, field, tvb, 0, 0, value);
  }
  proto_item* add(int field, std::uint64_t value) const {
    return proto_tree_add_uint64(tree, field, tvb, 0, 0, value);
  }
  proto_item* add(int field, bool value) const {
    return proto_tree_add_boolean(tree, field, tvb, 0, 0, value);
  }
  proto_item* add_frame(int field, std::uint64_t frame) const {
    return proto_tree_add_uint(tree, field, tvb, 0, 0, static_cast<std::uint32_t>(frame));
  }
};

/// Marks an item as generated: no octet contains it.
void worked_out(proto_item* item) {
  proto_item_set_generated(item);
}

void add_belongs(const Canvas& canvas, const Entry& entry) {
  if (entry.frame != canvas.pinfo->num) worked_out(canvas.add_frame(fields.frame, entry.frame));
}

expert_field* expert(Weight weight) {
  switch (weight) {
    case Weight::must:
      return &experts.must;
    case Weight::should:
      return &experts.should;
    case Weight::may:
      return &experts.may;
  }
  return &experts.must;
}

/// Also without a tree: Wireshark counts expert info and uses it for colours.
void add_expert(const Canvas& canvas, proto_item* item, const Finding& finding) {
  const ledger::Requirement& requirement = *finding.requirement;
  const std::string_view level = ledger::name(requirement.level);
  expert_add_info_format(canvas.pinfo, item, expert(weight(requirement.level)),
                         "%s (%s %s section %s), by the %s: expected %s; observed %s",
                         canvas.text(requirement.id), canvas.text(level),
                         canvas.text(requirement.document), canvas.text(requirement.section),
                         word(finding.culprit), finding.expected.c_str(), finding.observed.c_str());
}

void draw_finding(const Canvas& canvas, const Entry& entry) {
  const Finding& finding = canvas.store.finding(entry);
  const ledger::Requirement& requirement = *finding.requirement;
  if (!shown(weight(requirement.level))) return;
  if (canvas.tree == nullptr) {
    add_expert(canvas, nullptr, finding);
    return;
  }
  const char* id = canvas.text(requirement.id);
  proto_item* item = proto_tree_add_none_format(canvas.tree, fields.finding, canvas.tvb, 0, 0,
                                                "Finding: %s broken by the %s: %s", id,
                                                word(finding.culprit), finding.observed.c_str());
  worked_out(item);
  const Canvas inner = canvas.under(proto_item_add_subtree(item, subtrees.finding));
  worked_out(inner.add(fields.finding_id, id));
  worked_out(inner.add(fields.finding_level, ledger::name(requirement.level)));
  worked_out(inner.add(fields.finding_document, requirement.document));
  worked_out(inner.add(fields.finding_section, requirement.section));
  worked_out(inner.add(fields.finding_statement, requirement.statement));
  worked_out(inner.add(fields.finding_culprit, word(finding.culprit)));
  worked_out(inner.add(fields.finding_expected, finding.expected.c_str()));
  worked_out(inner.add(fields.finding_observed, finding.observed.c_str()));
  worked_out(inner.add(fields.rule, finding.rule.c_str()));
  worked_out(inner.add_frame(fields.finding_frame, finding.frame));
  worked_out(inner.add(fields.finding_connection, finding.connection));
  add_expert(inner, item, finding);
}

proto_item* add_octets(const Canvas& canvas, int field, const void* octets, std::size_t size) {
  return proto_tree_add_bytes_with_length(canvas.tree, field, canvas.tvb, 0, 0,
                                          static_cast<const std::uint8_t*>(octets),
                                          static_cast<int>(size));
}

void draw_ticket(const Canvas& canvas, proto_item* item, const Bytes& octets) {
  proto_item_append_text(item, " (of an optimistic connection)");
  if (octets.size() < direct::kPrivateHeaderOctets + direct::kTicketOctets) return;
  const Canvas inner = canvas.under(proto_item_add_subtree(item, subtrees.private_data));
  add_octets(inner, fields.private_data_ticket, octets.data() + direct::kPrivateHeaderOctets,
             direct::kTicketOctets);
}

void draw_private_data(const Canvas& canvas, const Opening& opening) {
  if (opening.private_data.empty()) return;
  proto_item* item = add_octets(canvas, fields.private_data, opening.private_data.data(),
                                opening.private_data.size());
  if (opening.note.optimistic) {
    draw_ticket(canvas, item, opening.private_data);
    return;
  }
  if (!opening.note.found) {
    proto_item_append_text(item, " (none of RPC-over-RDMA: the defaults apply)");
    return;
  }
  const wire::FoundPrivateData& found = *opening.note.found;
  const Canvas inner = canvas.under(proto_item_add_subtree(item, subtrees.private_data));
  inner.add(fields.private_data_offset, static_cast<std::uint32_t>(found.offset));
  inner.add(fields.private_data_flags, std::uint32_t{found.raw_flags});
  inner.add(fields.private_data_invalidation, found.data.remote_invalidation);
  inner.add(fields.private_data_send_size, found.data.send_bytes);
  inner.add(fields.private_data_receive_size, found.data.receive_bytes);
}

void draw_opening(const Canvas& canvas, const Entry& entry) {
  const Opening& opening = canvas.store.opening(entry);
  const bool asks = opening.note.sender == trace::Role::client;
  proto_item* item = canvas.add(fields.opening, asks                    ? "connect"
                                                : opening.note.rejected ? "reject"
                                                                        : "accept");
  const Canvas inner = canvas.under(proto_item_add_subtree(item, subtrees.opening));
  add_belongs(inner, entry);
  inner.add(fields.sender, word(opening.note.sender));
  draw_private_data(inner, opening);
  if (!opening.note.negotiated) return;
  const wire::Negotiated& negotiated = *opening.note.negotiated;
  worked_out(inner.add(fields.threshold_to_server, negotiated.to_server_bytes));
  worked_out(inner.add(fields.threshold_to_client, negotiated.to_client_bytes));
  worked_out(inner.add(fields.remote_invalidation, negotiated.remote_invalidation));
}

void draw_chunks(const Canvas& canvas, const grade::MessageNote& note) {
  for (std::size_t at = 0; at < note.chunks.size(); ++at) {
    const grade::ChunkNote& chunk = note.chunks[at];
    const wire::Segment& segment = chunk.segment;
    proto_item* item = proto_tree_add_string_format_value(
        canvas.tree, fields.chunk, canvas.tvb, 0, 0, word(chunk.kind),
        "%s, %u octets, handle 0x%08x", word(chunk.kind), segment.length, segment.handle);
    const Canvas inner = canvas.under(proto_item_add_subtree(item, subtrees.chunk));
    if (chunk.kind == grade::ChunkNote::Kind::read) {
      inner.add(fields.chunk_position, chunk.position);
    }
    inner.add(fields.chunk_handle, segment.handle);
    inner.add(fields.chunk_length, segment.length);
    inner.add(fields.chunk_offset, segment.offset);
  }
  if (note.segments_in_all() > note.chunks.size()) {
    const auto missing = std::uint64_t{note.segments_in_all() - note.chunks.size()};
    worked_out(canvas.add(fields.chunks_not_shown, missing));
  }
}

void draw_transaction(const Canvas& canvas, const Message& message) {
  const grade::MessageNote& note = message.note;
  if (note.call_frame != 0) {
    worked_out(canvas.add_frame(fields.call_frame, note.call_frame));
    const nstime_t time{note.answered_after_ns / kNsPerSecond,
                        static_cast<int>(note.answered_after_ns % kNsPerSecond)};
    worked_out(proto_tree_add_time(canvas.tree, fields.response_time, canvas.tvb, 0, 0, &time));
  }
  if (message.answer_frame != 0) {
    worked_out(canvas.add_frame(fields.answer_frame, message.answer_frame));
  }
}

void draw_credits(const Canvas& canvas, const grade::MessageNote& note) {
  canvas.add(fields.credits_value, note.words.credit);
  if (note.kind == conformance::Kind::call) {
    worked_out(canvas.add(fields.credits_requested, note.words.credit));
  }
  worked_out(canvas.add(fields.credits_in_flight, std::uint64_t{note.calls_in_flight}));
  if (note.granted) worked_out(canvas.add(fields.credits_granted, *note.granted));
}

void draw_direct(const Canvas& canvas, const conformance::DirectMessage& direct) {
  if (!direct.procedure.empty()) canvas.add(fields.direct_procedure, direct.procedure);
  if (direct.references != 0) {
    canvas.add(fields.direct_references, std::uint64_t{direct.references});
  }
  if (direct.fallback) worked_out(canvas.add_frame(fields.direct_fallback, *direct.fallback));
}

void draw_message(const Canvas& canvas, const Entry& entry) {
  const Message& message = canvas.store.message(entry);
  const grade::MessageNote& note = message.note;
  const char* kind = word(note.kind);
  const char* direction = direction_word(note.reverse);
  proto_item* item = canvas.add(fields.message, kind);
  if (note.length_bytes < wire::kFixedBytes) {
    proto_item_append_text(item, ", by the %s", word(note.sender));
  } else {
    proto_item_append_text(item, ", %s, XID 0x%08x, by the %s", direction, note.words.xid,
                           word(note.sender));
  }
  const Canvas inner = canvas.under(proto_item_add_subtree(item, subtrees.message));
  add_belongs(inner, entry);
  inner.add(fields.sender, word(note.sender));
  worked_out(inner.add(fields.direction, direction));
  inner.add(fields.length, std::uint64_t{note.length_bytes});
  if (note.threshold_bytes) worked_out(inner.add(fields.threshold, *note.threshold_bytes));
  if (note.invalidated) inner.add(fields.invalidated, *note.invalidated);
  if (note.length_bytes < wire::kFixedBytes) return;
  inner.add(fields.xid, note.words.xid);
  inner.add(fields.version, note.words.vers);
  inner.add(fields.procedure, note.words.proc);
  draw_credits(inner, note);
  draw_transaction(inner, message);
  draw_direct(inner, note.direct);
  draw_chunks(inner, note);
}

/// Of an optimistic Read.
void draw_block(const Canvas& canvas, const grade::BlockNote& block) {
  proto_item* item = canvas.add(fields.block_state, word(block.state));
  worked_out(item);
  const Canvas inner = canvas.under(proto_item_add_subtree(item, subtrees.block));
  worked_out(inner.add_frame(fields.block_request, block.request_frame));
  if (block.grant_frame == 0) return;
  const std::string& handle = canvas.store.handle(block);
  worked_out(add_octets(inner, fields.block_file, handle.data(), handle.size()));
  worked_out(inner.add(fields.block_offset, block.offset));
  worked_out(inner.add(fields.block_length, block.length));
  worked_out(inner.add_frame(fields.block_grant, block.grant_frame));
}

void draw_operation(const Canvas& canvas, const Entry& entry) {
  if (!operations_shown()) return;
  const grade::OperationNote& note = canvas.store.operation(entry);
  proto_item* item = proto_tree_add_string_format_value(
      canvas.tree, fields.operation, canvas.tvb, 0, 0, word(note.kind),
      "%s of %" PRIu64 " octets by the %s", word(note.kind), note.length, word(note.actor));
  const Canvas inner = canvas.under(proto_item_add_subtree(item, subtrees.operation));
  add_belongs(inner, entry);
  inner.add(fields.operation_stag, note.stag);
  inner.add(fields.operation_offset, note.offset);
  inner.add(fields.operation_length, note.length);
  if (note.block) draw_block(inner, *note.block);
  if (note.call_frame == 0) return;
  worked_out(inner.add_frame(fields.call_frame, note.call_frame));
  worked_out(inner.add(fields.xid, note.call_xid));
}

void draw_loss(const Canvas& canvas, const Entry& entry) {
  const grade::LossNote& note = canvas.store.loss(entry);
  const char* why = canvas.text(capture::sentence(note.kind));
  proto_item* item =
      proto_tree_add_string_format(canvas.tree, fields.loss, canvas.tvb, 0, 0, why,
                                   "Not judged: of what the %s sent, %s", word(note.actor), why);
  worked_out(item);
  const Canvas inner = canvas.under(proto_item_add_subtree(item, subtrees.loss));
  add_belongs(inner, entry);
  inner.add(fields.sender, word(note.actor));
}

void draw_entry(const Canvas& canvas, const Entry& entry) {
  if (entry.kind == NoteKind::finding) {
    draw_finding(canvas, entry);
    return;
  }
  if (canvas.tree == nullptr) return;
  switch (entry.kind) {
    case NoteKind::opening:
      return draw_opening(canvas, entry);
    case NoteKind::message:
      return draw_message(canvas, entry);
    case NoteKind::operation:
      return draw_operation(canvas, entry);
    case NoteKind::loss:
      return draw_loss(canvas, entry);
    case NoteKind::finding:
      return;
  }
}

/// Appends to the Info column of frames with findings.
void write_column(const Look& look, packet_info* pinfo) {
  look.store->each(look.frame, look.late, [&](const Entry& entry) {
    if (entry.kind != NoteKind::finding) return;
    const ledger::Requirement& requirement = *look.store->finding(entry).requirement;
    if (!shown(weight(requirement.level))) return;
    // A dissector may have closed the column against appending.
    const bool writable = col_get_writable(pinfo->cinfo, COL_INFO);
    col_set_writable(pinfo->cinfo, COL_INFO, true);
    col_append_fstr(pinfo->cinfo, COL_INFO, " [%.*s]", static_cast<int>(requirement.id.size()),
                    requirement.id.data());
    col_set_writable(pinfo->cinfo, COL_INFO, writable);
  });
}

}  // namespace

void draw(const Look& look, int protocol, tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree) {
  Canvas canvas{*look.store, tvb, pinfo, nullptr};
  if (tree != nullptr) {
    proto_item* root = proto_tree_add_item(tree, protocol, tvb, 0, 0, ENC_NA);
    canvas.tree = proto_item_add_subtree(root, subtrees.frame);
  }
  if (look.stopped) {
    proto_tree_add_expert_format(canvas.tree, pinfo, &experts.stopped, tvb, 0, 0,
                                 "Not judged, from this frame on: %s", kStopped);
  }
  std::uint64_t connection = 0;
  look.store->each(look.frame, look.late, [&](const Entry& entry) {
    const std::uint64_t own = look.store->connection(entry);
    if (canvas.tree != nullptr && own != connection) {
      connection = own;
      worked_out(canvas.add(fields.connection, own));
    }
    draw_entry(canvas, entry);
  });
  write_column(look, pinfo);
}

}  // namespace steertag::dissector
