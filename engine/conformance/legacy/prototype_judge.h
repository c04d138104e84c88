// Judges a connection of the prototype of 2003: events in, findings out.
#pragma once

#include "conformance/findings.h"
#include "conformance/legacy/exchange_table.h"
#include "trace/event.h"
#include "wire/legacy/prototype.h"

namespace steertag::conformance {

/// Judges each side by its own Sends; other events have no rule. Nothing identifies the prototype
/// for certain (wire/legacy/dialect.h), so the user selects this judge. On a joined connection,
/// messages about earlier exchanges are no findings.
class PrototypeJudge final : public trace::EventSink {
 public:
  /// `least_chunk_bytes`: the size from which the system made chunks, a tunable (3.4; default
  /// 1024). With 0, only an empty chunk is a finding.
  explicit PrototypeJudge(std::uint32_t least_chunk_bytes = 0)
      : least_chunk_bytes_(least_chunk_bytes) {}

  void on_event(const trace::Event& event) override;
  const std::vector<Finding>& findings() const { return findings_.all(); }
  std::size_t dropped_findings() const { return findings_.dropped(); }
  /// As Judge::take_findings.
  void take_findings(std::vector<Finding>& into) { findings_.take(into); }
  /// Calls evicted before their reply, because too many were waiting. Above zero, findings about
  /// earlier calls may be missing.
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
  /// Opens a finding and sets its texts.
  void report(const Rule& rule, const trace::Event& event, std::string expected,
              std::string observed);

  std::uint32_t least_chunk_bytes_;
  wire::PrototypeHeader header_;
  ExchangeTable<Exchange> exchanges_;
  Findings findings_;
};

}  // namespace steertag::conformance
