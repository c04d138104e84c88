// Implements the test endpoints.
#include "fabric/testing/endpoint.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <random>

namespace steertag::fabric::testing {
namespace {

constexpr std::uint64_t kSeed = 20049;

Bytes copy(View bytes) {
  return Bytes(bytes.begin(), bytes.end());
}

RandomSource seeded(std::uint64_t seed) {
  auto random = std::make_shared<std::mt19937_64>(seed);
  return [random] { return (*random)(); };
}

std::uint64_t process() {
  return static_cast<std::uint64_t>(::getpid());
}

// Processes that run at a time have close numbers. The upper half of 127/8 is for clients.
std::string loopback_host() {
  static unsigned hosts = 0;
  const auto number = static_cast<unsigned>((process() & 0x1fff) << 9) | (++hosts & 0x1ff);
  return "127." + std::to_string(64 + (number >> 16)) + "." + std::to_string(number >> 8 & 255) +
         "." + std::to_string(number & 255);
}

std::chrono::seconds patience() {
  const char* const seconds = std::getenv("STEERTAG_PATIENCE_S");
  return seconds == nullptr ? kPatience : std::chrono::seconds(std::atoi(seconds));
}

std::string number(std::uint64_t value) {
  return std::to_string(value);
}

struct Line {
  std::string operator()(const trace::Connect& e) {
    return "Connect " + number(e.private_data.size());
  }
  std::string operator()(const trace::Accept& e) {
    return "Accept " + number(e.private_data.size());
  }
  std::string operator()(const trace::Reject& e) {
    return "Reject " + number(e.private_data.size());
  }
  std::string operator()(const trace::Send& e) {
    return "Send " + number(e.bytes.size()) + (e.invalidated ? " invalidating" : "");
  }
  std::string operator()(const trace::RdmaWrite& e) { return "RdmaWrite " + number(e.length); }
  std::string operator()(const trace::RdmaRead& e) { return "RdmaRead " + number(e.length); }
  std::string operator()(const trace::RdmaReadResponse& e) {
    return "RdmaReadResponse " + number(e.length);
  }
  std::string operator()(const trace::MemoryOffered& e) {
    return "MemoryOffered " + number(e.length);
  }
  std::string operator()(const trace::MemoryInvalidated& e) {
    return std::string("MemoryInvalidated ") + (e.guard_intact ? "intact" : "damaged");
  }
  std::string operator()(const trace::ReceivePosted& e) {
    return "ReceivePosted " + number(e.count) + "x" + number(e.size);
  }
  std::string operator()(const trace::Terminate& e) {
    return "Terminate " + number(e.layer) + "/" + number(e.type) + "/" + number(e.code);
  }
  std::string operator()(const trace::Disconnect& e) {
    return std::string("Disconnect ") + (e.clean ? "clean" : "unclean");
  }
  std::string operator()(const trace::RdmaReadRefused& e) {
    return "RdmaReadRefused " + number(e.read) + " code " + number(e.cause.code);
  }
};

}  // namespace

Bytes pattern(std::size_t length, std::uint8_t first) {
  Bytes bytes(length);
  for (std::size_t i = 0; i < length; ++i) {
    bytes[i] = static_cast<std::byte>(first + i * 7 + (i >> 8));
  }
  return bytes;
}

Bytes octets(std::string_view text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return Bytes(first, first + text.size());
}

Bytes hex(std::string_view digits) {
  Bytes bytes;
  std::string pair;
  for (const char c : digits) {
    if (c == ' ' || c == '\n') {
      continue;
    }
    pair += c;
    if (pair.size() == 2) {
      bytes.push_back(static_cast<std::byte>(std::stoi(pair, nullptr, 16)));
      pair.clear();
    }
  }
  return bytes;
}

void Notices::on_established(Connection& /*connection*/, View private_data) {
  established = true;
  peer_private_data = copy(private_data);
}

void Notices::on_read_refused(Connection& /*connection*/, WorkId id,
                              const trace::Terminate& cause) {
  EXPECT_FALSE(closed) << "a Read was refused after the end";
  refused_reads.push_back({id, cause, completed.size()});
}

void Notices::on_refused(Connection& /*connection*/, const Error& error, View private_data) {
  EXPECT_FALSE(refused) << "on_refused came twice";
  refused = error;
  peer_private_data = copy(private_data);
}

void Notices::on_received(Connection& connection, WorkId id, MutableView buffer,
                          std::optional<std::uint32_t> invalidated) {
  EXPECT_FALSE(closed) << "on_received came after on_closed";
  received.push_back({id, copy(buffer), invalidated});
  if (when_received) {
    when_received(connection, received.back());
  }
}

void Notices::on_completed(Connection& /*connection*/, WorkId id, Operation operation) {
  EXPECT_FALSE(closed) << "on_completed came after on_closed";
  completed.push_back({id, operation});
}

void Notices::on_closed(Connection& /*connection*/, const CloseReason& reason) {
  EXPECT_FALSE(closed) << "on_closed came twice";
  closed = reason;
}

void EventLines::on_event(const trace::Event& event) {
  EXPECT_EQ(event.index, next_index) << "event indices count from 0 without a gap";
  next_index = event.index + 1;
  const char* actor = event.actor == trace::Role::client ? "client " : "server ";
  lines.push_back(actor + std::visit(Line{}, event.body));
  if (const auto* write = std::get_if<trace::RdmaWrite>(&event.body)) {
    written.insert(written.end(), write->payload.begin(), write->payload.end());
  }
}

void ByteLog::on_bytes(std::int64_t /*time_ns*/, trace::Role sender, View bytes) {
  Bytes& log = sender == trace::Role::client ? from_client : from_server;
  log.insert(log.end(), bytes.begin(), bytes.end());
}

void ByteLog::on_end(std::int64_t /*time_ns*/, trace::Role sender, bool clean) {
  ends.push_back(std::string(sender == trace::Role::client ? "client" : "server") +
                 (clean ? " clean" : " unclean"));
}

Factory iwarp_factory() {
  return {"iwarp", "127.0.0.1", [](const Limits& limits, Clock clock) {
            auto provider = make_provider("iwarp", seeded(kSeed), limits, std::move(clock));
            return provider ? std::move(*provider) : nullptr;
          }};
}

Factory roce_factory() {
  const auto make = [](const Limits& limits, Clock clock) {
    // Each provider draws addresses of its own.
    static std::uint64_t providers = 0;
    auto provider = make_provider("roce", seeded(kSeed + (process() << 32) + ++providers), limits,
                                  std::move(clock));
    return provider ? std::move(*provider) : nullptr;
  };
  return {"roce", loopback_host(), make, loopback_host};
}

Factory verbs_factory(std::string host) {
  return {"verbs", std::move(host), [](const Limits& limits, Clock clock) {
            auto provider = make_provider("verbs", system_random(), limits, std::move(clock));
            if (!provider) {
              ADD_FAILURE() << provider.error().message();
              std::abort();
            }
            return std::move(*provider);
          }};
}

std::vector<Factory> if_chosen(std::string_view name) {
  const auto variable = [](const char* key) -> std::string {
    const char* const value = std::getenv(key);
    return value == nullptr ? "" : value;
  };
  std::string chosen = variable("STEERTAG_PROVIDERS");
  if (chosen.empty()) {
    chosen = "iwarp,roce";
  }
  if (chosen.find(name) == std::string::npos) {
    return {};
  }
  if (name == "verbs") {
    return {verbs_factory(variable("STEERTAG_VERBS_HOST"))};
  }
  return {name == "roce" ? roce_factory() : iwarp_factory()};
}

bool poll_until(Provider& provider, const std::function<bool()>& done) {
  const auto end = std::chrono::steady_clock::now() + patience();
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) {
      return false;
    }
    provider.poll(std::chrono::milliseconds(20));
  }
  return true;
}

Pair::Pair(const Factory& from, const Limits& limits, Clock clock) : factory(from) {
  if (factory.another_host) {
    factory.host = factory.another_host();
  }
  provider = factory.make(limits, std::move(clock));
  client_domain = provider->make_domain();
  server_domain = provider->make_domain();
  other_domain = provider->make_domain();
  answer = [this](std::unique_ptr<ConnectionRequest> request) {
    auto accepted = request->accept(*server_domain, server_options, server_notices, &server_events,
                                    &server_bytes);
    if (accepted) {
      server = std::move(*accepted);
    } else {
      ADD_FAILURE() << "accept: " << accepted.error().message();
    }
  };
  auto opened = provider->listen(
      *parse_url(factory.name + "://" + factory.host + ":0"),
      [this](auto request) { answer(std::move(request)); },
      [this](const std::string& peer, const Error& error) {
        refusals.push_back({peer, error});
      });
  if (!opened) {
    ADD_FAILURE() << "listen: " << opened.error().message();
    std::abort();
  }
  listener = std::move(*opened);
}

Pair::~Pair() {
  client.reset();
  server.reset();
}

void Pair::drop_client() {
  client.reset();
  client_notices = {};
  client_events = {};
  client_bytes = {};
}

void Pair::drop_server() {
  server.reset();
  server_notices = {};
  server_events = {};
  server_bytes = {};
}

std::string Pair::url() const {
  return factory.name + "://" + factory.host + ":" + std::to_string(listener->port());
}

void Pair::connect() {
  auto connected = provider->connect(*parse_url(url()), *client_domain, client_options,
                                     client_notices, &client_events, &client_bytes);
  ASSERT_TRUE(connected) << connected.error().message();
  client = std::move(*connected);
  ASSERT_TRUE(poll_until([this] {
    return client_notices.refused || (client_notices.established && server_notices.established);
  })) << "neither established nor refused";
}

void Pair::post_receives(std::size_t count, std::size_t size) {
  for (std::size_t i = 0; i < count; ++i) {
    for (Connection* connection : {client.get(), server.get()}) {
      if (connection != nullptr) {
        buffers.push_back(std::make_unique<Bytes>(size));
        connection->post_receive(*buffers.back(), i);
      }
    }
  }
}

namespace {

std::string progress_of(const Notices& notices, const Connection* connection) {
  std::string text = std::to_string(notices.received.size()) + " received, " +
                     std::to_string(notices.completed.size()) + " completed";
  if (connection != nullptr) {
    text += ", " + std::to_string(connection->unsent_operations()) + " unsent";
  }
  return notices.closed ? text + ", closed: " + notices.closed->detail : text;
}

}  // namespace

std::string Pair::progress() const {
  return "client: " + progress_of(client_notices, client.get()) +
         "; server: " + progress_of(server_notices, server.get());
}

bool Pair::poll_until_closed() {
  return poll_until([this] { return client_notices.over() && server_notices.over(); });
}

}  // namespace steertag::fabric::testing
