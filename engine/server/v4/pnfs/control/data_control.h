// A data server's end of the control protocol.
// It joins the metadata server, again and again if need be, asks for each client what it may do,
// and heeds what is taken back.
#pragma once

#include <memory>
#include <unordered_map>

#include "endpoint/deadline_clock.h"
#include "net/pollable.h"
#include "net/reactor.h"
#include "server/v4/pnfs/control/control_stream.h"
#include "server/v4/pnfs/control/grants.h"

namespace steertag::peer::control {

/// Pauses between tries to join double from the first to the longest.
inline constexpr std::chrono::milliseconds kFirstJoinPause{20};
inline constexpr std::chrono::milliseconds kLongestJoinPause{1'000};
/// From a Hello to its Welcome.
inline constexpr std::chrono::milliseconds kWelcomePatience{10'000};
/// A client's call waits so long for an Answer; then it gets NFS4ERR_DELAY.
inline constexpr std::chrono::milliseconds kAnswerPatience{2'000};
/// Asks without an Answer.
inline constexpr std::size_t kMostAsks = 256;
/// Pings in a lease.
inline constexpr int kPingsPerLease = 4;

struct DataControlOptions {
  std::string path;  // of the metadata server's socket
  std::uint32_t index = 0;
  DeadlineClock clock;
  /// Gets a line when the metadata server comes or goes.
  std::function<void(const std::string&)> tell;
};

class DataControl final : public net::Pollable, public LayoutAuthority, private net::Channel {
 public:
  static Expected<std::unique_ptr<DataControl>, std::string> open(
      DataControlOptions options, std::shared_ptr<DataServers> data_servers);
  ~DataControl() override;
  DataControl(const DataControl&) = delete;
  DataControl& operator=(const DataControl&) = delete;

  /// Joins from the next poll on, as a data server that clients reach by these. Once.
  void join(std::vector<DataServerAddress> addresses);
  bool has_joined() const { return joined_; }

  /// By what was granted before, or by asking, which may take kAnswerPatience. Without an answer it
  /// is NFS4ERR_DELAY. Without a metadata server, or after a lease without a word from it, it is
  /// NFS4ERR_PNFS_NO_LAYOUT. Not from inside `poll`.
  LayoutRight decide(const LayoutWish& wish) override;
  std::chrono::milliseconds lease() const override { return lease_; }

  // Pollable
  std::size_t poll(std::chrono::milliseconds timeout) override;
  void wake() override { reactor_.wake(); }
  int descriptor() const override { return reactor_.descriptor(); }
  std::chrono::milliseconds idle_for(std::chrono::milliseconds most) override {
    return reactor_.idle_for(most);
  }

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Asked {
    Grants::Key key;
    Time sent{};
  };

  DataControl(DataControlOptions options, std::shared_ptr<DataServers> data_servers,
              net::Reactor reactor);
  void on_ready(std::uint32_t events) override;
  void on_deadline() override;

  void connect();
  /// The connection is over, or there was none: tries again later.
  void lose(const std::string& why);
  void tend_connection();
  void rewatch();
  void ping();
  void take(const Message& message);
  void take_welcome(const Welcome& welcome);
  void take_answer(const Answer& answer);
  /// The metadata server has had a word for what was sent at this time.
  void hear(Time sent);

  std::optional<LayoutRight> granted(const Grants::Key& key, const LayoutWish& wish);
  LayoutRight ask(const Grants::Key& key, const LayoutWish& wish);
  /// Until the Answer is there, the connection is over, or time is up.
  void await(std::uint64_t number);
  bool is_asked(const Grants::Key& key) const;

  DataControlOptions options_;
  std::vector<DataServerAddress> addresses_;
  std::shared_ptr<DataServers> data_servers_;
  net::Reactor reactor_;
  net::Reactor::Key timer_ = 0;  // a channel with deadlines alone
  net::Reactor::Key key_ = 0;    // of the socket
  std::optional<ControlStream> stream_;
  bool begun_ = false;
  bool joined_ = false;
  bool told_ = false;  // why there is no metadata server
  std::chrono::milliseconds pause_ = kFirstJoinPause;
  std::chrono::milliseconds lease_{};
  Time hello_sent_{};
  Time ping_sent_{};
  bool ping_under_way_ = false;
  std::uint64_t pings_ = 0;
  Time heard_until_{};  // a lease after the last word's question: grants hold until then
  Grants grants_;
  std::uint64_t last_ask_ = 0;
  std::unordered_map<std::uint64_t, Asked> asked_;
  std::optional<Answer> answer_;  // the last one
  bool slow_ = false;             // a call has waited in vain since the last Answer
  std::size_t notices_ = 0;
};

}  // namespace steertag::peer::control
