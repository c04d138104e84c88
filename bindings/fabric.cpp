// Binds engine/fabric: providers, listeners, and connection setup.
#include "fabric/fabric.h"

#include <deque>
#include <random>

#include "fabric_parts.h"

namespace steertag::bindings {
namespace {

using namespace steertag::fabric;
using py::literals::operator""_a;
using std::chrono::milliseconds;

using ConnectionRef = std::shared_ptr<PyConnection>;

// A field of three bits.
constexpr std::uint8_t kMostRnrRetryCount = 7;

milliseconds ms(double value) {
  return milliseconds(static_cast<std::int64_t>(value));
}

/// A connection request at a listener; it takes one answer.
struct PyRequest {
  ProviderRef provider;
  std::unique_ptr<ConnectionRequest> request;

  ConnectionRequest& pending() {
    if (!request) raise_fabric_error({Errc::not_connected, "the request is already answered"});
    return *request;
  }
};

using RequestQueue = std::deque<std::unique_ptr<ConnectionRequest>>;

struct PyListener {
  ProviderRef provider;
  std::shared_ptr<RequestQueue> requests;  // shared with the listener's callback
  std::unique_ptr<Listener> listener;
};

/// The options of a new connection, and the number of receives to keep posted.
struct PyOptions {
  ConnectionOptions connection;
  std::size_t receives = 0;
  std::size_t receive_bytes = 1024;
};

PyOptions options_of(const py::buffer& private_data, std::uint16_t ird, std::uint16_t ord,
                     double idle_timeout_ms, bool crc, std::uint8_t mpa_revision,
                     const std::optional<py::buffer>& raw_startup,
                     const std::optional<roce::BentPacket>& bent_startup,
                     const std::optional<roce::BentPacket>& bent_response, std::uint16_t local_port,
                     const std::string& local_host, std::uint8_t most_rnr_repetitions,
                     std::size_t receives, std::size_t receive_bytes) {
  if (most_rnr_repetitions > kMostRnrRetryCount)
    throw py::value_error("most_rnr_repetitions is at most " + std::to_string(kMostRnrRetryCount));
  ConnectionOptions options;
  options.private_data = from_python(private_data);
  options.ird = ird;
  options.ord = ord;
  options.idle_timeout = ms(idle_timeout_ms);
  options.crc = crc;
  options.mpa_revision = mpa_revision;
  if (raw_startup) options.raw_startup = from_python(*raw_startup);
  if (bent_startup) options.bent_startup = std::make_shared<roce::BentPacket>(*bent_startup);
  if (bent_response) options.bent_response = std::make_shared<roce::BentPacket>(*bent_response);
  options.local_port = local_port;
  options.local_host = local_host;
  options.roce.most_rnr_repetitions = most_rnr_repetitions;
  return {std::move(options), receives, receive_bytes};
}

// Errors of the peer or the network are refusals; the others are errors of the caller.
bool refusal(Errc code) {
  return code == Errc::name_not_found || code == Errc::cannot_connect || code == Errc::no_device;
}

ConnectionRef connect(const ProviderRef& provider, const std::string& url, const DomainRef& domain,
                      const PyOptions& options, double startup_timeout_ms, const py::object& events,
                      const py::object& octets, bool wait) {
  const Url target = value_or_raise(parse_url(url));
  auto made = std::make_shared<PyConnection>(provider, domain, events, octets);
  ConnectionOptions timed = options.connection;
  timed.startup_timeout = ms(startup_timeout_ms);
  auto begun = provider->idle().connect(target, *domain->domain, timed, *made, made->events(),
                                        made->octets());
  if (begun) {
    made->start(std::move(*begun), options.receives, options.receive_bytes);
  } else if (refusal(begun.error().code)) {
    made->fail(begun.error());
  } else {
    raise_fabric_error(begun.error());
  }
  if (wait) made->wait_until_decided();
  return made;
}

ConnectionRef accept(PyRequest& self, const DomainRef& domain, const PyOptions& options,
                     const py::object& events, const py::object& octets) {
  auto made = std::make_shared<PyConnection>(self.provider, domain, events, octets);
  self.provider->idle();
  auto accepted = self.pending().accept(*domain->domain, options.connection, *made, made->events(),
                                        made->octets());
  made->start(value_or_raise(std::move(accepted)), options.receives, options.receive_bytes);
  self.request.reset();
  return made;
}

std::unique_ptr<PyListener> listen(const ProviderRef& provider, const std::string& url) {
  auto requests = std::make_shared<RequestQueue>();
  auto listener = value_or_raise(provider->idle().listen(
      value_or_raise(parse_url(url)), [requests](std::unique_ptr<ConnectionRequest> request) {
        requests->push_back(std::move(request));
      }));
  return std::make_unique<PyListener>(PyListener{provider, requests, std::move(listener)});
}

std::unique_ptr<PyRequest> next_request(PyListener& self, double timeout_ms) {
  RequestQueue& queue = *self.requests;
  if (!poll_until(*self.provider, timeout_ms, [&] { return !queue.empty(); })) return nullptr;
  auto made = std::make_unique<PyRequest>(PyRequest{self.provider, std::move(queue.front())});
  queue.pop_front();
  return made;
}

ProviderRef make(const std::string& name, std::optional<std::uint64_t> seed, const Limits& limits) {
  const auto source = std::make_shared<std::mt19937_64>(seed ? *seed : system_random()());
  return std::make_shared<PyProvider>(
      PyProvider{name, source,
                 value_or_raise(make_provider(
                     name, [source] { return (*source)(); }, limits))});
}

Limits limits_of(double startup_ms, double mid_message_ms, double unsent_ms, double closing_ms,
                 std::size_t posted_operations) {
  return {ms(startup_ms), ms(mid_message_ms), ms(unsent_ms), ms(closing_ms), posted_operations};
}

void bind_listener(py::module_& module) {
  py::class_<PyRequest>(module, "Request", "A connection request that waits for an answer.")
      .def_property_readonly("private_data",
                             [](PyRequest& r) { return to_python(r.pending().private_data()); })
      .def_property_readonly("peer_name", [](PyRequest& r) { return r.pending().peer_name(); })
      .def("accept", &accept, "domain"_a, "options"_a = PyOptions{}, py::kw_only(),
           "events"_a = py::none(), "octets"_a = py::none(),
           "Accepts the request. Returns a Connection.")
      .def(
          "reject",
          [](PyRequest& r, const py::buffer& private_data) {
            r.provider->idle();
            r.pending().reject(from_python(private_data));
            r.request.reset();
          },
          "private_data"_a = py::bytes(), "Rejects the request.");
  py::class_<PyListener>(module, "Listener")
      .def_property_readonly("port", [](const PyListener& l) { return l.listener->port(); })
      .def("wait", &next_request, "timeout_ms"_a, "The next Request, or None after `timeout_ms`.");
}

void bind_options(py::module_& module) {
  const PyOptions defaults;
  const ConnectionOptions& connection = defaults.connection;
  py::class_<PyOptions>(
      module, "ConnectionOptions",
      "The options of a new connection. `receives` buffers of `receive_bytes` octets stay "
      "posted. `raw_startup` replaces the MPA request or reply. `bent_startup` alters the REQ or "
      "REP, or with an index of 1 the first RTU, `bent_response` our response to a READ request. "
      "`local_port` is our port as "
      "initiator, and `local_host` our numeric address (iwarp). `most_rnr_repetitions`: how often "
      "either side repeats a Send that finds no "
      "receive (roce).")
      .def(py::init(&options_of), py::kw_only(), "private_data"_a = py::bytes(),
           "ird"_a = connection.ird, "ord"_a = connection.ord, "idle_timeout_ms"_a = 0.0,
           "crc"_a = connection.crc, "mpa_revision"_a = connection.mpa_revision,
           "raw_startup"_a = py::none(), "bent_startup"_a = py::none(),
           "bent_response"_a = py::none(), "local_port"_a = connection.local_port,
           "local_host"_a = connection.local_host,
           "most_rnr_repetitions"_a = connection.roce.most_rnr_repetitions,
           "receives"_a = defaults.receives, "receive_bytes"_a = defaults.receive_bytes)
      .def_property_readonly(
          "private_data",
          [](const PyOptions& options) { return to_python(options.connection.private_data); })
      .def_property_readonly(
          "most_rnr_repetitions",
          [](const PyOptions& options) { return options.connection.roce.most_rnr_repetitions; })
      .def_readonly("receives", &PyOptions::receives)
      .def_readonly("receive_bytes", &PyOptions::receive_bytes);
}

void bind_limits(py::module_& module) {
  const auto in_ms = [](milliseconds value) { return static_cast<double>(value.count()); };
  const Limits limits;
  py::class_<Limits>(module, "Limits",
                     "Bounds on the time and memory that a peer can cost a provider.")
      .def(py::init(&limits_of), py::kw_only(), "startup_ms"_a = in_ms(limits.startup),
           "mid_message_ms"_a = in_ms(limits.mid_message), "unsent_ms"_a = in_ms(limits.unsent),
           "closing_ms"_a = in_ms(limits.closing),
           "posted_operations"_a = limits.posted_operations);
  py::class_<Capabilities>(module, "Capabilities", "What a provider can do; sizes in octets.")
      .def_readonly("remote_invalidation", &Capabilities::remote_invalidation)
      .def_readonly("windows", &Capabilities::windows)
      .def_readonly("fault_hooks", &Capabilities::fault_hooks)
      .def_readonly("bent_packets", &Capabilities::bent_packets)
      .def_readonly("byte_capture", &Capabilities::byte_capture)
      .def_readonly("sees_remote_operations", &Capabilities::sees_remote_operations)
      .def_readonly("sees_reset", &Capabilities::sees_reset)
      .def_readonly("sees_violations", &Capabilities::sees_violations)
      .def_readonly("exact_private_data", &Capabilities::exact_private_data)
      .def_readonly("chosen_port", &Capabilities::chosen_port)
      .def_readonly("chosen_host", &Capabilities::chosen_host)
      .def_readonly("chosen_base", &Capabilities::chosen_base)
      .def_readonly("responder_waits", &Capabilities::responder_waits)
      .def_readonly("largest_send", &Capabilities::largest_send)
      .def_readonly("largest_private_data", &Capabilities::largest_private_data);
}

void bind_provider(py::module_& module) {
  const auto startup_ms = static_cast<double>(ConnectionOptions{}.startup_timeout.count());
  py::class_<PyProvider, ProviderRef>(module, "Provider", "A provider. It runs only inside a wait.")
      .def(py::init(&make), "name"_a, py::kw_only(), "seed"_a = py::none(), "limits"_a = Limits{},
           "A seed repeats the steering tags in every run.")
      .def(
          "reseed", [](PyProvider& p, std::uint64_t seed) { p.source->seed(seed); }, "seed"_a,
          "Seeds the steering tags and offsets of a software provider from here on.")
      .def_readonly("name", &PyProvider::name)
      .def_property_readonly("capabilities",
                             [](const PyProvider& p) { return p.provider->capabilities(); })
      .def("make_domain",
           [](const ProviderRef& p) {
             return std::make_shared<PyDomain>(PyDomain{p, p->idle().make_domain()});
           })
      .def("connect", &connect, "url"_a, "domain"_a, "options"_a = PyOptions{}, py::kw_only(),
           "startup_timeout_ms"_a = startup_ms, "events"_a = py::none(), "octets"_a = py::none(),
           "wait"_a = true,
           "Opens a Connection. With `wait`, returns once it is established or refused.")
      .def("listen", &listen, "url"_a, "Opens a Listener; port 0 takes any free port.")
      .def(
          "poll",
          [](PyProvider& p, double timeout_ms) { poll_until(p, timeout_ms, [] { return false; }); },
          "timeout_ms"_a, "Runs for `timeout_ms`, for connections without a wait.")
      .def(
          "wake", [](const PyProvider& p) { p.provider->wake(); },
          "Ends another thread's wait early.");
}

}  // namespace

void raise_fabric_error(const Error& error) {
  const py::object type =
      py::module_::import("steertag._engine").attr("fabric").attr("FabricError");
  const py::object raised = type(error.message());
  raised.attr("code") = error.code;
  raised.attr("detail") = error.detail;
  PyErr_SetObject(type.ptr(), raised.ptr());
  throw py::error_already_set();
}

void bind_fabric(py::module_& module) {
  module.doc() = "RDMA over a provider, which runs inside waits.";
  py::exception<std::runtime_error>(module, "FabricError", PyExc_OSError);
  bind_fabric_values(module);
  bind_fabric_memory(module);
  bind_limits(module);
  bind_options(module);
  bind_fabric_connection(module);
  bind_provider(module);
  bind_listener(module);
}

}  // namespace steertag::bindings
