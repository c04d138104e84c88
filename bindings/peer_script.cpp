// Binds the reference server for tests of clients, polled by its owner.
// Python fills its memory storage and reads it back. A Python object is its interposer. Named
// deviations change what that object leaves alone.
#include <pybind11/stl.h>

#include <algorithm>
#include <ctime>
#include <random>

#include "deviations/server/server_deviations.h"
#include "peer_interposer.h"
#include "server/direct/direct_access.h"
#include "server/rpc/programs.h"
#include "server/storage/memory_backend.h"
#include "server/striped_server.h"

namespace steertag::bindings {
namespace {

using namespace steertag::peer;
using py::literals::operator""_a;
using std::chrono::milliseconds;

/// Octets of one read from the storage.
constexpr std::uint32_t kReadBytes = 1U << 20;
/// What a client may store: the storage is memory of the test's own process.
constexpr std::uint64_t kMostStoredBytes = 64ULL << 20;

// A client without a receive loses its connection at once, as it does over iWARP.
constexpr std::uint8_t kMostRnrRepetitions = 0;

peer::Time now() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return {time.tv_sec, static_cast<std::uint32_t>(time.tv_nsec)};
}

Bytes octets_of(const py::bytes& octets) {
  return from_python(py::buffer(octets));
}

/// How its files are striped, and the script of each data server; without any there is no pNFS.
struct PyStripes {
  std::vector<py::object> scripts;
  std::string host;  // by which the client reaches them; empty: that of the server
  std::uint32_t unit_bytes = kDefaultStripeUnit;
  bool dense = false;
  bool commit_through_server = false;
  bool by_tcp = false;

  StripePattern pattern() const {
    return {static_cast<std::uint32_t>(scripts.size()), unit_bytes, dense, commit_through_server};
  }
};

class PyScriptedServer {
 public:
  PyScriptedServer(const std::vector<std::string>& listen, py::object script, std::uint32_t credits,
                   std::uint32_t inline_bytes, bool remote_invalidation,
                   std::uint32_t receive_bytes, std::uint32_t transfer_bytes, std::uint64_t seed,
                   const std::vector<std::string>& deviate, std::uint32_t direct_block,
                   const PyStripes& stripes) {
    ServerOptions options;
    options.credits = credits;
    options.announced = {remote_invalidation, inline_bytes,
                         receive_bytes == 0 ? inline_bytes : receive_bytes};
    if (const auto possible = check(options); !possible) throw py::value_error(possible.error());
    options.roce.most_rnr_repetitions = kMostRnrRepetitions;
    deviations::ServerDeviations chosen;
    for (const std::string& name : deviate) {
      if (auto added = chosen.add(name); !added) throw py::value_error(added.error());
    }
    chosen.install(options);
    interposers_.push_back(
        std::make_shared<PyInterposer>(std::move(script), std::move(options.interposer)));
    options.interposer = interposers_.front();
    for (const py::object& each : stripes.scripts)
      interposers_.push_back(std::make_shared<PyInterposer>(each, nullptr));
    std::vector<net::Url> urls;
    for (const std::string& text : listen) urls.push_back(value_or_raise(net::parse_url(text)));
    const fabric::RandomSource random = [source = std::make_shared<std::mt19937_64>(seed)] {
      return (*source)();
    };
    if (direct_block != 0) offer_direct_access(options, direct_block, random);
    MemoryLimits limits;
    limits.largest_transfer_bytes = transfer_bytes;
    limits.total_bytes = kMostStoredBytes;
    storage_ = std::make_unique<MemoryBackend>(now, random, limits);
    Nfs4StateOptions state;
    state.clock = options.clock;
    state.random = random;
    options.data_server_host = stripes.host;
    options.data_servers_by_tcp = stripes.by_tcp;
    if (!stripes.scripts.empty()) {
      const std::vector<std::shared_ptr<Interposer>> at_data_servers(interposers_.begin() + 1,
                                                                     interposers_.end());
      striped_ = value_or_raise(StripedServer::start(urls, *storage_, state, stripes.pattern(),
                                                     options, {}, at_data_servers));
      return;
    }
    ListenAddresses addresses = value_or_raise(make_listen_addresses(urls, random));
    providers_ = std::move(addresses.providers);
    server_ = value_or_raise(
        Server::start(addresses.addresses, make_programs(*storage_, state, direct_), options));
  }
  ~PyScriptedServer() { end(); }
  PyScriptedServer(const PyScriptedServer&) = delete;
  PyScriptedServer& operator=(const PyScriptedServer&) = delete;

  void poll(double timeout_ms) {
    idle();
    polling_ = true;
    {
      const milliseconds timeout(static_cast<std::int64_t>(timeout_ms));
      const py::gil_scoped_release release;
      if (striped_) {
        striped_->poll(timeout);
      } else {
        server_->poll(timeout);
      }
    }
    polling_ = false;
    for (const auto& each : interposers_) each->raise_problem();
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
  /// Stops listening and ends every connection.
  void close() {
    if (!server_ && !striped_) return;
    idle();
    end();
  }
  std::vector<std::string> listening() {
    std::vector<std::string> urls;
    for (const net::Url& url : idle().listening()) urls.push_back(url.text());
    return urls;
  }
  /// Data servers included.
  std::size_t connection_count() {
    if (!striped_) return server_ ? server_->connection_count() : 0;
    std::size_t count = striped_->metadata_server().connection_count();
    for (std::size_t index = 0; index < striped_->data_server_count(); ++index)
      count += striped_->data_server(index).connection_count();
    return count;
  }
  /// Over TCP alone there is no provider, and nothing that one can.
  fabric::Capabilities capabilities() const {
    const auto& providers = striped_ ? striped_->providers() : providers_;
    return providers.empty() ? fabric::Capabilities{} : providers.front()->capabilities();
  }

  void put(const std::string& name, const py::buffer& content) {
    NewNode file;
    file.change.mode = 0666;
    const auto made = storage_->create(storage_->root(), name, file);
    if (!made) throw py::value_error("the storage cannot create a file " + name);
    if (storage_->write(*made, 0, from_python(content)) != Status::ok)
      throw py::value_error("the storage has no room for " + name);
  }
  /// Writes the octets that are there: the file changes, and its content does not.
  void rewrite(const std::string& name) {
    const auto node = storage_->lookup(storage_->root(), name);
    const auto content = get(name, kMostStoredBytes);
    if (!node || !content) throw py::value_error("the storage has no file " + name);
    if (storage_->write(*node, 0, octets_of(*content)) != Status::ok)
      throw py::value_error("the storage cannot write " + name);
  }
  /// No more octets than `most_bytes`: a client may give a file any size.
  std::optional<py::bytes> get(const std::string& name, std::uint64_t most_bytes) {
    const auto node = storage_->lookup(storage_->root(), name);
    if (!node) return std::nullopt;
    Bytes content;
    std::vector<Slice> slices;
    const auto attributes = storage_->attributes(*node);
    if (!attributes) return std::nullopt;
    const std::uint64_t wanted = std::min(attributes->size_bytes, most_bytes);
    while (content.size() < wanted) {
      slices.clear();
      const auto count = std::min<std::uint64_t>(wanted - content.size(), kReadBytes);
      const auto read =
          storage_->read(*node, content.size(), static_cast<std::uint32_t>(count), slices);
      if (!read || *read == 0) break;
      for (const Slice& slice : slices)
        content.insert(content.end(), slice.bytes.begin(), slice.bytes.end());
    }
    return to_python(content);
  }
  std::optional<py::bytes> frame(std::uint32_t stag) {
    const MutableView octets = find_frame(stag);
    return octets.empty() ? std::nullopt : std::optional(to_python(octets));
  }
  void set_frame(std::uint32_t stag, const py::buffer& octets) {
    const Bytes given = from_python(octets);
    const MutableView place = find_frame(stag);
    if (place.size() != given.size())
      throw py::value_error("the frame has " + std::to_string(place.size()) + " octets, not " +
                            std::to_string(given.size()));
    std::ranges::copy(given, place.begin());
  }
  void end_optimistic() {
    if (direct_) direct_->end_users([](const DirectUser&) { return true; });
  }
  std::vector<std::string> names() {
    std::vector<std::string> names;
    (void)storage_->list(storage_->root(), 0, [&](const DirectoryEntry& entry) {
      if (entry.name != "." && entry.name != "..") names.emplace_back(entry.name);
      return true;
    });
    return names;
  }

 private:
  void offer_direct_access(ServerOptions& options, std::uint32_t block_bytes,
                           const fabric::RandomSource& random) {
    if (!is_direct_block(block_bytes))
      throw py::value_error("direct_block: a power of two from 4096 to 65536");
    DirectLimits limits;
    limits.block_bytes = block_bytes;
    direct_ = std::make_shared<DirectAccess>(limits, random, options.clock, options.direct_policy);
    options.direct = direct_;
  }
  MutableView find_frame(std::uint32_t stag) {
    return direct_ ? direct_->frame(stag) : MutableView{};
  }
  const Server& idle() {
    if (!server_ && !striped_) throw std::runtime_error("the server was closed");
    if (polling_) throw std::runtime_error("the server is being polled");
    return striped_ ? striped_->metadata_server() : *server_;
  }
  void end() {
    server_.reset();
    striped_.reset();
  }

  std::vector<std::shared_ptr<PyInterposer>> interposers_;  // the metadata server's is the first
  std::vector<std::unique_ptr<fabric::Provider>> providers_;
  std::unique_ptr<MemoryBackend> storage_;
  std::shared_ptr<DirectAccess> direct_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<StripedServer> striped_;  // in its place, with data servers
  bool polling_ = false;                    // guarded by the GIL
};

}  // namespace

void bind_peer_script(py::module_& module) {
  bind_peer_connection(module);
  bind_peer_interposer(module);
  py::class_<PyStripes>(module, "Stripes",
                        "Data servers beside a ScriptedServer: the script of each, the `host` by "
                        "which the client reaches them if it is not the server's, and how files "
                        "are striped over them. With `by_tcp` they listen over TCP alone.")
      .def(py::init([](std::vector<py::object> scripts, std::string host, std::uint32_t unit_bytes,
                       bool dense, bool commit_through_server, bool by_tcp) {
             return PyStripes{std::move(scripts),    std::move(host), unit_bytes, dense,
                              commit_through_server, by_tcp};
           }),
           "scripts"_a, "host"_a = "", "unit_bytes"_a = kDefaultStripeUnit, "dense"_a = false,
           "commit_through_server"_a = false, "by_tcp"_a = false);
  py::class_<PyScriptedServer>(
      module, "ScriptedServer",
      "The reference server in this process. It runs inside `poll` only, and calls the methods of "
      "`script` there: on_request(step), on_optimistic(step), on_accepted(connection), "
      "on_arrival(connection, message) "
      "-> taken, "
      "on_call(connection number, call) and on_reply(connection number, call, reply) -> the octets "
      "in "
      "their place or None, if it has these, on_departure(connection, departure) -> taken, "
      "on_read(connection, number, octets) and "
      "on_down(connection, reason). `poll` raises their exceptions.")
      .def(
          py::init<const std::vector<std::string>&, py::object, std::uint32_t, std::uint32_t, bool,
                   std::uint32_t, std::uint32_t, std::uint64_t, const std::vector<std::string>&,
                   std::uint32_t, const PyStripes&>(),
          "listen"_a, "script"_a, py::kw_only(), "credits"_a = kDefaultCredits,
          "inline_bytes"_a = kDefaultAnnouncedBytes, "remote_invalidation"_a = true,
          "receive_bytes"_a = 0, "transfer_bytes"_a = kLargestTransfer, "seed"_a = 0,
          "deviate"_a = std::vector<std::string>{}, "direct_block"_a = 0, "stripes"_a = PyStripes{},
          "`receive_bytes`: octets of its receives, if not `inline_bytes`. `transfer_bytes`: the "
          "largest READ or WRITE that it announces to clients. `deviate`: names of deviations of "
          "the server, which see what the script does not take. `direct_block`: octets of a block "
          "of direct access; 0: the server does not have it. `stripes`: it is a metadata server of "
          "pNFS, and these are its data servers.")
      .def("poll", &PyScriptedServer::poll, "timeout_ms"_a)
      .def("close", &PyScriptedServer::close)
      .def_property_readonly("listening", &PyScriptedServer::listening,
                             "The URLs with the bound ports, in the order of `listen`.")
      .def_property_readonly("connection_count", &PyScriptedServer::connection_count)
      .def_property_readonly("capabilities", &PyScriptedServer::capabilities)
      .def("put", &PyScriptedServer::put, "name"_a, "content"_a,
           "Creates a file in the root of the export.")
      .def("rewrite", &PyScriptedServer::rewrite, "name"_a,
           "Gives a file another change attribute, and the octets that it has.")
      .def("get", &PyScriptedServer::get, "name"_a, "most_bytes"_a = kMostStoredBytes,
           "The content of a file, or None; no more than its first `most_bytes` octets.")
      .def("frame", &PyScriptedServer::frame, "stag"_a,
           "The octets of the frame of direct access with this STag, or None.")
      .def("set_frame", &PyScriptedServer::set_frame, "stag"_a, "octets"_a,
           "Replaces them, as many as there are.")
      .def("end_optimistic", &PyScriptedServer::end_optimistic, "Ends all optimistic connections.")
      .def_property_readonly("names", &PyScriptedServer::names, "Names in the export's root.");
}

}  // namespace steertag::bindings
