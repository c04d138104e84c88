// Sorts notes by the frame that they belong to.
// SPDX-License-Identifier: GPL-2.0-or-later
#include "dissector/store.h"

#include <algorithm>

namespace steertag::dissector {

void Store::begin(std::uint32_t frame) {
  current_ = frame;
  late_.clear();
  if (chains_.size() <= frame) chains_.resize(std::size_t{frame} + 1);
  // With a read filter, the number of a dropped frame is reused for the next one.
  chains_[frame] = {};
}

void Store::on_opening(const grade::OpeningNote& note) {
  Opening& kept = openings_.emplace_back();
  kept.note = note;
  kept.note.private_data = {};
  const View octets =
      note.private_data.first(std::min(note.private_data.size(), kMostPrivateDataKept));
  kept.private_data.assign(octets.begin(), octets.end());
  add(NoteKind::opening, openings_.size(), note.connection, note.stamp.frame);
}

void Store::on_message(const grade::MessageNote& note) {
  messages_.push_back({note, 0});
  if (note.call_frame != 0) link_answer(note);
  add(NoteKind::message, messages_.size(), note.connection, note.stamp.frame);
}

void Store::on_operation(const grade::OperationNote& note) {
  operations_.push_back(note);
  if (auto& block = operations_.back().block; block && block->grant_frame != 0) {
    if (handles_.size() <= block->file) handles_.resize(std::size_t{block->file} + 1);
    if (handles_[block->file].empty()) handles_[block->file] = block->handle;
    block->handle = {};
  }
  add(NoteKind::operation, operations_.size(), note.connection, note.stamp.frame);
}

void Store::on_loss(const grade::LossNote& note) {
  losses_.push_back(note);
  add(NoteKind::loss, losses_.size(), note.connection, note.stamp.frame);
}

void Store::on_finding(const grade::FindingNote& note) {
  const conformance::Finding& finding = *note.finding;
  findings_.push_back({note.connection, note.stamp.frame, finding.requirement, finding.culprit,
                       std::string(finding.rule), finding.expected, finding.observed});
  add(NoteKind::finding, findings_.size(), note.connection, note.stamp.frame);
}

std::uint64_t Store::connection(const Entry& entry) const {
  switch (entry.kind) {
    case NoteKind::opening:
      return opening(entry).note.connection;
    case NoteKind::message:
      return message(entry).note.connection;
    case NoteKind::operation:
      return operation(entry).connection;
    case NoteKind::loss:
      return loss(entry).connection;
    case NoteKind::finding:
      return finding(entry).connection;
  }
  return 0;
}

void Store::add(NoteKind kind, std::size_t count, std::uint64_t connection, std::uint64_t frame) {
  // A note without a frame, or on a frame that was never read, is shown at the current frame.
  const std::uint32_t own =
      frame == 0 || frame > current_ ? current_ : static_cast<std::uint32_t>(frame);
  const auto at = static_cast<std::uint32_t>(entries_.size());
  const bool opens = connection > connections_;
  if (opens) connections_ = connection;
  entries_.push_back({kind, opens, static_cast<std::uint32_t>(count - 1), kNone, own});
  Chain& chain = chains_[own];
  if (chain.first == kNone) {
    chain.first = at;
  } else {
    entries_[chain.last].next = at;
  }
  chain.last = at;
  if (own != current_) late_.push_back(at);
}

void Store::link_answer(const grade::MessageNote& answer) {
  if (answer.call_frame >= chains_.size()) return;
  for (std::uint32_t at = chains_[answer.call_frame].first; at != kNone; at = entries_[at].next) {
    if (entries_[at].kind != NoteKind::message) continue;
    Message& call = messages_[entries_[at].index];
    if (call.note.connection == answer.connection && call.note.sender != answer.sender &&
        call.note.words.xid == answer.words.xid) {
      if (call.answer_frame == 0) call.answer_frame = answer.stamp.frame;
      return;
    }
  }
}

}  // namespace steertag::dissector
