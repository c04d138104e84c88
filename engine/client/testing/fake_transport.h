// A transport for tests of what is above it: calls go to a function, replies come one per step.
#pragma once

#include <deque>
#include <functional>
#include <optional>

#include "client/rdma/client_transport.h"
#include "server/testing/peer_fixture.h"

namespace steertag::peer::testing {

class FakeTransport final : public ClientTransport {
 public:
  /// The results of a call (from COMPOUND4res on), or nothing if it is never answered. Gets the
  /// whole unreduced call.
  using Answer = std::function<std::optional<Bytes>(View call)>;
  explicit FakeTransport(Answer its_answer) : answer(std::move(its_answer)) {}

  Expected<std::uint32_t, CallError> submit(Request request, CallCallback callback) override {
    Bytes call = request.stream;
    call.insert(call.end(), request.item.begin(), request.item.end());
    call.resize(roundup4(call.size()));
    waiting.push_back({++xid, std::move(call), std::move(callback)});
    return xid;
  }
  /// Answers the oldest call. The clock goes on when there is none.
  void step(std::chrono::milliseconds timeout) override {
    if (waiting.empty()) {
      now += std::max(timeout, std::chrono::milliseconds{1});
      return;
    }
    const Waiting call = std::move(waiting.front());
    waiting.pop_front();
    const auto results = answer(call.octets);
    if (!results) return call.callback(tl::unexpected(CallError{CallErrc::connection_lost, {}}));
    CallReply reply;
    reply.results = *results;
    call.callback(reply);
  }
  void give_up(std::uint32_t xid_given, CallError error) override {
    const auto found = std::find_if(waiting.begin(), waiting.end(),
                                    [&](const Waiting& call) { return call.xid == xid_given; });
    if (found == waiting.end()) return;
    const Waiting call = std::move(*found);
    waiting.erase(found);
    call.callback(tl::unexpected(std::move(error)));
  }
  std::size_t pending() const override { return waiting.size(); }
  int descriptor() const override { return -1; }
  /// A step always has something to do.
  std::chrono::milliseconds idle_for(std::chrono::milliseconds) override {
    return std::chrono::milliseconds{0};
  }
  TransportLimits limits() const override { return {calls, std::size_t{1} << 20}; }
  void abort_connection() override {}
  std::optional<ReverseLimits> reverse_limits() const override { return reverse; }
  void serve_reverse(ReverseService* its_service) override { service = its_service; }
  std::uint64_t connection_number() const override { return connection; }

  struct Waiting {
    std::uint32_t xid;
    Bytes octets;
    CallCallback callback;
  };
  Answer answer;
  std::deque<Waiting> waiting;
  std::uint32_t xid = 0;
  std::uint32_t calls = 4;
  std::optional<ReverseLimits> reverse;
  ReverseService* service = nullptr;
  std::uint64_t connection = 1;
  std::chrono::steady_clock::time_point now{std::chrono::hours{1}};
};

}  // namespace steertag::peer::testing
