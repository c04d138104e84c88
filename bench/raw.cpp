// Transfers without RPC between two processes, for ci/bench-direct.
//
// It runs as `steertag_raw serve PROVIDER WAIT` and as `steertag_raw measure URL TEST OCTETS
// SECONDS WAIT`. PROVIDER is iwarp or tcp, WAIT is poll or block, and TEST is echo, write or read.
// A server tells its URL in one line, and serves one client until it is stopped. A measurement
// prints octets, calls, seconds, and the user and system seconds of its process.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "fabric/fabric.h"
#include "wire/xdr.h"

namespace {

using namespace steertag;
using std::chrono::milliseconds;
using Time = std::chrono::steady_clock::time_point;

constexpr std::size_t kMostOctets = std::size_t{1} << 20;
constexpr double kMostSeconds = 60;
constexpr std::size_t kReceives = 8;
/// RDMA Writes or Reads at a time.
constexpr std::size_t kInFlight = 4;
constexpr milliseconds kWait{1000};
/// Of a measurement beyond its time: startup, and what is in flight.
constexpr std::chrono::seconds kPatience{20};

struct Failure {
  std::string text;
};

[[noreturn]] void fail(const std::string& text) {
  throw Failure{text};
}

template <class Value>
Value value_of(Expected<Value, fabric::Error> result) {
  if (!result) fail(result.error().message());
  if constexpr (!std::is_void_v<Value>) return std::move(*result);
}

std::unique_ptr<fabric::Provider> provider_of(std::string_view name) {
  return value_of(fabric::make_provider(name, fabric::system_random()));
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

/// Where the server's memory is, in its private data.
struct Place {
  std::uint32_t stag = 0;
  std::uint64_t base = 0;
};
constexpr std::size_t kPlaceBytes = 12;

// --- the server

/// Sends back what it receives.
class Echo final : public fabric::Handler {
 public:
  void on_established(fabric::Connection&, View) override {}
  void on_refused(fabric::Connection&, const fabric::Error&, View) override {}
  void on_received(fabric::Connection& connection, fabric::WorkId id, MutableView buffer,
                   std::optional<std::uint32_t>) override {
    const View octets = buffer;
    if (!connection.send({&octets, 1}, id)) connection.abort();
  }
  void on_completed(fabric::Connection& connection, fabric::WorkId id, fabric::Operation) override {
    post(connection, id);
  }
  void on_closed(fabric::Connection&, const fabric::CloseReason&) override {}
  void post(fabric::Connection& connection, fabric::WorkId id) {
    connection.post_receive({&octets_[id], 1}, id);
  }

 private:
  std::array<std::byte, kReceives> octets_{};
};

[[noreturn]] void serve_rdma(const std::string& name, milliseconds wait) {
  const auto provider = provider_of(name);
  const auto domain = provider->make_domain();
  const auto region = domain->allocate(kMostOctets, {true, true});
  Echo echo;
  std::unique_ptr<fabric::Connection> connection;
  fabric::ConnectionOptions options;
  options.crc = false;
  options.private_data.resize(kPlaceBytes);
  wire::store_u32(options.private_data.data(), region->stag());
  wire::store_u64(options.private_data.data() + 4, region->base());
  const auto listener =
      value_of(provider->listen(value_of(fabric::parse_url(name + "://127.0.0.1:0")),
                                [&](std::unique_ptr<fabric::ConnectionRequest> request) {
                                  connection = value_of(request->accept(*domain, options, echo));
                                  for (std::size_t id = 0; id < kReceives; ++id)
                                    echo.post(*connection, id);
                                }));
  std::cout << name << "://127.0.0.1:" << listener->port() << std::endl;
  for (;;) provider->poll(wait);
}

class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {
    if (descriptor < 0) fail("a socket");
    const int on = 1;
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  ~Socket() { ::close(descriptor_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  int descriptor() const { return descriptor_; }
  /// False at the end of the stream.
  bool take(MutableView octets) {
    while (!octets.empty()) {
      const ssize_t got = ::recv(descriptor_, octets.data(), octets.size(), 0);
      if (got <= 0) return false;
      octets = octets.subspan(static_cast<std::size_t>(got));
    }
    return true;
  }
  void put(View octets) {
    while (!octets.empty()) {
      const ssize_t sent = ::send(descriptor_, octets.data(), octets.size(), MSG_NOSIGNAL);
      if (sent <= 0) fail("the stream has ended");
      octets = octets.subspan(static_cast<std::size_t>(sent));
    }
  }

 private:
  int descriptor_;
};

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// Answers each message of as many octets as the client's first four say with one octet.
[[noreturn]] void serve_tcp() {
  const Socket listening(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listening.descriptor(), any, length) != 0 ||
      ::listen(listening.descriptor(), 1) != 0 ||
      ::getsockname(listening.descriptor(), any, &length) != 0)
    fail("cannot listen");
  std::cout << "tcp://127.0.0.1:" << ntohs(address.sin_port) << std::endl;
  Socket client(::accept(listening.descriptor(), nullptr, nullptr));
  std::array<std::byte, 4> word{};
  if (!client.take(word)) fail("no size");
  Bytes message(std::min<std::size_t>(wire::load_u32(word.data()), kMostOctets));
  while (client.take(message)) client.put(View(message).first(1));
  for (;;) ::pause();
}

// --- the client

struct Measurement {
  std::string test;
  std::size_t octets = 1;
  double seconds = 1;
  milliseconds wait{0};
};

struct Result {
  std::uint64_t calls = 0;
  double elapsed = 0;
};

class Client final : public fabric::Handler {
 public:
  Client(const Measurement& what, fabric::Domain& domain)
      : what_(what), domain_(domain), memory_(domain.allocate(kMostOctets * kInFlight, {})) {}

  Result run(fabric::Provider& provider, const std::string& url) {
    fabric::ConnectionOptions options;
    options.crc = false;
    connection_ =
        value_of(provider.connect(value_of(fabric::parse_url(url)), domain_, options, *this));
    for (std::size_t id = 0; id < kReceives; ++id)
      connection_->post_receive({&received_[id], 1}, id);
    const Time limit = std::chrono::steady_clock::now() + kPatience +
                       std::chrono::seconds(static_cast<int>(what_.seconds));
    while (!over_) {
      provider.poll(what_.wait);
      if (std::chrono::steady_clock::now() > limit) fail("the measurement does not end");
    }
    if (!error_.empty()) fail(error_);
    return {calls_, std::chrono::duration<double>(end_ - start_).count()};
  }

 private:
  void on_established(fabric::Connection&, View private_data) override {
    if (private_data.size() < kPlaceBytes) return stop("the server is another program");
    place_ = {wire::load_u32(private_data.data()), wire::load_u64(private_data.data() + 4)};
    start_ = std::chrono::steady_clock::now();
    const std::size_t count = what_.test == "echo" ? 1 : kInFlight;
    for (std::size_t slot = 0; slot < count; ++slot) begin(slot);
  }
  void on_refused(fabric::Connection&, const fabric::Error& error, View) override {
    stop(error.message());
  }
  void on_received(fabric::Connection& connection, fabric::WorkId id, MutableView,
                   std::optional<std::uint32_t>) override {
    connection.post_receive({&received_[id], 1}, id);
    if (ending_) return stop({});  // the answer to the last Send: all before has arrived
    ++calls_;
    goes_on() ? begin(0) : finish();
  }
  void on_completed(fabric::Connection&, fabric::WorkId id, fabric::Operation operation) override {
    if (operation == fabric::Operation::send) return;
    ++calls_;
    --under_way_;
    if (goes_on()) {
      begin(id);
    } else if (under_way_ == 0) {
      finish();
    }
  }
  void on_closed(fabric::Connection&, const fabric::CloseReason& reason) override {
    stop(std::string(fabric::sentence(reason.code)));
  }

  bool goes_on() const {
    const auto passed = std::chrono::steady_clock::now() - start_;
    return std::chrono::duration<double>(passed).count() < what_.seconds;
  }
  void begin(std::size_t slot) {
    const auto length = static_cast<std::uint32_t>(what_.octets);
    const std::size_t at = slot * kMostOctets;
    const View octets = View(memory_->bytes()).subspan(at, length);
    if (what_.test == "echo") return post(connection_->send({&octets, 1}, slot));
    ++under_way_;
    if (what_.test == "write")
      return post(connection_->rdma_write(octets, place_.stag, place_.base, slot));
    post(connection_->rdma_read(*memory_, at, length, place_.stag, place_.base, slot));
  }
  /// A Send behind all others, whose answer is the end.
  void finish() {
    ending_ = true;
    const View octet = View(memory_->bytes()).first(1);
    post(connection_->send({&octet, 1}, kReceives));
  }
  void post(const Expected<void, fabric::Error>& posted) {
    if (!posted) stop(posted.error().message());
  }
  void stop(std::string error) {
    if (over_) return;
    end_ = std::chrono::steady_clock::now();
    over_ = true;
    error_ = std::move(error);
  }

  const Measurement& what_;
  fabric::Domain& domain_;
  std::unique_ptr<fabric::Region> memory_;
  std::unique_ptr<fabric::Connection> connection_;
  std::array<std::byte, kReceives> received_{};
  Place place_;
  Time start_{};
  Time end_{};
  std::uint64_t calls_ = 0;
  std::size_t under_way_ = 0;
  bool ending_ = false;
  bool over_ = false;
  std::string error_;
};

Result measure_tcp(const Measurement& what, std::uint16_t port) {
  Socket server(::socket(AF_INET, SOCK_STREAM, 0));
  const sockaddr_in address = loopback(port);
  if (::connect(server.descriptor(), reinterpret_cast<const sockaddr*>(&address), sizeof address) !=
      0)
    fail("cannot connect");
  Bytes message(what.octets);
  std::array<std::byte, 4> word{};
  wire::store_u32(word.data(), static_cast<std::uint32_t>(what.octets));
  server.put(word);
  Result result;
  const Time start = std::chrono::steady_clock::now();
  while (result.elapsed < what.seconds) {
    server.put(message);
    if (!server.take(MutableView(word).first(1))) fail("the stream has ended");
    ++result.calls;
    result.elapsed =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  return result;
}

void measure(const std::string& url, const Measurement& what) {
  const auto parsed = value_of(fabric::parse_url(url));
  Result result;
  if (parsed.provider == "tcp") {
    result = measure_tcp(what, parsed.port);
  } else {
    const auto provider = provider_of(parsed.provider);
    const auto domain = provider->make_domain();
    Client client(what, *domain);
    result = client.run(*provider, url);
  }
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  std::cout << result.calls * what.octets << ' ' << result.calls << ' ' << result.elapsed << ' '
            << seconds_of(usage.ru_utime) << ' ' << seconds_of(usage.ru_stime) << std::endl;
}

milliseconds wait_of(const std::string& word) {
  if (word != "poll" && word != "block") fail("WAIT is poll or block");
  return word == "poll" ? milliseconds{0} : kWait;
}

int run(const std::vector<std::string>& words) {
  if (words.size() == 3 && words[0] == "serve") {
    const milliseconds wait = wait_of(words[2]);
    if (words[1] == "tcp") serve_tcp();
    serve_rdma(words[1], wait);
  }
  if (words.size() != 6 || words[0] != "measure")
    fail("serve PROVIDER WAIT, or measure URL TEST OCTETS SECONDS WAIT");
  Measurement what{words[2], std::strtoul(words[3].c_str(), nullptr, 10),
                   std::strtod(words[4].c_str(), nullptr), wait_of(words[5])};
  if (what.test != "echo" && what.test != "write" && what.test != "read")
    fail("TEST is echo, write or read");
  if (what.octets < 1 || what.octets > kMostOctets || !(what.seconds > 0) ||
      what.seconds > kMostSeconds)
    fail("OCTETS or SECONDS are too few or too many");
  measure(words[1], what);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const Failure& failure) {
    std::cerr << "steertag_raw: " << failure.text << '\n';
    return EXIT_FAILURE;
  }
}
