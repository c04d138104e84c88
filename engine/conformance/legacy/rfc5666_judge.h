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

/// Most write chunks and segments that are remembered of the calls of one direction; what comes
/// back for calls beyond is not compared with them. One header can have 49,152 of both.
inline constexpr std::size_t kMostRfc5666Offers = 1 << 18;

/// Judges both sides, each by its own Sends, where RFC 5666 and RFC 5667 differ from what Judge
/// looks at: their own messages, and fields that mean something else. It is for a connection that
/// its user calls one of RFC 5666 (wire/legacy/dialect.h); what RFC 8166 forbids and they allow is
/// no finding. What a connection joined in its middle holds of earlier exchanges is not held
/// against anybody: that nothing waits is known only of one that was seen from its start, which an
/// event of its establishment shows, or else its user says.
class Rfc5666Judge final : public trace::EventSink {
 public:
  explicit Rfc5666Judge(bool from_start = false) : from_start_(from_start) {}

  void on_event(const trace::Event& event) override;
  const std::vector<Finding>& findings() const { return findings_.all(); }
  std::size_t dropped_findings() const { return findings_.dropped(); }
  /// As Judge::take_findings.
  void take_findings(std::vector<Finding>& into) { findings_.take(into); }
  /// Calls that were forgotten before their reply, or of which the write list was not kept, because
  /// more waited than are remembered: above zero, what depends on them may have been missed.
  std::uint64_t forgotten_calls() const;

 private:
  /// One call, from its first message on.
  struct Call {
    std::uint32_t open_replies = 0;             // with read chunks, until RDMA_DONE
    bool configuration = false;                 // a CONF_RDMA
    std::optional<wire::WriteList> write_list;  // until the first answer, if there was room
  };
  using Exchange = ExchangeTable<Call>::Exchange;
  /// What one side has asked of the other.
  struct Requests {
    ExchangeTable<Call> exchanges;
    std::size_t offers = 0;            // in the write lists that are kept
    std::uint64_t lists_not_kept = 0;  // for want of room
    bool may_wait_unseen = false;      // a call may be in progress that `exchanges` does not have
  };

  Requests& of(trace::Role requester) { return requests_[static_cast<std::size_t>(requester)]; }
  /// The exchange of the header's XID; nullptr if there is none.
  Exchange* find(trace::Role requester);

  void on_send(const trace::Event& event, View bytes);
  /// Gives back the room of the write list of an exchange that ends, or that is forgotten.
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
  /// Opens the finding and fills it in.
  void report(const Rule& rule, const trace::Event& event, std::string expected,
              std::string observed);

  bool from_start_;
  wire::Header header_;
  std::array<Requests, 2> requests_;
  std::optional<std::uint32_t> largest_call_;  // the server's maxcall_sendsize
  Findings findings_;
};

}  // namespace steertag::conformance
