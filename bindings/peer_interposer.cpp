// Shows notices of a server to a Python object.
#include "peer_interposer.h"

#include <pybind11/stl.h>

namespace steertag::bindings {
namespace {

using namespace steertag::peer;
using py::literals::operator""_a;

Bytes octets_of(const py::bytes& octets) {
  return from_python(py::buffer(octets));
}

struct PyWrite {
  std::uint32_t stag;
  std::uint64_t offset;
  py::bytes octets;
};

/// A departure that owns its octets, so Python can keep it.
struct PyDeparture {
  std::string kind;
  std::optional<wire::Header> call;
  py::bytes rpc_call;
  py::bytes message;
  std::vector<PyWrite> writes;
  std::optional<std::uint32_t> invalidate;
};

const char* kind_of(Departure::Kind kind) {
  if (kind == Departure::Kind::reply) return "reply";
  return kind == Departure::Kind::error ? "error" : "callback";
}

PyDeparture kept(const Departure& departure) {
  Bytes message;
  for (const View part : departure.parts) message.insert(message.end(), part.begin(), part.end());
  PyDeparture made{kind_of(departure.kind), {}, to_python(departure.rpc_call),
                   to_python(message),      {}, {}};
  if (departure.call) made.call = *departure.call;
  for (const RemoteWrite& write : departure.writes)
    made.writes.push_back({write.stag, write.offset, to_python(write.from)});
  made.invalidate = departure.invalidate;
  return made;
}

/// An accept step as Python changes it.
struct PyAcceptStep {
  py::bytes client_data;
  std::string answer = "accept";
  std::optional<py::bytes> private_data;  // None: the server's own announcement
  py::bytes rejection;
  std::uint32_t receives = 0;
  std::uint8_t most_rnr_repetitions = 0;
  std::optional<py::bytes> raw_startup;
  std::optional<fabric::roce::BentPacket> bent_startup;
  bool repairs_startup = true;
  double startup_timeout_ms = 0;
  std::uint16_t ird = 16;
  std::uint16_t ord = 16;
  bool crc = true;
  py::object events = py::none();
  py::object octets = py::none();
};

/// A request for an optimistic connection as Python sees it.
struct PyOptimisticStep {
  py::bytes client_data;
  bool rejects = false;
  std::optional<fabric::roce::BentPacket> bent_response;
  py::object events = py::none();
  py::object octets = py::none();
};

void take(const PyAcceptStep& made, AcceptStep& step) {
  if (made.answer == "accept")
    step.answer = AcceptStep::Answer::accept;
  else if (made.answer == "reject")
    step.answer = AcceptStep::Answer::reject;
  else if (made.answer == "drop")
    step.answer = AcceptStep::Answer::drop;
  else if (made.answer == "keep")
    step.answer = AcceptStep::Answer::keep;
  else
    throw py::value_error("answer is accept, reject, drop or keep, not " + made.answer);
  if (made.private_data) step.endpoint.raw_private_data = octets_of(*made.private_data);
  step.rejection = octets_of(made.rejection);
  step.endpoint.receives = made.receives;
  step.endpoint.connection.roce.most_rnr_repetitions = made.most_rnr_repetitions;
  if (made.raw_startup) step.endpoint.connection.raw_startup = octets_of(*made.raw_startup);
  step.endpoint.connection.roce.repairs_startup = made.repairs_startup;
  step.endpoint.connection.startup_timeout =
      std::chrono::milliseconds(static_cast<std::int64_t>(made.startup_timeout_ms));
  if (made.bent_startup)
    step.endpoint.connection.bent_startup =
        std::make_shared<fabric::roce::BentPacket>(*made.bent_startup);
  step.endpoint.connection.ird = made.ird;
  step.endpoint.connection.ord = made.ord;
  step.endpoint.connection.crc = made.crc;
}

void bind_departure(py::module_& module) {
  py::class_<PyWrite>(module, "RemoteWrite", "An RDMA Write of a reply.")
      .def(py::init([](std::uint32_t stag, std::uint64_t offset, const py::bytes& octets) {
             return PyWrite{stag, offset, octets};
           }),
           "stag"_a, "offset"_a, "octets"_a)
      .def_readwrite("stag", &PyWrite::stag)
      .def_readwrite("offset", &PyWrite::offset)
      .def_readwrite("octets", &PyWrite::octets);
  py::class_<PyDeparture>(module, "Departure",
                          "A message that the server is about to send: reply, error or callback.")
      .def_readonly("kind", &PyDeparture::kind)
      .def_readonly("call", &PyDeparture::call, "The wire.Header of the call, or None.")
      .def_readonly("rpc_call", &PyDeparture::rpc_call,
                    "The unreduced call; empty if it was not executed.")
      .def_readonly("message", &PyDeparture::message, "The octets of the Send.")
      .def_readonly("writes", &PyDeparture::writes)
      .def_readonly("invalidate", &PyDeparture::invalidate);
}

void bind_accept_step(py::module_& module) {
  py::class_<PyAcceptStep>(module, "AcceptStep",
                           "The answer to a connection request: accept, reject, drop (ends the "
                           "stream) or keep (sends no answer).")
      .def_readonly("client_data", &PyAcceptStep::client_data)
      .def_readwrite("answer", &PyAcceptStep::answer)
      .def_readwrite("private_data", &PyAcceptStep::private_data,
                     "None: the server's own announcement.")
      .def_readwrite("rejection", &PyAcceptStep::rejection)
      .def_readwrite("receives", &PyAcceptStep::receives)
      .def_readwrite("most_rnr_repetitions", &PyAcceptStep::most_rnr_repetitions,
                     "Of a Send that finds no receive, as roce asks the client for them.")
      .def_readwrite("raw_startup", &PyAcceptStep::raw_startup)
      .def_readwrite("bent_startup", &PyAcceptStep::bent_startup, "Alters the REP (roce).")
      .def_readwrite("repairs_startup", &PyAcceptStep::repairs_startup,
                     "False: roce repeats the REP only for a repeated REQ.")
      .def_readwrite("startup_timeout_ms", &PyAcceptStep::startup_timeout_ms,
                     "How long roce waits for the RTU, if it is longer than the provider's limit.")
      .def_readwrite("ird", &PyAcceptStep::ird)
      .def_readwrite("ord", &PyAcceptStep::ord)
      .def_readwrite("crc", &PyAcceptStep::crc, "Whether iwarp asks for CRC32C.")
      .def_readwrite("events", &PyAcceptStep::events)
      .def_readwrite("octets", &PyAcceptStep::octets);
  py::class_<PyOptimisticStep>(module, "OptimisticStep",
                               "A request for an optimistic connection of direct access. Its "
                               "ticket decides, unless the step `rejects` it.")
      .def_readonly("client_data", &PyOptimisticStep::client_data)
      .def_readwrite("rejects", &PyOptimisticStep::rejects)
      .def_readwrite("bent_response", &PyOptimisticStep::bent_response,
                     "Alters a packet of the response to an RDMA Read (roce).")
      .def_readwrite("events", &PyOptimisticStep::events)
      .def_readwrite("octets", &PyOptimisticStep::octets);
}

}  // namespace

PyInterposer::PyInterposer(py::object script, std::shared_ptr<Interposer> deviations)
    : script_(std::move(script)),
      sees_calls_(py::hasattr(script_, "on_call")),
      sees_replies_(py::hasattr(script_, "on_reply")),
      deviations_(std::move(deviations)) {}

template <class Made, class Step>
void PyInterposer::keep_observers(const Made& made, Step& step) {
  if (!made.events.is_none()) step.events = &made.events.template cast<trace::EventSink&>();
  if (!made.octets.is_none()) step.bytes = &made.octets.template cast<trace::ByteSink&>();
  observers_.push_back(made.events);
  observers_.push_back(made.octets);
}

void PyInterposer::on_request(View private_data, AcceptStep& step) {
  guarded(nullptr, [&] {
    PyAcceptStep made;
    made.client_data = to_python(private_data);
    made.receives = step.endpoint.receives;
    made.most_rnr_repetitions = step.endpoint.connection.roce.most_rnr_repetitions;
    made.repairs_startup = step.endpoint.connection.roce.repairs_startup;
    made.startup_timeout_ms = static_cast<double>(step.endpoint.connection.startup_timeout.count());
    const py::object shown = py::cast(&made, py::return_value_policy::reference);
    script_.attr("on_request")(shown);
    take(made, step);
    keep_observers(made, step);
  });
  if (deviations_) deviations_->on_request(private_data, step);
}

void PyInterposer::on_accepted(const ConnectionRef& connection) {
  guarded(connection, [&] { script_.attr("on_accepted")(connection); });
  if (deviations_) deviations_->on_accepted(connection);
}

void PyInterposer::on_optimistic(View private_data, OptimisticStep& step) {
  guarded(nullptr, [&] {
    PyOptimisticStep made;
    made.client_data = to_python(private_data);
    script_.attr("on_optimistic")(py::cast(&made, py::return_value_policy::reference));
    step.rejects = made.rejects;
    if (made.bent_response)
      step.bent_response = std::make_shared<fabric::roce::BentPacket>(*made.bent_response);
    keep_observers(made, step);
  });
}

void PyInterposer::on_arrival(const ConnectionRef& connection, Arrival& arrival) {
  arrival.taken = true;
  guarded(connection, [&] {
    arrival.taken = script_.attr("on_arrival")(connection, to_python(arrival.message)).cast<bool>();
  });
  if (deviations_ && !arrival.taken) deviations_->on_arrival(connection, arrival);
}

void PyInterposer::on_call(CallStep& call) {
  if (sees_calls_) {
    guarded(nullptr, [&] {
      const py::object made = script_.attr("on_call")(call.connection, to_python(call.message));
      if (!made.is_none()) call.instead = octets_of(made.cast<py::bytes>());
    });
  }
  if (deviations_) deviations_->on_call(call);
}

void PyInterposer::on_reply(ReplyStep& reply) {
  if (sees_replies_) {
    guarded(nullptr, [&] {
      std::vector<View> parts;
      reply.reply.stream_parts(parts);
      Bytes whole;
      for (const View part : parts) whole.insert(whole.end(), part.begin(), part.end());
      const py::object made =
          script_.attr("on_reply")(reply.connection, to_python(reply.call), to_python(whole));
      if (made.is_none()) return;
      reply.reply.rewind(0);
      reply.reply.stream() = octets_of(made.cast<py::bytes>());
    });
  }
  if (deviations_) deviations_->on_reply(reply);
}

void PyInterposer::on_callback(CallbackStep& callback) {
  if (deviations_) deviations_->on_callback(callback);
}

bool PyInterposer::on_departure(const ConnectionRef& connection, const Departure& departure) {
  bool taken = true;
  guarded(connection,
          [&] { taken = script_.attr("on_departure")(connection, kept(departure)).cast<bool>(); });
  return taken || (deviations_ && deviations_->on_departure(connection, departure));
}

void PyInterposer::on_read(const ConnectionRef& connection, std::uint64_t number, View octets) {
  guarded(connection, [&] { script_.attr("on_read")(connection, number, to_python(octets)); });
}

void PyInterposer::on_down(const ConnectionRef& connection, const fabric::CloseReason& reason) {
  guarded(connection, [&] { script_.attr("on_down")(connection, reason); });
  if (deviations_) deviations_->on_down(connection, reason);
}

void PyInterposer::raise_problem() {
  if (problem_) std::rethrow_exception(std::exchange(problem_, nullptr));
}

void PyInterposer::guarded(const ConnectionRef& connection, const std::function<void()>& work) {
  const py::gil_scoped_acquire gil;
  if (problem_) return;
  try {
    work();
  } catch (...) {
    problem_ = std::current_exception();
    if (connection) connection->abort();
  }
}

void bind_peer_interposer(py::module_& module) {
  bind_departure(module);
  bind_accept_step(module);
}

}  // namespace steertag::bindings
