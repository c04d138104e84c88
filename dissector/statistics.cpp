// Counts what is shown: connections, messages, findings, chunks and operations.
// SPDX-License-Identifier: GPL-2.0-or-later
#include "dissector/statistics.h"

#include "dissector/preferences.h"
#include "dissector/words.h"

namespace steertag::dissector {

namespace {

constexpr const char* kTap = "steertag";
constexpr const char* kConnections = "Connections";
constexpr const char* kMessages = "Messages";
constexpr const char* kFindings = "Findings";
constexpr const char* kChunks = "Chunk segments";
constexpr const char* kOperations = "RDMA operations";
constexpr const char* kLosses = "Not judged because";
/// Texts of nodes are short: an id, or a kind and a direction.
constexpr std::size_t kMostNodeText = 64;

int tap_id = 0;

/// Counts a node under one of the headings, and returns its id.
int count(stats_tree* table, const char* heading, const char* name, bool parent = false,
          int times = 1) {
  increase_stat_node(table, heading, 0, true, times);
  const int above = stats_tree_parent_id_by_name(table, heading);
  return increase_stat_node(table, name, above, parent, times);
}

void count_message(stats_tree* table, const grade::MessageNote& note) {
  char name[kMostNodeText];
  g_snprintf(name, sizeof name, "%s, %s", word(note.kind), direction_word(note.reverse));
  count(table, kMessages, name);
  for (std::size_t at = 0; at < note.segments.size(); ++at) {
    if (note.segments[at] == 0) continue;
    const auto kind = static_cast<grade::ChunkNote::Kind>(at);
    g_snprintf(name, sizeof name, "%s, in a %s", word(kind), word(note.kind));
    count(table, kChunks, name, false, static_cast<int>(note.segments[at]));
  }
}

void count_finding(stats_tree* table, const Finding& finding) {
  const ledger::Requirement& requirement = *finding.requirement;
  if (!shown(weight(requirement.level))) return;
  char name[kMostNodeText];
  g_snprintf(name, sizeof name, "%.*s", static_cast<int>(requirement.id.size()),
             requirement.id.data());
  const int id = count(table, kFindings, name, true);
  g_snprintf(name, sizeof name, "by the %s", word(finding.culprit));
  tick_stat_node(table, name, id, false);
}

void count_loss(stats_tree* table, const grade::LossNote& note) {
  const std::string_view why = capture::sentence(note.kind);
  char name[kMostNodeText];
  g_snprintf(name, sizeof name, "%.*s", static_cast<int>(why.size()), why.data());
  count(table, kLosses, name);
}

void count_entry(stats_tree* table, const Store& store, const Entry& entry) {
  if (entry.opens_connection) tick_stat_node(table, kConnections, 0, false);
  switch (entry.kind) {
    case NoteKind::message:
      return count_message(table, store.message(entry).note);
    case NoteKind::finding:
      return count_finding(table, store.finding(entry));
    case NoteKind::operation:
      count(table, kOperations, word(store.operation(entry).kind));
      return;
    case NoteKind::loss:
      return count_loss(table, store.loss(entry));
    case NoteKind::opening:
      return;
  }
}

extern "C" void start_table(stats_tree* table) {
  stats_tree_create_node(table, kConnections, 0, STAT_DT_INT, false);
  for (const char* heading : {kMessages, kFindings, kChunks, kOperations, kLosses}) {
    stats_tree_create_node(table, heading, 0, STAT_DT_INT, true);
  }
}

extern "C" tap_packet_status count_frame(stats_tree* table, packet_info*, epan_dissect_t*,
                                         const void* data, tap_flags_t) {
  const Look& look = *static_cast<const Look*>(data);
  if (look.stopped) count(table, kLosses, kStopped);
  look.store->each(look.frame, look.late,
                   [&](const Entry& entry) { count_entry(table, *look.store, entry); });
  return TAP_PACKET_REDRAW;
}

}  // namespace

void register_statistics_tap() {
  tap_id = register_tap(kTap);
}

void register_statistics_table() {
  stats_tree_register_plugin(kTap, kTap, "Steertag", 0, count_frame, start_table, nullptr);
}

void tap(const Look& look, packet_info* pinfo) {
  if (!have_tap_listener(tap_id)) return;
  Look* kept = wmem_new(pinfo->pool, Look);
  *kept = look;
  tap_queue_packet(tap_id, pinfo, kept);
}

}  // namespace steertag::dissector
