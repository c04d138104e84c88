// Binds the connection: queued notices, posted work, fault hooks.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "fabric_parts.h"

namespace steertag::bindings {
namespace {

using namespace steertag::fabric;
using py::literals::operator""_a;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Interval of the check for signals in a wait, for Ctrl-C.
constexpr milliseconds kSlice{100};
// A wait without a limit of its own: the provider's limits end it.
constexpr double kForever = 24.0 * 3600 * 1000;

std::string text_of(const CloseReason& reason) {
  return Error{reason.code, reason.detail}.message();
}

py::object terminate_of(const CloseReason& reason) {
  return reason.terminate ? py::cast(*reason.terminate) : py::none();
}

}  // namespace

fabric::Provider& PyProvider::idle() {
  if (waiting) throw std::runtime_error("another thread waits on this provider");
  return *provider;
}

bool poll_until(PyProvider& provider, double timeout_ms, const std::function<bool()>& done) {
  provider.idle();
  const double bounded = std::clamp(std::isnan(timeout_ms) ? 0.0 : timeout_ms, 0.0, kForever);
  const auto end = steady_clock::now() + milliseconds(static_cast<long>(std::ceil(bounded)));
  while (!done()) {
    const auto left = std::chrono::ceil<milliseconds>(end - steady_clock::now());
    provider.waiting = true;
    {
      const py::gil_scoped_release release;
      provider.provider->poll(std::clamp(left, milliseconds(0), kSlice));
    }
    provider.waiting = false;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (left.count() <= 0) return done();
  }
  return true;
}

fabric::Connection& PyConnection::connection() {
  provider_->idle();
  if (!connection_) raise_fabric_error({Errc::not_connected, refused_ ? refused_->detail : ""});
  return *connection_;
}

void PyConnection::observe(py::object events, py::object octets) {
  auto* event_sink = sink<trace::EventSink>(events);
  auto* byte_sink = sink<trace::ByteSink>(octets);
  connection().observe(event_sink, byte_sink);
  events_ = std::move(events);
  octets_ = std::move(octets);
}

void PyConnection::start(std::unique_ptr<fabric::Connection> connection, std::size_t receives,
                         std::size_t receive_bytes) {
  connection_ = std::move(connection);
  for (std::size_t i = 0; i < receives; ++i) {
    Receive& receive = receives_[next_id_];
    receive = {Bytes(receive_bytes), true};
    connection_->post_receive(receive.buffer, next_id_++);
  }
}

void PyConnection::fail(const Error& error) {
  refused_ = CloseReason{error.code, error.detail, {}, false};
  notices_.push_back({"refused", {}, {}, {}, {}, refused_});
}

void PyConnection::wait_until_decided() {
  poll_until(*provider_, kForever, [&] { return decided(); });
}

std::optional<PyNotice> PyConnection::wait(double timeout_ms) {
  poll_until(*provider_, timeout_ms, [&] { return !notices_.empty(); });
  drop_finished();
  if (notices_.empty()) return std::nullopt;
  return take_first();
}

PyNotice PyConnection::take_first() {
  PyNotice notice = std::move(notices_.front());
  notices_.pop_front();
  return notice;
}

void PyConnection::drop_finished() {
  for (const WorkId id : finished_) {
    leaving_.erase(id);
    reading_.erase(id);
  }
  finished_.clear();
}

void PyConnection::post_receive(std::size_t size) {
  fabric::Connection& to = connection();
  Receive& receive = receives_[next_id_];
  receive = {Bytes(size), false};
  to.post_receive(receive.buffer, next_id_++);
}

WorkId PyConnection::keep(Bytes octets) {
  drop_finished();
  leaving_[next_id_] = std::move(octets);
  return next_id_++;
}

WorkId PyConnection::send(const py::object& message, std::optional<std::uint32_t> invalidate,
                          const Fault* fault) {
  fabric::Connection& to = connection();
  const WorkId id = keep(from_python(py::cast<py::buffer>(message)));
  const View part(leaving_[id]);
  const auto sent = to.send({&part, 1}, id, invalidate, fault);
  if (!sent) {
    leaving_.erase(id);
    raise_fabric_error(sent.error());
  }
  return id;
}

WorkId PyConnection::rdma_write(const py::buffer& from, std::uint32_t stag, std::uint64_t offset,
                                const Fault* fault) {
  fabric::Connection& to = connection();
  const WorkId id = keep(from_python(from));
  const auto written = to.rdma_write(leaving_[id], stag, offset, id, fault);
  if (!written) {
    leaving_.erase(id);
    raise_fabric_error(written.error());
  }
  return id;
}

WorkId PyConnection::rdma_read(const RegionRef& sink, std::uint64_t sink_offset,
                               std::uint32_t length, std::uint32_t stag, std::uint64_t offset,
                               const Fault* fault) {
  drop_finished();
  const WorkId id = next_id_++;
  value_or_raise(
      connection().rdma_read(*sink->region, sink_offset, length, stag, offset, id, fault));
  reading_[id] = sink;
  return id;
}

void PyConnection::open_window(const RegionRef& region, fabric::Rights rights) {
  value_or_raise(connection().open_window(*region->region, rights));
}

void PyConnection::send_raw(const py::buffer& bytes) {
  value_or_raise(connection().send_raw(from_python(bytes)));
}

void PyConnection::recover_read_faults() {
  value_or_raise(connection().recover_read_faults());
}

void PyConnection::terminate(std::uint8_t layer, std::uint8_t type, std::uint8_t code) {
  value_or_raise(connection().terminate({layer, type, code}));
}

void PyConnection::disconnect() {
  if (connection_) connection().disconnect();
}

void PyConnection::abort() {
  if (connection_) connection().abort();
}

void PyConnection::on_established(fabric::Connection& /*connection*/, View private_data) {
  established_ = true;
  private_data_.assign(private_data.begin(), private_data.end());
  notices_.push_back({"established", private_data_, {}, {}, {}, {}});
}

void PyConnection::on_refused(fabric::Connection& /*connection*/, const Error& error,
                              View private_data) {
  private_data_.assign(private_data.begin(), private_data.end());
  refused_ = CloseReason{error.code, error.detail, {}, false};
  notices_.push_back({"refused", private_data_, {}, {}, {}, refused_});
}

void PyConnection::on_received(fabric::Connection& connection, WorkId id, MutableView buffer,
                               std::optional<std::uint32_t> invalidated) {
  notices_.push_back({"received", Bytes(buffer.begin(), buffer.end()), invalidated, id, {}, {}});
  const auto receive = receives_.find(id);
  if (receive->second.again) {
    connection.post_receive(receive->second.buffer, id);
  } else {
    receives_.erase(receive);
  }
}

void PyConnection::on_completed(fabric::Connection& /*connection*/, WorkId id,
                                Operation operation) {
  finished_.push_back(id);
  notices_.push_back({"completed", {}, {}, id, operation, {}});
}

void PyConnection::on_read_refused(fabric::Connection& /*connection*/, WorkId id,
                                   const trace::Terminate& /*cause*/) {
  finished_.push_back(id);
  notices_.push_back({"read_refused", {}, {}, id, Operation::rdma_read, {}});
}

void PyConnection::on_closed(fabric::Connection& /*connection*/, const CloseReason& reason) {
  closed_ = reason;
  notices_.push_back({"closed", {}, {}, {}, {}, reason});
}

namespace {

void bind_notices(py::module_& module) {
  py::enum_<Operation>(module, "Operation")
      .value("send", Operation::send)
      .value("rdma_write", Operation::rdma_write)
      .value("rdma_read", Operation::rdma_read);
  py::class_<CloseReason>(module, "CloseReason", "Why a connection ended, or was refused.")
      .def_readonly("code", &CloseReason::code)
      .def_readonly("detail", &CloseReason::detail)
      .def_property_readonly("terminate", &terminate_of)
      .def_readonly("terminate_from_peer", &CloseReason::terminate_from_peer)
      .def("__str__", &text_of)
      .def("__repr__",
           [](const CloseReason& reason) { return "<CloseReason " + text_of(reason) + ">"; });
  py::class_<PyNotice>(module, "Notice",
                       "A notice to the owner of a connection; `kind` is established, refused, "
                       "received, completed, read_refused or closed.")
      .def_readonly("kind", &PyNotice::kind)
      .def_property_readonly("bytes",
                             [](const PyNotice& notice) { return to_python(notice.bytes); })
      .def_property_readonly("private_data",
                             [](const PyNotice& notice) { return to_python(notice.bytes); })
      .def_readonly("invalidated", &PyNotice::invalidated)
      .def_readonly("work_id", &PyNotice::work_id)
      .def_readonly("operation", &PyNotice::operation)
      .def_readonly("reason", &PyNotice::reason)
      .def("__repr__", [](const PyNotice& notice) {
        std::string text = "<Notice " + notice.kind;
        if (notice.kind == "received") text += " " + std::to_string(notice.bytes.size());
        if (notice.reason) text += ": " + text_of(*notice.reason);
        return text + ">";
      });
}

}  // namespace

void bind_fabric_connection(py::module_& module) {
  bind_notices(module);
  py::class_<PyConnection, std::shared_ptr<PyConnection>>(
      module, "Connection", "A connection; `wait` returns its notices.")
      .def("wait", &PyConnection::wait, "timeout_ms"_a,
           "The next Notice, or None after `timeout_ms`. Other threads run meanwhile.")
      .def("post_receive", &PyConnection::post_receive, "size"_a,
           "Posts one more receive of `size` octets.")
      .def("send", &PyConnection::send, "message"_a, py::kw_only(), "invalidate"_a = py::none(),
           "fault"_a = nullptr, "Posts one message (bytes-like); returns its work id.")
      .def("rdma_write", &PyConnection::rdma_write, "data"_a, "stag"_a, "offset"_a, py::kw_only(),
           "fault"_a = nullptr, "Writes octets to the peer's memory; returns the work id.")
      .def("rdma_read", &PyConnection::rdma_read, "sink"_a, "sink_offset"_a, "length"_a, "stag"_a,
           "offset"_a, py::kw_only(), "fault"_a = nullptr,
           "Reads the peer's memory into a region; returns the work id.")
      .def("open_window", &PyConnection::open_window, "region"_a, "rights"_a,
           "Binds a memory window to the region, which the peer's Send with Invalidate closes.")
      .def("send_raw", &PyConnection::send_raw, "octets"_a, "Writes octets into the byte stream.")
      .def("recover_read_faults", &PyConnection::recover_read_faults,
           "From now on the peer may refuse an RDMA Read alone (docs/direct-access.md). Raises "
           "Error where the provider cannot.")
      .def("terminate", &PyConnection::terminate, "layer"_a, "type"_a, "code"_a,
           "Sends a Terminate and closes.")
      .def("disconnect", &PyConnection::disconnect,
           "Disconnects in order, after all posted work is sent.")
      .def("abort", &PyConnection::abort, "Resets the stream.")
      .def("observe", &PyConnection::observe, "events"_a = py::none(), "octets"_a = py::none(),
           "Replaces the observers.")
      .def_property_readonly("open", &PyConnection::open)
      .def_property_readonly("role", &PyConnection::role)
      .def_property_readonly("closed", &PyConnection::closed, "CloseReason, or None.")
      .def_property_readonly("refused", &PyConnection::refused,
                             "CloseReason of a refused connection, or None.")
      .def_property_readonly(
          "refusal",
          [](const PyConnection& c) { return c.refused() ? text_of(*c.refused()) : std::string(); })
      .def_property_readonly(
          "refused_by_time",
          [](const PyConnection& c) { return c.refused() && c.refused()->code == Errc::timed_out; })
      .def_property_readonly("private_data",
                             [](const PyConnection& c) { return to_python(c.private_data()); })
      .def_property_readonly("capabilities", &PyConnection::capabilities,
                             "The Capabilities of its provider.")
      .def_property_readonly("domain", &PyConnection::domain)
      .def_property_readonly("peer_name", &PyConnection::peer_name)
      .def_property_readonly("most_outbound_reads", &PyConnection::most_outbound_reads,
                             "RDMA Reads that the peer takes at a time.")
      .def_property_readonly("unsent_operations", &PyConnection::unsent);
}

}  // namespace steertag::bindings
