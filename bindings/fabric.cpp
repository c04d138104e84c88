// Binds engine/fabric: providers, listeners, and how connections come up.
#include <deque>

#include "fabric_parts.h"

namespace steertag::bindings {
namespace {

using namespace steertag::fabric;
using py::literals::operator""_a;
using std::chrono::milliseconds;

/// What a connection is made with; the names are those of fabric::ConnectionOptions.
struct Wishes {
  py::object private_data = py::none();
  std::uint16_t ird = 16;
  std::uint16_t ord = 16;
  double startup_timeout_ms = 5000;
  double idle_timeout_ms = 0;
  bool crc = true;
  std::uint8_t mpa_revision = 2;
  py::object raw_startup = py::none();

  explicit Wishes(const py::kwargs& kwargs) {
    for (const auto& [key, value] : kwargs) take(py::str(key), value);
  }

  ConnectionOptions options() const {
    ConnectionOptions made;
    if (!private_data.is_none()) made.private_data = from_python(py::buffer(private_data));
    made.ird = ird;
    made.ord = ord;
    made.startup_timeout = milliseconds(static_cast<std::int64_t>(startup_timeout_ms));
    made.idle_timeout = milliseconds(static_cast<std::int64_t>(idle_timeout_ms));
    made.crc = crc;
    made.mpa_revision = mpa_revision;
    if (!raw_startup.is_none()) made.raw_startup = from_python(py::buffer(raw_startup));
    return made;
  }

 private:
  void take(const std::string& name, py::handle value) {
    if (name == "private_data") {
      private_data = py::reinterpret_borrow<py::object>(value);
    } else if (name == "ird") {
      ird = value.cast<std::uint16_t>();
    } else if (name == "ord") {
      ord = value.cast<std::uint16_t>();
    } else if (name == "startup_timeout_ms") {
      startup_timeout_ms = value.cast<double>();
    } else if (name == "idle_timeout_ms") {
      idle_timeout_ms = value.cast<double>();
    } else if (name == "crc") {
      crc = value.cast<bool>();
    } else if (name == "mpa_revision") {
      mpa_revision = value.cast<std::uint8_t>();
    } else if (name == "raw_startup") {
      raw_startup = py::reinterpret_borrow<py::object>(value);
    } else {
      throw py::type_error("a connection has no option '" + name + "'");
    }
  }
};

using ConnectionRef = std::shared_ptr<PyConnection>;

ConnectionRef connect(const ProviderRef& provider, const std::string& url, const DomainRef& domain,
                      std::size_t receives, std::size_t receive_bytes, const py::object& events,
                      const py::object& octets, const py::kwargs& kwargs) {
  const ConnectionOptions options = Wishes(kwargs).options();
  const Url target = value_or_raise(parse_url(url));
  auto made = std::make_shared<PyConnection>(provider, domain, events, octets);
  auto begun = provider->provider->connect(target, *domain->domain, options, *made, made->events(),
                                           made->octets());
  if (begun) {
    made->start(std::move(*begun), receives, receive_bytes);
    made->wait_until_decided();
  } else {
    made->fail(begun.error());
  }
  return made;
}

using RequestQueue = std::deque<std::unique_ptr<ConnectionRequest>>;

/// A request at a listener; it is answered once.
struct PyRequest {
  ProviderRef provider;
  std::unique_ptr<ConnectionRequest> request;

  ConnectionRequest& pending() {
    if (!request) raise_fabric_error({Errc::not_connected, "the request was answered before"});
    return *request;
  }
};

struct PyListener {
  ProviderRef provider;
  std::shared_ptr<RequestQueue> requests;  // shared with the listener's callback
  std::unique_ptr<Listener> listener;
};

std::unique_ptr<PyListener> listen(const ProviderRef& provider, const std::string& url) {
  auto requests = std::make_shared<RequestQueue>();
  auto listener = value_or_raise(provider->provider->listen(
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

ConnectionRef accept(PyRequest& self, const DomainRef& domain, std::size_t receives,
                     std::size_t receive_bytes, const py::object& events, const py::object& octets,
                     const py::kwargs& kwargs) {
  const ConnectionOptions options = Wishes(kwargs).options();
  auto made = std::make_shared<PyConnection>(self.provider, domain, events, octets);
  auto accepted =
      self.pending().accept(*domain->domain, options, *made, made->events(), made->octets());
  self.request.reset();
  made->start(value_or_raise(std::move(accepted)), receives, receive_bytes);
  return made;
}

void bind_listener(py::module_& module) {
  py::class_<PyRequest>(module, "Request", "A connection request that waits for an answer.")
      .def_property_readonly("private_data",
                             [](PyRequest& r) { return to_python(r.pending().private_data()); })
      .def_property_readonly("peer_name", [](PyRequest& r) { return r.pending().peer_name(); })
      .def("accept", &accept, "domain"_a, py::kw_only(), "receives"_a = 0, "receive_bytes"_a = 1024,
           "events"_a = py::none(), "octets"_a = py::none(),
           "Answers yes; further keyword arguments as of Provider.connect.")
      .def(
          "reject",
          [](PyRequest& r, const py::buffer& private_data) {
            r.pending().reject(from_python(private_data));
            r.request.reset();
          },
          "private_data"_a = py::bytes(), "Answers no.");
  py::class_<PyListener>(module, "Listener")
      .def_property_readonly("port", [](const PyListener& l) { return l.listener->port(); })
      .def("wait", &next_request, "timeout_ms"_a,
           "The next Request, or None when the time has passed.");
}

void bind_provider(py::module_& module) {
  py::class_<Capabilities>(module, "Capabilities", "What a provider can do; sizes in octets.")
      .def_readonly("remote_invalidation", &Capabilities::remote_invalidation)
      .def_readonly("fault_hooks", &Capabilities::fault_hooks)
      .def_readonly("byte_capture", &Capabilities::byte_capture)
      .def_readonly("largest_send", &Capabilities::largest_send)
      .def_readonly("largest_private_data", &Capabilities::largest_private_data);
  py::class_<PyProvider, ProviderRef>(module, "Provider",
                                      "A provider; it works only while someone waits on it.")
      .def(py::init([](const std::string& name) {
             return std::make_shared<PyProvider>(
                 PyProvider{name, value_or_raise(make_provider(name, system_random()))});
           }),
           "name"_a)
      .def_readonly("name", &PyProvider::name)
      .def_property_readonly("capabilities",
                             [](const PyProvider& p) { return p.provider->capabilities(); })
      .def("make_domain",
           [](const ProviderRef& p) {
             return std::make_shared<PyDomain>(PyDomain{p, p->provider->make_domain()});
           })
      .def("connect", &connect, "url"_a, "domain"_a, py::kw_only(), "receives"_a = 0,
           "receive_bytes"_a = 1024, "events"_a = py::none(), "octets"_a = py::none(),
           "Opens a connection and waits until it is established or refused. Further keyword "
           "arguments: private_data, ird, ord, startup_timeout_ms, idle_timeout_ms, crc, "
           "mpa_revision, raw_startup.")
      .def("listen", &listen, "url"_a)
      .def(
          "poll",
          [](const ProviderRef& p, std::int64_t timeout_ms) {
            const py::gil_scoped_release release;
            return p->provider->poll(milliseconds(timeout_ms));
          },
          "timeout_ms"_a, "Works until something was done or the time has passed.")
      .def("wake", [](const PyProvider& p) { p.provider->wake(); });
}

}  // namespace

void raise_fabric_error(const Error& error) {
  const py::object type =
      py::module_::import("steertag._engine").attr("fabric").attr("FabricError");
  const py::object raised = type(error.message());
  raised.attr("code") = error.code;
  PyErr_SetObject(type.ptr(), raised.ptr());
  throw py::error_already_set();
}

void bind_fabric(py::module_& module) {
  module.doc() = "RDMA over a provider, driven by whoever waits.";
  py::exception<std::runtime_error>(module, "FabricError", PyExc_OSError);
  bind_fabric_values(module);
  bind_fabric_memory(module);
  bind_provider(module);
  bind_fabric_connection(module);
  bind_listener(module);
}

}  // namespace steertag::bindings
