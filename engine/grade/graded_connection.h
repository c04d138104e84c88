// One connection with its judge, its findings and its counters.
#pragma once

#include <memory>

#include "capture/connection.h"
#include "conformance/direct/direct_access.h"
#include "conformance/judge.h"
#include "conformance/message_observer.h"
#include "conformance/pnfs/layouts.h"
#include "grade/legacy_judge.h"
#include "grade/note.h"
#include "grade/pending_findings.h"
#include "grade/summary.h"

namespace steertag::grade {

class Grader;

/// Whether the capture's order can differ from the one in which an end took and sent the packets.
/// It is doubtful from the first message on that has a packet before it missing or late.
enum class Order : std::uint8_t { exact, doubtful };

class GradedConnection final : public capture::ConnectionSink, conformance::MessageObserver {
 public:
  /// `summary` has its number already. It and the other arguments must outlive the connection's
  /// end. Without a summary the connection uses one of its own.
  GradedConnection(Grader& grader, NoteSink* notes, ConnectionSummary* summary,
                   const capture::ConnectionName& name, Order order, Profile profile,
                   conformance::DirectAccess& direct, conformance::Layouts& layouts);

  void on_event(const capture::FrameStamp& stamp, const trace::Event& event) override;
  void on_loss(const capture::FrameStamp& stamp, trace::Role actor,
               capture::LossKind kind) override;
  void on_acknowledged(const capture::FrameStamp& stamp, trace::Role actor,
                       const capture::FrameStamp& up_to) override;
  void on_message_packet(const capture::FrameStamp& stamp, trace::Role actor,
                         bool in_order) override;
  void on_wrong_crcs(trace::Role actor, const capture::PacketTally& packets) override;
  void on_end(const capture::FrameStamp& stamp) override;

  ConnectionSummary& summary() { return *summary_; }
  /// Size of the judge's calls.
  std::size_t kept_bytes() const { return kept_bytes_; }
  /// Drops the judge's history to free memory.
  void forget() { on_loss(stamp_, trace::Role::client, capture::LossKind::overflow); }

 private:
  void on_message(const conformance::Message& message,
                  const conformance::Connection& connection) override;

  void note_context(const conformance::Message& message, const conformance::Connection& connection);
  void count(const trace::Event& event);
  void count_call(const conformance::Message& message, DirectionSummary& direction);
  void count_answer(const conformance::Message& message, trace::Role requester);
  void count_direct(const conformance::OptimisticConnection& connection);
  void tell_opening(const trace::Event& event);
  void tell_message();
  void tell_findings(const trace::Event& event);
  void tell_finding(const conformance::Finding& finding, const capture::FrameStamp& stamp,
                    const EventName& event);
  void hold(conformance::Finding finding, const trace::Event& event);
  void settle(const Decision& decision);
  void take_findings();
  void forget_history();
  void leave_undecided(std::size_t count);
  void see(const capture::FrameStamp& stamp);
  void account();

  Grader& grader_;
  NoteSink* notes_;
  ConnectionSummary own_;
  ConnectionSummary* summary_;
  conformance::Judge judge_;
  std::unique_ptr<LegacyJudge> legacy_;  // replaces the judge under a superseded profile
  capture::FrameStamp stamp_;            // of the current event
  EventName event_;                      // of the current event
  std::array<std::array<std::uint64_t, std::variant_size_v<trace::Body>>, 2> event_counts_{};
  MessageNote note_;                           // reused
  std::optional<trace::Role> requester_;       // of the current Send
  std::optional<std::uint32_t> answered_xid_;  // if the Send is an answer
  bool answers_seen_call_ = false;
  std::array<std::optional<std::uint32_t>, 2> granted_;  // since the last loss, by requester
  std::vector<conformance::Finding> found_;              // on the current event; reused
  std::size_t lost_findings_ = 0;                        // of events with too many findings
  std::size_t findings_listed_ = 0;
  std::optional<PendingFindings> pending_;  // only if acknowledgments are packets
  Order order_;
  bool reordered_ = false;  // a packet since the last Send was late
  std::size_t kept_bytes_ = 0;
};

}  // namespace steertag::grade
