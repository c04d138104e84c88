// Any packets through reader, judges, notes and summary.
//
// Notes agree with the summary and refer to packets that were read. They change no verdict. At the
// end no memory is kept.
#include <algorithm>
#include <numeric>

#include "capture/fuzz/packets.h"
#include "capture/reader.h"
#include "grade/grader.h"
#include "wire/fuzz/check.h"

namespace {

using namespace steertag;
using namespace steertag::grade;

/// Counts notes and reads everything that they refer to.
class Notes final : public NoteSink {
 public:
  void on_opening(const OpeningNote& note) override {
    look(note.connection, note.stamp);
    add(note.private_data);
  }
  void on_message(const MessageNote& note) override {
    look(note.connection, note.stamp);
    fuzz::check(note.chunks.size() == std::min(note.segments_in_all(), kMostChunksNoted));
    fuzz::check(note.call_frame <= latest);
    ++messages;
  }
  void on_operation(const OperationNote& note) override {
    look(note.connection, note.stamp);
    fuzz::check(note.call_frame <= latest);
    if (!note.block) return;
    fuzz::check(note.block->request_frame <= latest && note.block->grant_frame <= latest);
    fuzz::check(note.block->grant_frame != 0 || note.block->handle.empty());
    add(std::as_bytes(std::span(note.block->handle)));
  }
  void on_loss(const LossNote& note) override {
    look(note.connection, note.stamp);
    fuzz::check(!capture::sentence(note.kind).empty());
    ++losses;
  }
  void on_finding(const FindingNote& note) override {
    look(note.connection, note.stamp);
    fuzz::check(note.finding->requirement != nullptr && !note.finding->rule.empty());
    fuzz::check(!note.finding->expected.empty() && !note.finding->observed.empty());
    fuzz::check(note.stamp.frame != 0);
    add(std::as_bytes(std::span(note.finding->observed)));
    ++findings;
  }

  std::uint64_t latest = 0;  // packet
  std::uint64_t connections = 0;
  std::uint64_t messages = 0;
  std::uint64_t losses = 0;
  std::uint64_t findings = 0;
  unsigned sum = 0;  // reads the octets, so that sanitizers detect a dangling view

 private:
  void look(std::uint64_t connection, const capture::FrameStamp& stamp) {
    fuzz::check(connection >= 1 && stamp.frame <= latest);
    connections = std::max(connections, connection);
  }
  void add(View octets) {
    for (const std::byte each : octets) sum += std::to_integer<unsigned>(each);
  }
};

/// Reads all packets of the input.
void read_all(View input, Grader& grader, Notes* notes) {
  capture::Reader reader(grader);
  capture::each_packet(input, [&](const capture::Packet& packet) {
    const std::uint64_t frame = packet.stamp.frame;
    if (notes != nullptr) notes->latest = frame;
    grader.reading(frame);
    reader.read(packet);
    const capture::ReaderCounts& counts = reader.counts();
    fuzz::check(counts.packets == frame && counts.other <= frame && counts.cut <= frame);
  });
  grader.reading(0);
  reader.finish();
}

template <class Counts>
std::uint64_t total(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

void check_summary(const ConnectionSummary& summary) {
  std::uint64_t sends = 0;
  for (const SideSummary& side : summary.sides) {
    sends += side.sends;
    fuzz::check(side.invalidating_sends <= side.sends);
  }
  // A Send on an optimistic connection is no message.
  fuzz::check(total(summary.messages) == (summary.optimistic ? 0 : sends));
  for (const DirectionSummary& direction : summary.directions) {
    fuzz::check(direction.unanswered <= direction.calls);
    fuzz::check(direction.most_in_flight <= direction.calls);
    fuzz::check(direction.last_granted <= direction.largest_granted);
  }
  std::uint64_t findings = 0;
  for (const FindingCount& each : summary.findings) findings += each.count;
  fuzz::check(findings == summary.findings_in_all);
  fuzz::check(summary.findings_dropped ==
              findings - std::min<std::uint64_t>(findings, kMostFindingsListed));
  fuzz::check(summary.first.frame != 0 && summary.first.frame <= summary.last.frame);
  fuzz::check(!summary.name.ends.client.empty() && !summary.name.ends.server.empty());
}

void check_report(const Report& report, const Notes& notes) {
  std::uint64_t messages = 0;
  std::uint64_t losses = 0;
  std::uint64_t findings = 0;
  std::uint64_t dropped = 0;
  for (const ConnectionSummary& each : report.connections) {
    check_summary(each);
    messages += total(each.messages);
    findings += each.findings_in_all;
    dropped += each.findings_dropped;
    for (const LossSummary& loss : each.losses) losses += loss.count;
  }
  // An input of this length has fewer connections than the limit.
  fuzz::check(report.connections.size() == report.connections_in_all);
  fuzz::check(notes.connections <= report.connections_in_all);
  fuzz::check(report.messages_judged == messages && notes.messages == messages);
  fuzz::check(notes.losses == losses && notes.findings == findings);
  std::uint64_t by_rule = 0;
  for (const FindingCount& each : report.findings_by_rule) by_rule += each.count;
  fuzz::check(by_rule == findings && report.findings_in_all >= findings);
  fuzz::check(report.findings.size() ==
              std::min<std::uint64_t>(findings - dropped, kMostFindingsKept));
}

bool same(const PlacedFinding& one, const PlacedFinding& other) {
  return one.connection == other.connection && one.stamp.frame == other.stamp.frame &&
         one.known_frame == other.known_frame && one.finding.rule == other.finding.rule &&
         one.finding.observed == other.finding.observed;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const View input = fuzz::view_of(data, size);
  if (input.empty()) return 0;
  Notes notes;
  Grader noted(&notes);
  read_all(input, noted, &notes);
  check_report(noted.report(), notes);
  fuzz::check(noted.kept_bytes() == 0);

  Grader plain;
  read_all(input, plain, nullptr);
  fuzz::check(std::ranges::equal(noted.report().findings, plain.report().findings, same));
  return 0;
}
