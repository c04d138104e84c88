// Judges a connection of the prototype of 2003: events in, findings out.
#pragma once

#include "conformance/findings.h"
#include "conformance/legacy/exchange_table.h"
#include "trace/event.h"
#include "wire/legacy/prototype.h"

namespace steertag::conformance {

/// Judges both sides, each by its own Sends; other events say nothing here. Nothing tells the
/// prototype from its successors for certain (wire/legacy/dialect.h), so this judge is for a
/// connection that its user calls one. What a connection joined in its middle holds of earlier
/// exchanges is not held against anybody.
class PrototypeJudge final : public trace::EventSink {
 public:
  /// `least_chunk_bytes`: the size from which on the system made chunks, which was tunable (3.4;
  /// 1024 unless set); with 0 only a chunk of nothing is a finding.
  explicit PrototypeJudge(std::uint32_t least_chunk_bytes = 0)
      : least_chunk_bytes_(least_chunk_bytes) {}

  void on_event(const trace::Event& event) override;
  const std::vector<Finding>& findings() const { return findings_.all(); }
  std::size_t dropped_findings() const { return findings_.dropped(); }
  /// As Judge::take_findings.
  void take_findings(std::vector<Finding>& into) { findings_.take(into); }
  /// Calls that were forgotten before their reply, because more waited than are remembered: above
  /// zero, what depends on an earlier call may have been missed.
  std::uint64_t forgotten_calls() const { return exchanges_.forgotten(); }

 private:
  struct Exchange {
    bool open_chunks = false;  // of the reply, until done
  };

  void on_send(const trace::Event& event, View bytes);
  void report_fault(const trace::Event& event, const wire::Fault& fault);
  void check_chunks(const trace::Event& event);
  void on_call(const trace::Event& event);
  void on_reply();
  void on_done(const trace::Event& event);
  /// Opens the finding and fills it in.
  void report(const Rule& rule, const trace::Event& event, std::string expected,
              std::string observed);

  std::uint32_t least_chunk_bytes_;
  wire::PrototypeHeader header_;
  ExchangeTable<Exchange> exchanges_;
  Findings findings_;
};

}  // namespace steertag::conformance
