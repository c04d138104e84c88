// Owns the open connections and their report.
#include "grade/grader.h"

#include <utility>

#include "grade/file_summary.h"
#include "grade/graded_connection.h"

namespace steertag::grade {

/// The sink of connections that are not judged.
struct Grader::Refused final : capture::ConnectionSink {
  void on_event(const capture::FrameStamp&, const trace::Event&) override {}
  void on_loss(const capture::FrameStamp&, trace::Role, capture::LossKind) override {}
  void on_end(const capture::FrameStamp&) override {}
};

Grader::Grader(NoteSink* notes, Profile profile)
    : notes_(notes), profile_(profile), refused_(std::make_unique<Refused>()) {}
Grader::~Grader() = default;

capture::ConnectionSink& Grader::open(const capture::FrameStamp& stamp,
                                      const capture::ConnectionName& name) {
  const std::uint64_t number = ++report_.connections_in_all;
  const bool legacy = profile_ != Profile::rfc8166;
  if (!stamp.by_an_end) {
    direct_.note_unseen();
    layouts_.note_unseen();
  }
  if (open_.size() == (legacy ? kMostLegacyConnectionsOpen : kMostConnectionsOpen)) {
    ++report_.connections_refused;
    direct_.note_unseen();
    layouts_.note_unseen();
    layouts_.add_connection();  // so that its numbers are those of the report
    return *refused_;
  }
  ConnectionSummary* kept = nullptr;
  if (report_.connections.size() < kMostConnectionsKept) kept = &report_.connections.emplace_back();
  auto& slot = open_[number];
  const Order order = stamp.by_an_end ? Order::exact : Order::doubtful;
  slot = std::make_unique<GradedConnection>(*this, notes_, kept, name, order, profile_, direct_,
                                            layouts_);
  ConnectionSummary& summary = slot->summary();
  summary.number = number;
  summary.name = name;
  summary.first = stamp;
  summary.last = stamp;
  return *slot;
}

void Grader::finish() {
  report_.files = summaries_of(layouts_);
}

void Grader::account(std::size_t before, std::size_t after) {
  kept_bytes_ += after - before;
  if (kept_bytes_ <= kMostKeptBytesInAll) return;
  GradedConnection* largest = nullptr;
  for (const auto& [number, each] : open_) {
    if (largest == nullptr || each->kept_bytes() > largest->kept_bytes()) largest = each.get();
  }
  if (largest != nullptr) largest->forget();
}

void Grader::count(const FindingNote& note) {
  ++report_.findings_in_all;
  count_by_rule(report_.findings_by_rule, *note.finding, note.stamp.frame);
}

void Grader::keep(const FindingNote& note) {
  if (report_.findings.size() == kMostFindingsKept) return;
  report_.findings.push_back({note.connection, note.stamp, *note.finding, note.event, reading_});
}

void Grader::close(GradedConnection& connection) {
  account(connection.kept_bytes(), 0);
  const ConnectionSummary& summary = connection.summary();
  const bool carries_messages = !summary.name.optimistic;
  if (carries_messages && summary.has_losses() && !summary.has_messages()) {
    ++report_.connections_unjudged;
  }
  const auto found = open_.find(summary.number);
  closed_ = std::move(found->second);
  open_.erase(found);
}

}  // namespace steertag::grade
