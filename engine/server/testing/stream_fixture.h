// What tests of the plain TCP transport share: a server over iWARP and TCP at the same time.
// The client sends any octets.
#pragma once

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <deque>

#include "net/socket.h"
#include "rpc/record.h"
#include "server/testing/raw_client.h"

namespace steertag::peer::testing {

/// A TCP client of octets. Nothing moves but in `pump`.
class RawStream {
 public:
  /// The kernel connects on loopback, from this address, without the server's help.
  explicit RawStream(const net::Url& url, const std::string& source = "127.0.0.1") {
    const net::Address address = net::resolve(url, false)->front();
    const net::Address from = net::resolve({"tcp", source, 0, ""}, false)->front();
    socket = net::Socket(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::bind(socket.fd(), from.generic(), from.length), 0) << strerror(errno);
    EXPECT_EQ(::connect(socket.fd(), address.generic(), address.length), 0) << strerror(errno);
  }

  void send(View octets) { unsent.insert(unsent.end(), octets.begin(), octets.end()); }
  void send_record(View message, std::size_t fragment_octets = rpc::kMostFragmentOctets) {
    rpc::append_record(unsent, message, fragment_octets);
  }
  /// Sends and receives what can be at once.
  void pump() {
    while (sent < unsent.size()) {
      const ssize_t count = ::send(socket.fd(), unsent.data() + sent, unsent.size() - sent,
                                   MSG_DONTWAIT | MSG_NOSIGNAL);
      if (count <= 0) break;
      sent += static_cast<std::size_t>(count);
    }
    if (reads) receive();
  }
  bool all_sent() const { return sent == unsent.size(); }
  /// The peer's system has all of it, which may take a moment on a loaded host.
  bool arrived() const {
    int left = 0;
    EXPECT_EQ(::ioctl(socket.fd(), SIOCOUTQ, &left), 0) << strerror(errno);
    return all_sent() && left == 0;
  }

  net::Socket socket;
  Bytes unsent;
  std::size_t sent = 0;
  bool reads = true;
  std::vector<Bytes> records;
  bool closed = false;

 private:
  void receive() {
    std::array<std::byte, 65536> buffer;
    while (!closed) {
      const ssize_t count = ::recv(socket.fd(), buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (count < 0 && errno == EAGAIN) return;
      closed = count <= 0;
      View octets = View(buffer).first(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
      while (!octets.empty()) {
        const auto taken = reader_.take(octets);
        ASSERT_TRUE(taken) << taken.error().message();
        octets = octets.subspan(*taken);
        if (!reader_.complete()) continue;
        records.push_back(copy(reader_.record()));
        reader_.next();
      }
    }
  }
  rpc::RecordReader reader_;
};

class StreamTest : public PeerTest {
 protected:
  void serve_all(ServerOptions options = {}, std::vector<std::unique_ptr<Program>> programs = {}) {
    options.clock = [this] { return now; };
    if (programs.empty()) programs = all_programs(options.clock);
    const std::array addresses{
        ListenAddress{*net::parse_url("iwarp://127.0.0.1:0"), provider.get()},
        ListenAddress{*net::parse_url("tcp://127.0.0.1:0")},
    };
    auto started = Server::start(addresses, std::move(programs), options,
                                 [this](const std::string&, const net::Error& error) {
                                   troubles.push_back(error.message());
                                 });
    ASSERT_TRUE(started) << started.error().message();
    server = std::move(*started);
    url = server->listening()[0];
    tcp_url = server->listening()[1];
  }

  std::chrono::steady_clock::time_point now{std::chrono::hours{1}};
  std::vector<std::string> troubles;
  net::Url tcp_url;
};

inline Bytes null_call(std::uint32_t xid) {
  return rpc_call(xid, 0);
}

class StreamServerTest : public StreamTest {
 protected:
  /// Drives the server and these clients until `done`.
  template <class Done>
  void pump(std::initializer_list<RawStream*> streams, Done&& done) {
    drive([&] {
      for (RawStream* stream : streams) stream->pump();
      return done();
    });
  }
  /// The server still answers another client.
  void expect_others_are_served() {
    RawStream other(tcp_url);
    other.send_record(null_call(99));
    pump({&other}, [&] { return other.records.size() == 1; });
  }
};

}  // namespace steertag::peer::testing
