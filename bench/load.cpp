// Many clients of one server, from one thread: `steertag_load URL CONNECTIONS ACTIVE SECONDS`.
//
// It connects, stays idle, has a NULL call answered on each connection, and then calls without a
// pause on the first ACTIVE ones for SECONDS. After each phase it prints a line and waits for one,
// so that its owner can look at the server meanwhile. The last line has the calls of the least
// and the most served connection, and of all.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "fabric/fabric.h"
#include "wire/xdr.h"

namespace {

using namespace steertag;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// A quarter of what a listener takes of one source before their startup requests are read.
constexpr std::size_t kConnecting = 64;
/// For one phase: several times what ten thousand startups take on a busy machine.
constexpr std::chrono::seconds kPatience{300};
constexpr milliseconds kTurn{100};
constexpr std::size_t kMostConnections = 12'000;
constexpr std::size_t kMostSeconds = 600;
/// A reply to NULL has 52 octets.
constexpr std::size_t kReceiveBytes = 256;
constexpr std::uint32_t kCredits = 1;

struct Failure {
  std::string text;
};

/// RDMA_MSG with a NULL call of NFSv3 (RFC 8166 4.2, RFC 5531 9).
Bytes null_call() {
  Bytes out;
  wire::Writer writer(out);
  for (const std::uint32_t word : {0u, 1u, kCredits, 0u, 0u, 0u, 0u}) writer.u32(word);
  for (const std::uint32_t word : {0u, 0u, 2u, 100003u, 3u, 0u, 0u, 0u, 0u, 0u}) writer.u32(word);
  return out;
}

/// Where the XIDs of that message are.
constexpr std::size_t kTransportXid = 0;
constexpr std::size_t kRpcXid = 28;

class Load;

/// One connection with one call at a time.
class Client final : public fabric::Handler {
 public:
  explicit Client(Load& load) : load_(load), call_(null_call()), receive_(kReceiveBytes) {}

  void connect(fabric::Provider& provider, const fabric::Url& url, fabric::Domain& domain);
  void call();
  std::uint64_t answered() const { return answered_; }
  void count_anew() { answered_ = 0; }

 private:
  void on_established(fabric::Connection& connection, View private_data) override;
  void on_refused(fabric::Connection& connection, const fabric::Error& error, View) override;
  void on_received(fabric::Connection& connection, fabric::WorkId id, MutableView buffer,
                   std::optional<std::uint32_t> invalidated) override;
  void on_completed(fabric::Connection&, fabric::WorkId, fabric::Operation) override {}
  void on_closed(fabric::Connection& connection, const fabric::CloseReason& reason) override;

  Load& load_;
  std::unique_ptr<fabric::Connection> connection_;
  Bytes call_;  // stays until its reply, so it outlives its Send
  Bytes receive_;
  std::uint32_t xid_ = 0;
  std::uint64_t answered_ = 0;
};

/// All connections, and what they are doing.
class Load {
 public:
  Load(fabric::Url url, std::size_t connections) : url_(std::move(url)) {
    auto made = fabric::make_provider(url_.provider, fabric::system_random());
    if (!made) throw Failure{made.error().message()};
    provider_ = std::move(*made);
    domain_ = provider_->make_domain();
    clients_.reserve(connections);
    for (std::size_t i = 0; i < connections; ++i)
      clients_.push_back(std::make_unique<Client>(*this));
  }

  void connect_all() {
    std::size_t started = 0;
    run_until([&] {
      while (started < clients_.size() && started - established_ < kConnecting) {
        clients_[started++]->connect(*provider_, url_, *domain_);
      }
      return established_ == clients_.size();
    });
  }

  void call_once() {
    for (const auto& each : clients_) each->call();
    run_until([&] { return replies_ == clients_.size(); });
  }

  /// The calls of the first `count` connections that were answered in this time.
  std::vector<std::uint64_t> call_for(std::chrono::seconds time, std::size_t count) {
    for (const auto& each : clients_) each->count_anew();
    repeats_ = true;
    for (std::size_t i = 0; i < count; ++i) clients_[i]->call();
    const auto end = steady_clock::now() + time;
    run_until([&] { return steady_clock::now() >= end; });
    std::vector<std::uint64_t> found;
    for (std::size_t i = 0; i < count; ++i) found.push_back(clients_[i]->answered());
    return found;
  }

  void on_established() { ++established_; }
  /// Whether the connection calls again.
  bool on_reply() {
    ++replies_;
    return repeats_;
  }
  void fail(std::string text) {
    if (failure_.empty()) failure_ = std::move(text);
  }

 private:
  template <class Done>
  void run_until(Done done) {
    const auto end = steady_clock::now() + kPatience;
    while (!done()) {
      provider_->poll(kTurn);
      if (!failure_.empty()) throw Failure{failure_};
      if (steady_clock::now() > end) throw Failure{"the server is silent"};
    }
  }

  fabric::Url url_;
  std::unique_ptr<fabric::Provider> provider_;
  std::unique_ptr<fabric::Domain> domain_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::size_t established_ = 0;
  std::size_t replies_ = 0;
  bool repeats_ = false;
  std::string failure_;
};

void Client::connect(fabric::Provider& provider, const fabric::Url& url, fabric::Domain& domain) {
  auto made = provider.connect(url, domain, {}, *this);
  if (!made) throw Failure{made.error().message()};
  connection_ = std::move(*made);
  connection_->post_receive(receive_, 0);
}

void Client::call() {
  ++xid_;
  wire::store_u32(call_.data() + kTransportXid, xid_);
  wire::store_u32(call_.data() + kRpcXid, xid_);
  const View part(call_);
  if (const auto sent = connection_->send({&part, 1}, 0); !sent) load_.fail(sent.error().message());
}

void Client::on_established(fabric::Connection&, View) {
  load_.on_established();
}

void Client::on_refused(fabric::Connection&, const fabric::Error& error, View) {
  load_.fail(error.message());
}

void Client::on_received(fabric::Connection& connection, fabric::WorkId, MutableView buffer,
                         std::optional<std::uint32_t>) {
  const bool is_reply = buffer.size() > kRpcXid && wire::load_u32(buffer.data()) == xid_;
  if (!is_reply) return load_.fail("a message is no reply to the call");
  ++answered_;
  connection.post_receive(receive_, 0);
  if (load_.on_reply()) call();
}

void Client::on_closed(fabric::Connection&, const fabric::CloseReason& reason) {
  load_.fail(fabric::Error{reason.code, reason.detail}.message());
}

std::size_t number(std::string_view text, std::string_view what, std::size_t most) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > most) {
    throw Failure{std::string(what) + " is a number from 1 to " + std::to_string(most)};
  }
  return value;
}

void pause(std::string_view phase) {
  std::cout << phase << std::endl;
  std::string line;
  if (!std::getline(std::cin, line)) throw Failure{"the input has ended"};
}

void run(std::span<char* const> words) {
  if (words.size() != 5) throw Failure{"usage: steertag_load URL CONNECTIONS ACTIVE SECONDS"};
  auto url = fabric::parse_url(words[1]);
  if (!url) throw Failure{url.error().message()};
  const std::size_t connections = number(words[2], "CONNECTIONS", kMostConnections);
  const std::size_t active = number(words[3], "ACTIVE", connections);
  const std::chrono::seconds time{number(words[4], "SECONDS", kMostSeconds)};
  Load load(*url, connections);
  load.connect_all();
  pause("connected");
  load.call_once();
  pause("called");
  const std::vector<std::uint64_t> calls = load.call_for(time, active);
  std::uint64_t all = 0;
  for (const std::uint64_t each : calls) all += each;
  std::cout << *std::ranges::min_element(calls) << ' ' << *std::ranges::max_element(calls) << ' '
            << all << std::endl;
}

}  // namespace

int main(int count, char** words) {
  try {
    run({words, static_cast<std::size_t>(count)});
    return EXIT_SUCCESS;
  } catch (const Failure& failure) {
    std::cerr << "steertag_load: " << failure.text << '\n';
    return EXIT_FAILURE;
  }
}
