// Judges a connection of RFC 5666: events in, findings out.
#pragma once

#include <array>
#include <optional>
#include <unordered_map>

#include "conformance/findings.h"
#include "rpc/message.h"
#include "trace/event.h"
#include "wire/header.h"

namespace steertag::conformance {

/// Most XIDs that are remembered of one direction; messages under further ones are judged alone.
inline constexpr std::size_t kMostRfc5666Exchanges = 65536;

/// Judges both sides, each by its own Sends, where RFC 5666 and RFC 5667 differ from what Judge
/// looks at: their own messages, and fields that mean something else. It is for a connection that
/// its user calls one of RFC 5666 (wire/legacy/dialect.h); what RFC 8166 forbids and they allow is
/// no finding. What a connection joined in its middle holds of earlier exchanges is not held
/// against anybody.
class Rfc5666Judge final : public trace::EventSink {
 public:
  void on_event(const trace::Event& event) override;
  const std::vector<Finding>& findings() const { return findings_.all(); }
  std::size_t dropped_findings() const { return findings_.dropped(); }

 private:
  /// One call, from its first message on.
  struct Exchange {
    bool answered = false;
    bool read_chunks = false;    // of the reply, until RDMA_DONE
    bool configuration = false;  // a CONF_RDMA
    wire::WriteList write_list;  // of the call
  };
  /// What one side has asked of the other.
  struct Requests {
    std::unordered_map<std::uint32_t, Exchange> exchanges;
    std::size_t waiting = 0;  // without an answer
  };

  Requests& of(trace::Role requester) { return requests_[static_cast<std::size_t>(requester)]; }
  /// The exchange of the header's XID; nullptr if there is none.
  Exchange* find(trace::Role requester);

  void on_send(const trace::Event& event, View bytes);
  void report_fault(const trace::Event& event, const wire::Fault& fault);
  void check_read_list(const trace::Event& event, bool call);
  void on_call(const trace::Event& event, View payload);
  void on_reply(const trace::Event& event, View payload);
  void on_done(const trace::Event& event);
  void settle(const trace::Event& event, Exchange* exchange);
  void check_write_list(const trace::Event& event, const wire::WriteList& offered);
  void check_write_chunk(const trace::Event& event, std::span<const wire::Segment> offered,
                         std::span<const wire::Segment> returned);
  bool is_configuration(const trace::Event& event, View payload);
  void take_configuration(const trace::Event& event, View payload);
  /// Opens the finding and fills it in.
  void report(const Rule& rule, const trace::Event& event, std::string expected,
              std::string observed);

  wire::Header header_;
  std::array<Requests, 2> requests_;
  std::optional<std::uint32_t> largest_call_;  // the server's maxcall_sendsize
  Findings findings_;
};

}  // namespace steertag::conformance
