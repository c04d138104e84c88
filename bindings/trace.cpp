// Binds engine/trace: roles, recorded events, the observers of connections, and capture files.
#include <pybind11/stl/filesystem.h>

#include <filesystem>
#include <fstream>

#include "bind.h"
#include "capture/file/capture_file.h"
#include "capture/reader.h"
#include "rdma/infiniband/recorded_setup.h"
#include "trace/datagram_capture.h"
#include "trace/describe.h"
#include "trace/event.h"
#include "trace/fanout.h"
#include "trace/recorder.h"
#include "trace/stream_capture.h"

namespace steertag::bindings {
namespace {

using namespace steertag::trace;

/// A recorded event for Python, with copies of all its values.
struct PyEvent {
  std::uint64_t index;
  std::int64_t time_ns;
  Role actor;
  std::string kind;
  py::dict fields;
  std::string text;
};

struct FieldsOf {
  py::dict operator()(const Connect& body) const { return private_data(body.private_data); }
  py::dict operator()(const Accept& body) const { return private_data(body.private_data); }
  py::dict operator()(const Reject& body) const { return private_data(body.private_data); }
  py::dict operator()(const Send& body) const {
    using namespace py::literals;
    return py::dict("bytes"_a = to_python(body.bytes), "invalidated"_a = body.invalidated);
  }
  py::dict operator()(const RdmaWrite& body) const {
    using namespace py::literals;
    return py::dict("stag"_a = body.stag, "offset"_a = body.offset, "length"_a = body.length,
                    "payload"_a = to_python(body.payload));
  }
  py::dict operator()(const RdmaRead& body) const {
    using namespace py::literals;
    return py::dict("source_stag"_a = body.source_stag, "source_offset"_a = body.source_offset,
                    "length"_a = body.length);
  }
  py::dict operator()(const RdmaReadResponse& body) const {
    using namespace py::literals;
    return py::dict("sink_stag"_a = body.sink_stag, "sink_offset"_a = body.sink_offset,
                    "length"_a = body.length);
  }
  py::dict operator()(const MemoryOffered& body) const {
    using namespace py::literals;
    return py::dict("stag"_a = body.stag, "base"_a = body.base, "length"_a = body.length,
                    "remote_read"_a = body.remote_read, "remote_write"_a = body.remote_write);
  }
  py::dict operator()(const MemoryInvalidated& body) const {
    using namespace py::literals;
    return py::dict("stag"_a = body.stag, "guard_intact"_a = body.guard_intact);
  }
  py::dict operator()(const ReceivePosted& body) const {
    using namespace py::literals;
    return py::dict("count"_a = body.count, "size"_a = body.size);
  }
  py::dict operator()(const Terminate& body) const {
    using namespace py::literals;
    return py::dict("layer"_a = body.layer, "type"_a = body.type, "code"_a = body.code);
  }
  py::dict operator()(const Disconnect& body) const {
    using namespace py::literals;
    return py::dict("clean"_a = body.clean);
  }
  py::dict operator()(const RdmaReadRefused& body) const {
    using namespace py::literals;
    return py::dict("read"_a = body.read, "layer"_a = body.cause.layer, "type"_a = body.cause.type,
                    "code"_a = body.cause.code);
  }

 private:
  static py::dict private_data(View octets) {
    using namespace py::literals;
    return py::dict("private_data"_a = to_python(octets));
  }
};

PyEvent event_to_python(const Event& event) {
  return {event.index,
          event.time_ns,
          event.actor,
          std::string(kind_name(event.body)),
          std::visit(FieldsOf{}, event.body),
          describe(event)};
}

py::object event_field(const PyEvent& event, const std::string& name) {
  if (!event.fields.contains(name.c_str()))
    throw py::attribute_error("a " + event.kind + " event has no field '" + name + "'");
  return event.fields[name.c_str()];
}

/// Python's sequence rules: negative indexes count from the end.
PyEvent recorder_item(const Recorder& recorder, py::ssize_t index) {
  const auto size = static_cast<py::ssize_t>(recorder.size());
  if (index < 0) index += size;
  if (index < 0 || index >= size) throw py::index_error("no such event was recorded");
  return event_to_python(recorder[static_cast<std::size_t>(index)]);
}

std::vector<PyEvent> recorder_events(const Recorder& recorder, std::size_t start) {
  std::vector<PyEvent> events;
  for (std::size_t i = start; i < recorder.size(); ++i)
    events.push_back(event_to_python(recorder[i]));
  return events;
}

/// A fan-out that keeps its Python sinks alive.
template <class Base, class Sink>
class Owning : public Base {
 public:
  explicit Owning(const py::iterable& sinks) : Owning(py::tuple(sinks)) {}

 private:
  explicit Owning(py::tuple sinks) : Base(pointers(sinks)), keep_(std::move(sinks)) {}
  static std::vector<Sink*> pointers(const py::tuple& sinks) {
    std::vector<Sink*> result;
    for (const py::handle sink : sinks) result.push_back(&sink.cast<Sink&>());
    return result;
  }
  py::tuple keep_;
};
using PyFanout = Owning<Fanout, EventSink>;
using PyByteFanout = Owning<ByteFanout, ByteSink>;

using PyEndpoint = std::pair<std::string, std::uint16_t>;

Endpoint endpoint_from_python(const PyEndpoint& endpoint) {
  const auto parsed = parse_endpoint(endpoint.first, endpoint.second);
  if (!parsed)
    throw py::value_error("'" + endpoint.first + "' is not a numeric IPv4 or IPv6 address");
  return *parsed;
}

[[noreturn]] void throw_os_error(const std::string& what) {
  PyErr_SetString(PyExc_OSError, what.c_str());
  throw py::error_already_set();
}

/// Writes the file whole under its name, or not at all.
void write_file(const std::filesystem::path& path, const std::vector<const Capture*>& captures,
                const CaptureFileOptions& options) {
  std::filesystem::path part = path;
  part += ".part";
  std::error_code error;
  {
    std::ofstream out(part, std::ios::binary | std::ios::trunc);
    if (out) write_captures(out, captures, options);
    out.close();
    if (out) std::filesystem::rename(part, path, error);
    if (out && !error) return;
  }
  std::filesystem::remove(part, error);
  throw_os_error("cannot write the capture " + path.string());
}

/// Keeps the events of each connection of a capture, each with the limits of one recorder.
class RecordedConnections final : public capture::ConnectionSinks {
 public:
  capture::ConnectionSink& open(const capture::FrameStamp& /*stamp*/,
                                const capture::ConnectionName& /*name*/) override {
    return *sinks_.emplace_back(std::make_unique<Sink>());
  }
  std::vector<std::vector<PyEvent>> events() const {
    std::vector<std::vector<PyEvent>> all;
    for (const auto& sink : sinks_) all.push_back(recorder_events(sink->recorder, 0));
    return all;
  }

 private:
  struct Sink final : capture::ConnectionSink {
    void on_event(const capture::FrameStamp& stamp, const Event& event) override {
      Event dated = event;
      dated.time_ns = stamp.time_ns;
      recorder.on_event(dated);
    }
    void on_loss(const capture::FrameStamp& /*stamp*/, Role /*actor*/,
                 capture::LossKind /*kind*/) override {}
    void on_end(const capture::FrameStamp& /*stamp*/) override {}
    Recorder recorder;
  };
  std::vector<std::unique_ptr<Sink>> sinks_;
};

/// The events of each connection, up to damage in the capture.
std::vector<std::vector<PyEvent>> events_of_capture(const py::buffer& octets) {
  const Bytes content = from_python(octets);
  RecordedConnections connections;
  capture::Reader reader(connections);
  auto file = capture::CaptureFile::open(View(content), "capture");
  if (!file) throw py::value_error(file.error().message());
  for (auto packet = file->next(); packet && *packet; packet = file->next()) reader.read(**packet);
  reader.finish();
  return connections.events();
}

void bind_events(py::module_& module) {
  py::enum_<Role>(module, "Role", "Side of a connection; the client is the side that opened it.")
      .value("client", Role::client)
      .value("server", Role::server);
  py::class_<PyEvent>(module, "Event",
                      "One event of a connection. The kind's fields are in `fields` and are "
                      "attributes too.")
      .def_readonly("index", &PyEvent::index)
      .def_readonly("time_ns", &PyEvent::time_ns)
      .def_readonly("actor", &PyEvent::actor)
      .def_readonly("kind", &PyEvent::kind)
      .def_readonly("fields", &PyEvent::fields)
      .def("__getattr__", &event_field)
      .def("__str__", [](const PyEvent& event) { return event.text; })
      .def("__repr__", [](const PyEvent& event) { return "<Event " + event.text + ">"; });
}

void bind_observers(py::module_& module) {
  py::class_<EventSink>(module, "EventSink", "Takes the events of one connection in order.");
  py::class_<ByteSink>(module, "ByteSink", "Takes what one connection sends on the wire.");

  const RecorderLimits limits;
  py::class_<Recorder, EventSink>(module, "Recorder",
                                  "A sequence of Event: copies of events, up to its limits.")
      .def(py::init([](std::size_t events, std::size_t bytes) {
             return std::make_unique<Recorder>(RecorderLimits{events, bytes});
           }),
           py::kw_only(), py::arg("limit_events") = limits.events,
           py::arg("limit_bytes") = limits.bytes)
      .def("__len__", &Recorder::size)
      .def("__getitem__", &recorder_item, py::arg("index"))
      .def("events", &recorder_events, py::arg("start") = 0,
           "The events kept, from the place `start` on.")
      .def_property_readonly("dropped", &Recorder::dropped, "Events beyond the limits.")
      .def("replay", &Recorder::replay, py::arg("sink"), "Passes every event to another sink.")
      .def("clear", &Recorder::clear);

  py::class_<PyFanout, EventSink>(module, "Fanout", "Passes each event to several sinks, in order.")
      .def(py::init<const py::iterable&>(), py::arg("sinks"));
  py::class_<PyByteFanout, ByteSink>(module, "ByteFanout",
                                     "Passes octets to several sinks, in order.")
      .def(py::init<const py::iterable&>(), py::arg("sinks"));
}

void bind_capture(py::module_& module) {
  py::class_<Capture, ByteSink>(
      module, "Capture",
      "Keeps what one connection sends on the wire, up to its limit, and writes it as packets.")
      .def("annotate", &Capture::annotate, py::arg("time_ns"), py::arg("sender"), py::arg("text"),
           "Comments the last packet of `sender` up to that time.")
      .def_property_readonly("kept_bytes", &Capture::kept_bytes)
      .def_property_readonly("dropped_bytes", &Capture::dropped_bytes)
      .def(
          "finish",
          [](const Capture& capture, const std::filesystem::path& path,
             std::vector<std::string> comments, std::int64_t clock_offset_ns) {
            write_file(path, {&capture}, {std::move(comments), clock_offset_ns});
          },
          py::arg("path"), py::kw_only(), py::arg("comments") = std::vector<std::string>{},
          py::arg("clock_offset_ns") = 0, "Writes the connection as a pcapng file.");
  py::class_<StreamCapture, Capture>(
      module, "StreamCapture",
      "Keeps the octets of a byte stream: iWARP, or TCP alone. The packets have these endpoints, "
      "pairs of numeric address and port.")
      .def(py::init([](const PyEndpoint& client, const PyEndpoint& server, std::size_t limit) {
             return std::make_unique<StreamCapture>(
                 CaptureEndpoints{endpoint_from_python(client), endpoint_from_python(server)},
                 limit);
           }),
           py::kw_only(), py::arg("client"), py::arg("server"),
           py::arg("limit_bytes") = kDefaultCaptureBytes)
      .def(
          "on_bytes",
          [](StreamCapture& capture, std::int64_t time_ns, Role sender, const py::buffer& bytes) {
            capture.on_bytes(time_ns, sender, from_python(bytes));
          },
          py::arg("time_ns"), py::arg("sender"), py::arg("bytes"),
          "Adds octets of the stream; connections call it themselves.")
      .def("on_end", &StreamCapture::on_end, py::arg("time_ns"), py::arg("sender"),
           py::arg("clean") = true)
      .def(
          "octets",
          [](const StreamCapture& capture, Role sender) {
            return to_python(capture.octets(sender));
          },
          py::arg("sender"), "The octets that this side sent, up to the limit.");
  py::class_<DatagramCapture, Capture>(
      module, "DatagramCapture",
      "Keeps the datagrams of a connection over RoCE, with the addresses that they had.")
      .def(py::init<std::size_t>(), py::kw_only(), py::arg("limit_bytes") = kDefaultCaptureBytes)
      .def_property_readonly("client_queue_pair", &rdma::infiniband::client_queue_pair,
                             "The number in the client's request; None without one.")
      .def(
          "datagrams",
          [](const DatagramCapture& capture) {
            py::list all;
            for (const auto& [sender, octets] : capture.datagrams())
              all.append(py::make_tuple(sender, to_python(octets)));
            return all;
          },
          "A list of (sender, octets): from the base header through the invariant CRC, in order.");
  module.def("events_of_capture", &events_of_capture, py::arg("octets"),
             "A list of Event for each RPC-over-RDMA connection in the octets of a capture file. "
             "Raises ValueError if they are no capture.");
  module.def(
      "write_captures",
      [](const std::filesystem::path& path, const std::vector<const Capture*>& captures,
         std::vector<std::string> comments, std::int64_t clock_offset_ns) {
        write_file(path, captures, {std::move(comments), clock_offset_ns});
      },
      py::arg("path"), py::arg("captures"), py::kw_only(),
      py::arg("comments") = std::vector<std::string>{}, py::arg("clock_offset_ns") = 0,
      "Writes several connections as one pcapng file. Streams need a client port of their own.");
}

}  // namespace

void bind_trace(py::module_& module) {
  module.doc() = "Events of a connection, their observers, and captures.";
  bind_events(module);
  bind_observers(module);
  bind_capture(module);
}

}  // namespace steertag::bindings
