// Binds the reference peers: deviations, the server in a thread of its own, and the client.
#include <pybind11/stl.h>

#include <ctime>
#include <optional>
#include <variant>

#include "bind.h"
#include "client/rpc_client.h"
#include "deviations/catalogue.h"
#include "deviations/server/server_deviations.h"
#include "fabric_parts.h"
#include "server/directory/directory_backend.h"
#include "server/server_thread.h"

namespace steertag::bindings {
namespace {

using namespace steertag::peer;
using py::literals::operator""_a;
using std::chrono::milliseconds;

constexpr const char* kCallErrorName = "CallError";

constexpr std::pair<CallErrc, const char*> kCallErrors[] = {
    {CallErrc::bad_call, "bad_call"},
    {CallErrc::err_chunk, "err_chunk"},
    {CallErrc::err_vers, "err_vers"},
    {CallErrc::bad_reply, "bad_reply"},
    {CallErrc::rpc_error, "rpc_error"},
    {CallErrc::bad_results, "bad_results"},
    {CallErrc::connection_lost, "connection_lost"},
    {CallErrc::timed_out, "timed_out"},
    {CallErrc::too_large, "too_large"},
    {CallErrc::no_memory, "no_memory"},
    {CallErrc::too_many_calls, "too_many_calls"},
};

[[noreturn]] void raise_call_error(const CallError& error) {
  const char* name = "";
  for (const auto& [code, text] : kCallErrors) {
    if (code == error.code) name = text;
  }
  const py::object type = py::module_::import("steertag._engine").attr("peer").attr(kCallErrorName);
  const py::object value = type(error.message());
  value.attr("code") = name;
  PyErr_SetObject(type.ptr(), value.ptr());
  throw py::error_already_set();
}

peer::Time now() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return {time.tv_sec, static_cast<std::uint32_t>(time.tv_nsec)};
}

void bind_deviations(py::module_& module) {
  using deviations::Deviation;
  py::class_<Deviation>(module, "Deviation",
                        "A named change that makes a reference peer break a requirement.")
      .def_readonly("name", &Deviation::name)
      .def_property_readonly("requirement", &Deviation::requirement,
                             "The ledger id of the requirement that it breaks.")
      .def_property_readonly(
          "also",
          [](const Deviation& row) {
            const auto ids = deviations::broken(row);
            const py::tuple others = py::cast(std::vector(ids.begin() + 1, ids.end()));
            return others;
          },
          "The ledger ids of further requirements that it breaks.")
      .def_readonly("sentence", &Deviation::sentence)
      .def_property_readonly(
          "side",
          [](const Deviation& row) {
            return row.side == trace::Role::client ? "client" : "server";
          },
          "The side that deviates: server or client.")
      .def("__repr__", [](const Deviation& row) {
        return "<Deviation " + std::string(row.name) + " of " + std::string(row.requirement()) +
               ">";
      });
  module.def(
      "deviations",
      [](trace::Role side) {
        py::list rows;
        for (const Deviation* row : deviations::all(side)) rows.append(py::cast(*row));
        return rows;
      },
      "side"_a = trace::Role::server,
      "All deviations of the reference server, or of the reference client.");
}

std::unique_ptr<ServerThread> start_server(
    const std::variant<std::string, std::vector<std::string>>& listen, std::uint32_t credits,
    std::uint32_t inline_bytes, bool remote_invalidation, bool private_data, double idle_timeout_s,
    const std::vector<std::string>& deviate, const std::optional<std::string>& exported,
    bool root_squash) {
  ServerOptions options;
  deviations::ServerDeviations chosen;
  for (const std::string& name : deviate) {
    if (auto added = chosen.add(name); !added) throw py::value_error(added.error());
  }
  options.credits = credits;
  options.announced = {remote_invalidation, inline_bytes, inline_bytes};
  options.sends_private_data = private_data;
  const auto idle_timeout = idle_timeout_of(idle_timeout_s);
  if (!idle_timeout) throw py::value_error(idle_timeout.error());
  options.idle_timeout = *idle_timeout;
  if (const auto possible = check(options); !possible) throw py::value_error(possible.error());
  chosen.install(options);
  std::vector<net::Url> urls;
  const auto add = [&](const std::string& text) {
    urls.push_back(value_or_raise(net::parse_url(text)));
  };
  if (const auto* one = std::get_if<std::string>(&listen)) {
    add(*one);
  } else {
    for (const std::string& text : std::get<std::vector<std::string>>(listen)) add(text);
  }
  const fabric::RandomSource random = fabric::system_random();
  if (!exported) return value_or_raise(ServerThread::start(urls, options, random, now));
  DirectoryOptions directory;
  directory.path = *exported;
  if (root_squash && runs_as_root()) options.squash.of = Squash::Of::root;
  directory.key = {random(), random()};
  auto storage = DirectoryBackend::open(directory, now, random);
  if (!storage) throw py::value_error(storage.error());
  return value_or_raise(ServerThread::start(urls, options, random, std::move(*storage)));
}

py::dict to_dict(const ServerStatistics& counts) {
  return py::dict("connections"_a = counts.connections,
                  "refused_connections"_a = counts.refused_connections,
                  "messages"_a = counts.messages, "replies"_a = counts.replies,
                  "errors"_a = counts.errors, "discarded"_a = counts.discarded,
                  "pulled_bytes"_a = counts.pulled_bytes, "pushed_bytes"_a = counts.pushed_bytes);
}

void bind_server(py::module_& module) {
  py::class_<ServerThread>(module, "Server",
                           "The reference NFS/RDMA server: NFS version 3 and MOUNT from memory, in "
                           "a thread of its own until it is stopped.")
      .def(py::init(&start_server), "listen"_a = "iwarp://127.0.0.1:0", py::kw_only(),
           "credits"_a = kDefaultCredits, "inline_bytes"_a = kDefaultAnnouncedBytes,
           "remote_invalidation"_a = true, "private_data"_a = true,
           "idle_timeout_s"_a = std::chrono::duration<double>(kIdleTimeout).count(),
           "deviate"_a = std::vector<std::string>{}, "export"_a = py::none(),
           "root_squash"_a = true,
           "`listen` is a URL or a list of URLs. `export` is a directory to serve instead of "
           "memory; uid 0 of a client is root there only without `root_squash`.")
      .def_property_readonly(
          "listening",
          [](const ServerThread& self) {
            std::vector<std::string> urls;
            for (const net::Url& url : self.listening()) urls.push_back(url.text());
            return urls;
          },
          "The URLs with the bound ports, in the order of `listen`.")
      .def_property_readonly("port", &ServerThread::port)
      .def_property_readonly("connection_count", &ServerThread::connection_count)
      .def_property_readonly("failed", &ServerThread::failed, "Whether a deviation ended it.")
      .def("statistics", [](const ServerThread& self) { return to_dict(self.statistics()); })
      .def("stop", &ServerThread::stop, py::call_guard<py::gil_scoped_release>())
      .def("__enter__", [](ServerThread& self) -> ServerThread& { return self; })
      .def(
          "__exit__", [](ServerThread& self, const py::args&) { self.stop(); },
          py::call_guard<py::gil_scoped_release>());
}

/// A client with its provider.
class PyClient {
 public:
  PyClient(const std::string& text, std::uint32_t credits, std::uint32_t inline_bytes,
           bool remote_invalidation, bool private_data, double timeout_s) {
    const fabric::Url url = value_or_raise(fabric::parse_url(text));
    const fabric::RandomSource random = fabric::system_random();
    provider_ = value_or_raise(fabric::make_provider(url.provider, random));
    RequesterOptions options;
    options.credits = credits;
    options.announced = {remote_invalidation, inline_bytes, inline_bytes};
    options.sends_private_data = private_data;
    const auto timeout = milliseconds(static_cast<std::int64_t>(timeout_s * 1000));
    options.connect_timeout = std::min(options.connect_timeout, timeout);
    client_ =
        std::make_unique<RpcClient>(*provider_, url, options, static_cast<std::uint32_t>(random()));
    client_->set_timeout(timeout);
  }

  py::bytes call(const py::buffer& rpc_call, const FormWish& wish) {
    const Bytes octets = from_python(rpc_call);
    client_->set_wish(wish);
    const auto reply = [&] {
      const py::gil_scoped_release release;
      return client_->round_trip(View(octets));
    }();
    if (!reply) raise_call_error(reply.error());
    return to_python(*reply);
  }

  RpcClient& client() { return *client_; }

 private:
  std::unique_ptr<fabric::Provider> provider_;
  std::unique_ptr<RpcClient> client_;
};

void bind_form(py::module_& module) {
  py::enum_<Use>(module, "Use", "Whether a call uses a chunk.")
      .value("WHEN_NEEDED", Use::when_needed)
      .value("ALWAYS", Use::always)
      .value("NEVER", Use::never);
  py::class_<FormWish>(module, "FormWish",
                       "The wanted form of a call; the defaults give the simplest.")
      .def(py::init([](Use read_chunk, Use write_chunk, Use reply_chunk, Use long_call,
                       std::uint32_t segments, bool roundup, bool empty) {
             return FormWish{read_chunk, write_chunk, reply_chunk, long_call,
                             segments,   roundup,     empty};
           }),
           py::kw_only(), "read_chunk"_a = Use::when_needed, "write_chunk"_a = Use::when_needed,
           "reply_chunk"_a = Use::when_needed, "long_call"_a = Use::when_needed, "segments"_a = 1,
           "roundup_in_read_chunk"_a = false, "empty_write_chunk"_a = false)
      .def_readwrite("read_chunk", &FormWish::read_chunk)
      .def_readwrite("write_chunk", &FormWish::write_chunk)
      .def_readwrite("reply_chunk", &FormWish::reply_chunk)
      .def_readwrite("long_call", &FormWish::long_call)
      .def_readwrite("segments", &FormWish::segments)
      .def_readwrite("roundup_in_read_chunk", &FormWish::roundup_in_read_chunk)
      .def_readwrite("empty_write_chunk", &FormWish::empty_write_chunk);
}

void bind_client(py::module_& module) {
  py::class_<PyClient>(
      module, "Client",
      "The reference client: whole RPC calls in, whole RPC replies out. It connects "
      "at the first call, and reconnects after a loss.")
      .def(py::init<const std::string&, std::uint32_t, std::uint32_t, bool, bool, double>(),
           "url"_a, py::kw_only(), "credits"_a = kDefaultCredits,
           "inline_bytes"_a = kDefaultAnnouncedBytes, "remote_invalidation"_a = true,
           "private_data"_a = true, "timeout_s"_a = 10.0)
      .def("call", &PyClient::call, "rpc_call"_a, "form"_a = FormWish{},
           "Sends an encoded, unreduced RPC call (its XID is replaced) and returns the unreduced "
           "RPC reply. Raises CallError.")
      .def_property_readonly("last_header",
                             [](PyClient& self) { return self.client().last_header(); })
      .def_property_readonly(
          "last_remotely_invalidated",
          [](PyClient& self) { return self.client().last_remotely_invalidated(); })
      .def_property_readonly(
          "granted", [](PyClient& self) { return self.client().requester().credits().granted(); })
      .def_property_readonly(
          "thresholds",
          [](PyClient& self) {
            const auto& limits = self.client().requester().negotiated();
            return py::make_tuple(limits.to_server_bytes, limits.to_client_bytes);
          },
          "Inline thresholds (client to server, server to client) in octets.")
      .def(
          "abort", [](PyClient& self) { self.client().requester().abort_connection(); },
          "Aborts the connection; the next call opens another.");
}

}  // namespace

void bind_peer(py::module_& module) {
  module.doc() = "The reference peers: server, client and deviations.";
  module.attr(kCallErrorName) =
      py::exception<CallError>(module, kCallErrorName, PyExc_RuntimeError);
  bind_deviations(module);
  bind_server(module);
  bind_form(module);
  bind_client(module);
  bind_peer_files(module);
  bind_peer_script(module);
}

}  // namespace steertag::bindings
