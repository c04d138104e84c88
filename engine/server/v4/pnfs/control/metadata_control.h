// The metadata server's end of the control protocol.
// It welcomes data servers, answers what they ask, and takes back what it has granted.
#pragma once

#include <deque>
#include <list>
#include <map>
#include <memory>
#include <unordered_map>

#include "endpoint/deadline_clock.h"
#include "net/pollable.h"
#include "net/reactor.h"
#include "server/v4/pnfs/control/control_stream.h"
#include "server/v4/pnfs/layout_administration.h"
#include "server/v4/state/fence.h"

namespace steertag::peer {
class Nfs4State;
}

namespace steertag::peer::control {

/// From a connection to its Hello.
inline constexpr std::chrono::milliseconds kHelloPatience{5'000};
/// Connections at a time: each data server has one, and some have not said Hello.
inline constexpr std::size_t kMostConnectionsOfControl = std::size_t{2} * kMostDataServers;
/// Asks and Pings of one data server that wait for its acknowledgements.
inline constexpr std::size_t kMostWaitingAsks = 1024;

struct MetadataControlOptions {
  std::string path;                 // of the socket
  std::chrono::milliseconds lease;  // after so long without a word a data server fences itself
  DeadlineClock clock;
  std::function<std::uint64_t()> random;
  /// Gets a line about each data server that comes or goes.
  std::function<void(const std::string&)> tell;
};

class MetadataControl final : public net::Pollable, public Fence, private net::Channel {
 public:
  /// Listens at the path; a socket there that nothing listens at is replaced. The error is a
  /// sentence.
  static Expected<std::unique_ptr<MetadataControl>, std::string> open(
      MetadataControlOptions options, std::shared_ptr<DataServers> data_servers);
  ~MetadataControl() override;
  MetadataControl(const MetadataControl&) = delete;
  MetadataControl& operator=(const MetadataControl&) = delete;

  /// What decides, once, before the first poll; both must outlive the last one. The grace period
  /// lasts until all data servers have come, since each may heed what an earlier run has granted.
  void serve(Nfs4State& state, const Backend& storage);

  /// Recalls all layouts and replaces the device. Data servers that are not here are out of it: no
  /// layout is granted before they come back. Not before `serve`.
  void replace_device();
  /// For what else an administrator wants. Not before `serve`.
  LayoutAdministration& administration() { return *administration_; }

  // Pollable
  std::size_t poll(std::chrono::milliseconds timeout) override;
  void wake() override { reactor_.wake(); }
  int descriptor() const override { return reactor_.descriptor(); }
  std::chrono::milliseconds idle_for(std::chrono::milliseconds most) override {
    return reactor_.idle_for(most);
  }

  // Fence
  void revoke(const Handle& file, DataServerMask data_servers) override;
  std::uint64_t last() const override { return last_; }
  void pending(const Handle& file, Tickets& tickets) const override;
  void all_pending(Tickets& tickets) const override;
  bool passed(std::uint64_t ticket) const override { return !pending_.contains(ticket); }

 private:
  /// A connection, and after its end what its data server may still heed.
  struct Member;
  using Members = std::list<std::unique_ptr<Member>>;
  struct Pending {
    Handle file{};
    std::size_t waiting = 0;  // for so many members
  };

  MetadataControl(MetadataControlOptions options, std::shared_ptr<DataServers> data_servers,
                  net::Reactor reactor, net::Socket listening);
  void on_ready(std::uint32_t events) override;  // of the listening socket
  void on_deadline() override;
  void admit(net::Socket socket);

  void take(Member& member, const Message& message);
  void take_hello(Member& member, const Hello& hello);
  /// A clause about why this data server is not welcome; empty: it is.
  std::string objection(const Hello& hello) const;
  void take_acknowledgement(Member& member, std::uint64_t epoch);
  /// Answers an Ask or a Ping, unless acknowledgements are due.
  void take_question(Member& member, const Message& question);
  void answer(Member& member, const Message& question);
  Answer decide(const Member& member, const Ask& ask);
  /// Nothing of what was revoked is heeded by the member any more.
  void pass_all(Member& member);
  void pass(std::uint64_t ticket);

  void on_member_ready(Member& member, std::uint32_t events);
  void on_member_deadline(Member& member);
  void rewatch(Member& member);
  void end(Member& member);
  /// Ends what is over.
  void sweep();
  /// RFC 8881 13.7: another verifier as soon as some server may have lost octets.
  void renew_verifier();
  bool is_here(std::uint32_t index) const;
  bool all_here() const;

  MetadataControlOptions options_;
  std::shared_ptr<DataServers> data_servers_;
  net::Reactor reactor_;
  net::Socket listening_;
  net::Reactor::Key key_ = 0;
  Nfs4State* state_ = nullptr;
  const Backend* storage_ = nullptr;
  std::unique_ptr<LayoutAuthority> authority_;
  std::optional<LayoutAdministration> administration_;
  Members members_;
  std::uint64_t last_ = 0;
  std::unordered_map<std::uint64_t, Pending> pending_;
  std::multimap<Handle, std::uint64_t> pending_of_files_;
  std::uint64_t salt_ = 0;  // of the shared verifier
  std::size_t notices_ = 0;
};

}  // namespace steertag::peer::control
