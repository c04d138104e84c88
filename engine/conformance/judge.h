// The judge: consumes the events of one connection and returns findings.
//
// No other code in Steertag decides whether a peer conforms.
#pragma once

#include <memory>
#include <vector>

#include "conformance/findings.h"
#include "conformance/visibility.h"
#include "trace/event.h"

namespace steertag::conformance {

struct Connection;
class DirectAccess;
class DirectCalls;
class Layouts;
class MessageObserver;
class OptimisticConnection;

/// Each side is judged by its own acts. An illegal message of one side never turns the other's
/// legal reaction into a finding.
///
/// Without Connect and Accept the connection was joined in its middle. Rules that need its history
/// are silent then.
///
/// A connection whose request has the private data of direct access is judged as an optimistic one.
class Judge final : public trace::EventSink {
 public:
  /// `observer`, `direct` and `layouts` may be nullptr. Otherwise they must outlive the judge.
  /// `direct` and `layouts` are what the judges of all connections of one observer share.
  explicit Judge(Visibility visibility = {}, MessageObserver* observer = nullptr,
                 DirectAccess* direct = nullptr, Layouts* layouts = nullptr);
  ~Judge() override;
  Judge(Judge&&) noexcept;
  Judge& operator=(Judge&&) noexcept;

  /// The server's end as text, such as "192.0.2.1:20049": layouts name data servers by it.
  void set_server_end(std::string_view end);
  void on_event(const trace::Event& event) override;
  /// From now on some traffic gives no events, such as raw octets of a fault hook. Unmatched
  /// answers and accesses to memory without an offer are no findings any more.
  void stop_observing();
  /// Events of either side are missing before the next one. The connection continues as one that
  /// was joined in its middle. The announcements of its setup stay known.
  void forget_history();
  /// The state after the latest event, for display only.
  const Connection& connection() const;
  const DirectCalls& direct_calls() const;
  /// nullptr for a connection of RPC-over-RDMA.
  const OptimisticConnection* optimistic() const;
  const std::vector<Finding>& findings() const;
  std::size_t dropped_findings() const;
  /// Moves the findings since the last call to `into`, which is replaced. Call it regularly on a
  /// long connection.
  void take_findings(std::vector<Finding>& into);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace steertag::conformance
