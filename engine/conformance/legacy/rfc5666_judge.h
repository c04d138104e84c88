// Judges a connection of RFC 5666: events in, findings out.
#pragma once

#include <array>
#include <optional>

#include "conformance/findings.h"
#include "conformance/legacy/exchange_table.h"
#include "rpc/message.h"
#include "trace/event.h"
#include "wire/header.h"

namespace steertag::conformance {

/// At most this many write chunks and segments of one direction's calls. Replies to calls beyond it
/// are not compared. One header can have 49,152 of both.
inline constexpr std::size_t kMostRfc5666Offers = 1 << 18;

/// Judges each side by its own Sends, where RFC 5666 and RFC 5667 differ from the rules of Judge.
/// These are their own messages, and fields with another meaning. What RFC 8166 forbids and they
/// allow is no finding.
///
/// The user selects this judge (wire/legacy/dialect.h).
///
/// On a joined connection, messages about earlier exchanges are no findings. "No call is waiting"
/// is certain only if the start was seen: from an event of the setup, or because the user says so.
class Rfc5666Judge final : public trace::EventSink {
 public:
  explicit Rfc5666Judge(bool from_start = false) : from_start_(from_start) {}

  void on_event(const trace::Event& event) override;
  const std::vector<Finding>& findings() const { return findings_.all(); }
  std::size_t dropped_findings() const { return findings_.dropped(); }
  /// As Judge::take_findings.
  void take_findings(std::vector<Finding>& into) { findings_.take(into); }
  /// Calls evicted before their reply or without their write list, because too many were waiting.
  /// Above zero, findings about them may be missing.
  std::uint64_t forgotten_calls() const;

 private:
  /// One call, from its first message on.
  struct Call {
    std::uint32_t open_replies = 0;             // has read chunks, until RDMA_DONE
    bool configuration = false;                 // a CONF_RDMA
    std::optional<wire::WriteList> write_list;  // until the first answer; only if there was room
  };
  using Exchange = ExchangeTable<Call>::Exchange;
  /// The calls of one side to the other.
  struct Requests {
    ExchangeTable<Call> exchanges;
    std::size_t offers = 0;            // in the kept write lists
    std::uint64_t lists_not_kept = 0;  // because there was no room
    bool may_wait_unseen = false;      // `exchanges` may lack a call in progress
  };

  Requests& of(trace::Role requester) { return requests_[static_cast<std::size_t>(requester)]; }
  /// The exchange of the header's XID; nullptr if there is none.
  Exchange* find(trace::Role requester);

  void on_send(const trace::Event& event, View bytes);
  /// Frees the write list of an exchange that ends or was evicted.
  static void release(Requests& requests, Call& call);
  void report_fault(const trace::Event& event, const wire::Fault& fault);
  void check_read_list(const trace::Event& event, bool call);
  void on_call(const trace::Event& event, View payload);
  void on_reply(const trace::Event& event, View payload);
  void on_error(const trace::Event& event);
  void on_done(const trace::Event& event);
  void settle(const trace::Event& event, Exchange& exchange);
  void check_grant(const trace::Event& event);
  void check_write_list(const trace::Event& event, const wire::WriteList& offered);
  void check_write_chunk(const trace::Event& event, std::span<const wire::Segment> offered,
                         std::span<const wire::Segment> returned);
  bool is_configuration(const trace::Event& event, View payload);
  void take_configuration(const trace::Event& event, View payload);
  /// Opens a finding and sets its texts.
  void report(const Rule& rule, const trace::Event& event, std::string expected,
              std::string observed);

  bool from_start_;
  wire::Header header_;
  std::array<Requests, 2> requests_;
  std::optional<std::uint32_t> largest_call_;  // the server's maxcall_sendsize
  Findings findings_;
};

}  // namespace steertag::conformance
