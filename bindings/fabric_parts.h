// Python's view of a connection, with a queue of its notices.
// C++ queues them while the GIL is released; Python takes them one by one.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "bind.h"
#include "fabric/fabric.h"

namespace steertag::bindings {

[[noreturn]] void raise_fabric_error(const fabric::Error& error);
template <class Value>
Value value_or_raise(Expected<Value, fabric::Error> result) {
  if (!result) raise_fabric_error(result.error());
  if constexpr (!std::is_void_v<Value>) return std::move(*result);
}

/// The provider, kept alive by all objects made from it. It has one thread at a time: while one
/// waits without the GIL, calls of others are refused.
struct PyProvider {
  std::string name;
  std::shared_ptr<std::mt19937_64> source;  // of the provider's random choices
  std::unique_ptr<fabric::Provider> provider;
  bool waiting = false;  // guarded by the GIL

  /// The provider for use now; raises RuntimeError while another thread waits on it.
  fabric::Provider& idle();
};
using ProviderRef = std::shared_ptr<PyProvider>;

struct PyDomain {
  ProviderRef owner;
  std::unique_ptr<fabric::Domain> domain;
};
using DomainRef = std::shared_ptr<PyDomain>;

struct PyRegion {
  DomainRef owner;
  std::unique_ptr<fabric::Region> region;
};
using RegionRef = std::shared_ptr<PyRegion>;

/// A notice to the owner of a connection. `kind` is "established", "refused", "received",
/// "completed", "read_refused" or "closed"; other members are set where they apply.
struct PyNotice {
  std::string kind;
  Bytes bytes;  // received: the message; established, refused: the peer's private data
  std::optional<std::uint32_t> invalidated;
  std::optional<fabric::WorkId> work_id;
  std::optional<fabric::Operation> operation;
  std::optional<fabric::CloseReason> reason;  // refused and closed
};

/// Owns the memory of its posted work: message octets, receive buffers, sinks of reads, observers.
/// Receives are reposted as soon as their octets are copied.
class PyConnection final : public fabric::Handler {
 public:
  PyConnection(ProviderRef provider, DomainRef domain, py::object events, py::object octets)
      : provider_(std::move(provider)),
        domain_(std::move(domain)),
        events_(std::move(events)),
        octets_(std::move(octets)) {}
  ~PyConnection() override { connection_.reset(); }
  PyConnection(const PyConnection&) = delete;
  PyConnection& operator=(const PyConnection&) = delete;

  trace::EventSink* events() const { return sink<trace::EventSink>(events_); }
  trace::ByteSink* octets() const { return sink<trace::ByteSink>(octets_); }
  void observe(py::object events, py::object octets);
  /// The connection itself, and the number of receives to keep posted.
  void start(std::unique_ptr<fabric::Connection> connection, std::size_t receives,
             std::size_t receive_bytes);
  /// The start failed: `error` is reported like a refusal.
  void fail(const fabric::Error& error);
  void wait_until_decided();
  /// The next notice, or None after the time. Polls with the GIL released.
  std::optional<PyNotice> wait(double timeout_ms);

  void post_receive(std::size_t size);
  fabric::WorkId send(const py::object& message, std::optional<std::uint32_t> invalidate,
                      const fabric::Fault* fault);
  fabric::WorkId rdma_write(const py::buffer& from, std::uint32_t stag, std::uint64_t offset,
                            const fabric::Fault* fault);
  fabric::WorkId rdma_read(const RegionRef& sink, std::uint64_t sink_offset, std::uint32_t length,
                           std::uint32_t stag, std::uint64_t offset, const fabric::Fault* fault);
  void open_window(const RegionRef& region, fabric::Rights rights);
  void send_raw(const py::buffer& bytes);
  void recover_read_faults();
  void terminate(std::uint8_t layer, std::uint8_t type, std::uint8_t code);
  void disconnect();
  void abort();

  bool open() const { return established_ && !closed_; }
  bool decided() const { return established_ || refused_ || closed_; }
  const std::optional<fabric::CloseReason>& closed() const { return closed_; }
  const std::optional<fabric::CloseReason>& refused() const { return refused_; }
  const Bytes& private_data() const { return private_data_; }
  const DomainRef& domain() const { return domain_; }
  fabric::Capabilities capabilities() const { return provider_->provider->capabilities(); }
  std::string peer_name() const { return connection_ ? connection_->peer_name() : ""; }
  std::uint16_t most_outbound_reads() const {
    return connection_ ? connection_->most_outbound_reads() : std::uint16_t{0};
  }
  std::size_t unsent() const { return connection_ ? connection_->unsent_operations() : 0; }
  trace::Role role() const { return connection_ ? connection_->role() : trace::Role::client; }

  void on_established(fabric::Connection& connection, View private_data) override;
  void on_refused(fabric::Connection& connection, const fabric::Error& error,
                  View private_data) override;
  void on_received(fabric::Connection& connection, fabric::WorkId id, MutableView buffer,
                   std::optional<std::uint32_t> invalidated) override;
  void on_completed(fabric::Connection& connection, fabric::WorkId id,
                    fabric::Operation operation) override;
  void on_read_refused(fabric::Connection& connection, fabric::WorkId id,
                       const trace::Terminate& cause) override;
  void on_closed(fabric::Connection& connection, const fabric::CloseReason& reason) override;

 private:
  struct Receive {
    Bytes buffer;
    bool again = false;  // repost after use
  };
  template <class Sink>
  static Sink* sink(const py::object& object) {
    return object.is_none() ? nullptr : object.cast<Sink*>();
  }
  fabric::Connection& connection();
  fabric::WorkId keep(Bytes octets);
  void drop_finished();
  PyNotice take_first();

  ProviderRef provider_;
  DomainRef domain_;
  py::object events_;
  py::object octets_;
  std::unique_ptr<fabric::Connection> connection_;
  std::map<fabric::WorkId, Receive> receives_;
  std::map<fabric::WorkId, Bytes> leaving_;
  std::map<fabric::WorkId, RegionRef> reading_;
  std::vector<fabric::WorkId> finished_;
  fabric::WorkId next_id_ = 1;
  std::deque<PyNotice> notices_;
  bool established_ = false;
  std::optional<fabric::CloseReason> refused_;
  std::optional<fabric::CloseReason> closed_;
  Bytes private_data_;
};

/// Polls the provider without the GIL until `done` or the time has passed. Checks signals (Ctrl-C)
/// in between.
bool poll_until(PyProvider& provider, double timeout_ms, const std::function<bool()>& done);

void bind_fabric_values(py::module_& module);
void bind_fabric_memory(py::module_& module);
void bind_fabric_connection(py::module_& module);

}  // namespace steertag::bindings
