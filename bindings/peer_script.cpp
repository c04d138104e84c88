// Binds the reference server for tests of clients, polled by its owner.
// Python fills its memory storage and reads it back. A Python object is its interposer. Named
// deviations change what that object leaves alone.
#include <pybind11/stl.h>

#include <algorithm>
#include <ctime>
#include <exception>
#include <random>

#include "deviations/server/server_deviations.h"
#include "fabric_parts.h"
#include "server/direct/direct_access.h"
#include "server/interposer.h"
#include "server/rpc/programs.h"
#include "server/server.h"
#include "server/storage/memory_backend.h"

namespace steertag::bindings {
namespace {

using namespace steertag::peer;
using py::literals::operator""_a;
using std::chrono::milliseconds;
using ConnectionRef = std::shared_ptr<InterposedConnection>;

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
  std::uint16_t ird = 16;
  std::uint16_t ord = 16;
  bool crc = true;
  py::object events = py::none();
  py::object octets = py::none();
};

Bytes octets_of(const py::bytes& octets) {
  return from_python(py::buffer(octets));
}

/// A request for an optimistic connection as Python sees it.
struct PyOptimisticStep {
  py::bytes client_data;
  bool rejects = false;
  std::optional<fabric::roce::BentPacket> bent_response;
  py::object events = py::none();
  py::object octets = py::none();
};

/// Passes the notices to a Python object. Its exception is kept until the poll ends. The interposer
/// of the deviations, if there is one, gets what the object does not take.
class PyInterposer final : public Interposer {
 public:
  PyInterposer(py::object script, std::shared_ptr<Interposer> deviations)
      : script_(std::move(script)), deviations_(std::move(deviations)) {}

  void on_request(View private_data, AcceptStep& step) override {
    guarded(nullptr, [&] {
      PyAcceptStep made;
      made.client_data = to_python(private_data);
      made.receives = step.endpoint.receives;
      made.most_rnr_repetitions = step.endpoint.connection.roce.most_rnr_repetitions;
      const py::object shown = py::cast(&made, py::return_value_policy::reference);
      script_.attr("on_request")(shown);
      take(made, step);
    });
    if (deviations_) deviations_->on_request(private_data, step);
  }
  void on_accepted(const ConnectionRef& connection) override {
    guarded(connection, [&] { script_.attr("on_accepted")(connection); });
    if (deviations_) deviations_->on_accepted(connection);
  }
  void on_optimistic(View private_data, OptimisticStep& step) override {
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
  void on_arrival(const ConnectionRef& connection, Arrival& arrival) override {
    arrival.taken = true;
    guarded(connection, [&] {
      arrival.taken =
          script_.attr("on_arrival")(connection, to_python(arrival.message)).cast<bool>();
    });
    if (deviations_ && !arrival.taken) deviations_->on_arrival(connection, arrival);
  }
  void on_call(CallStep& call) override {
    if (deviations_) deviations_->on_call(call);
  }
  void on_reply(ReplyStep& reply) override {
    if (deviations_) deviations_->on_reply(reply);
  }
  void on_callback(CallbackStep& callback) override {
    if (deviations_) deviations_->on_callback(callback);
  }
  bool on_departure(const ConnectionRef& connection, const Departure& departure) override {
    bool taken = true;
    guarded(connection, [&] {
      taken = script_.attr("on_departure")(connection, kept(departure)).cast<bool>();
    });
    return taken || (deviations_ && deviations_->on_departure(connection, departure));
  }
  void on_read(const ConnectionRef& connection, std::uint64_t number, View octets) override {
    guarded(connection, [&] { script_.attr("on_read")(connection, number, to_python(octets)); });
  }
  void on_down(const ConnectionRef& connection, const fabric::CloseReason& reason) override {
    guarded(connection, [&] { script_.attr("on_down")(connection, reason); });
    if (deviations_) deviations_->on_down(connection, reason);
  }

  /// With the GIL.
  void raise_problem() {
    if (problem_) std::rethrow_exception(std::exchange(problem_, nullptr));
  }

 private:
  template <class Work>
  void guarded(const ConnectionRef& connection, Work&& work) {
    const py::gil_scoped_acquire gil;
    if (problem_) return;
    try {
      work();
    } catch (...) {
      problem_ = std::current_exception();
      if (connection) connection->abort();
    }
  }

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
    step.endpoint.connection.ird = made.ird;
    step.endpoint.connection.ord = made.ord;
    step.endpoint.connection.crc = made.crc;
    keep_observers(made, step);
  }
  template <class Made, class Step>
  void keep_observers(const Made& made, Step& step) {
    if (!made.events.is_none()) step.events = &made.events.template cast<trace::EventSink&>();
    if (!made.octets.is_none()) step.bytes = &made.octets.template cast<trace::ByteSink&>();
    observers_.push_back(made.events);
    observers_.push_back(made.octets);
  }

  py::object script_;
  std::shared_ptr<Interposer> deviations_;
  std::vector<py::object> observers_;  // as long as their connections live
  std::exception_ptr problem_;
};

class PyScriptedServer {
 public:
  PyScriptedServer(const std::vector<std::string>& listen, py::object script, std::uint32_t credits,
                   std::uint32_t inline_bytes, bool remote_invalidation,
                   std::uint32_t receive_bytes, std::uint32_t transfer_bytes, std::uint64_t seed,
                   const std::vector<std::string>& deviate, std::uint32_t direct_block) {
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
    interposer_ = std::make_shared<PyInterposer>(std::move(script), std::move(options.interposer));
    options.interposer = interposer_;
    std::vector<net::Url> urls;
    for (const std::string& text : listen) urls.push_back(value_or_raise(net::parse_url(text)));
    const fabric::RandomSource random = [source = std::make_shared<std::mt19937_64>(seed)] {
      return (*source)();
    };
    if (direct_block != 0) offer_direct_access(options, direct_block, random);
    ListenAddresses addresses = value_or_raise(make_listen_addresses(urls, random));
    providers_ = std::move(addresses.providers);
    MemoryLimits limits;
    limits.largest_transfer_bytes = transfer_bytes;
    limits.total_bytes = kMostStoredBytes;
    storage_ = std::make_unique<MemoryBackend>(now, random, limits);
    Nfs4StateOptions state;
    state.clock = options.clock;
    state.random = random;
    server_ = value_or_raise(
        Server::start(addresses.addresses, make_programs(*storage_, state, direct_), options));
  }
  ~PyScriptedServer() { server_.reset(); }
  PyScriptedServer(const PyScriptedServer&) = delete;
  PyScriptedServer& operator=(const PyScriptedServer&) = delete;

  void poll(double timeout_ms) {
    Server& server = idle();
    polling_ = true;
    {
      const py::gil_scoped_release release;
      server.poll(milliseconds(static_cast<std::int64_t>(timeout_ms)));
    }
    polling_ = false;
    interposer_->raise_problem();
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
  /// Stops listening and ends every connection.
  void close() {
    if (!server_) return;
    idle();
    server_.reset();
  }
  std::vector<std::string> listening() {
    std::vector<std::string> urls;
    for (const net::Url& url : idle().listening()) urls.push_back(url.text());
    return urls;
  }
  std::size_t connection_count() { return server_ ? server_->connection_count() : 0; }
  fabric::Capabilities capabilities() const { return providers_.front()->capabilities(); }

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
  Server& idle() {
    if (!server_) throw std::runtime_error("the server was closed");
    if (polling_) throw std::runtime_error("the server is being polled");
    return *server_;
  }

  std::shared_ptr<PyInterposer> interposer_;
  std::vector<std::unique_ptr<fabric::Provider>> providers_;
  std::unique_ptr<MemoryBackend> storage_;
  std::shared_ptr<DirectAccess> direct_;
  std::unique_ptr<Server> server_;
  bool polling_ = false;  // guarded by the GIL
};

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

void bind_peer_script(py::module_& module) {
  bind_peer_connection(module);
  bind_departure(module);
  bind_accept_step(module);
  py::class_<PyScriptedServer>(
      module, "ScriptedServer",
      "The reference server in this process. It runs inside `poll` only, and calls the methods of "
      "`script` there: on_request(step), on_optimistic(step), on_accepted(connection), "
      "on_arrival(connection, message) "
      "-> taken, "
      "on_departure(connection, departure) -> taken, on_read(connection, number, octets) and "
      "on_down(connection, reason). `poll` raises their exceptions.")
      .def(py::init<const std::vector<std::string>&, py::object, std::uint32_t, std::uint32_t, bool,
                    std::uint32_t, std::uint32_t, std::uint64_t, const std::vector<std::string>&,
                    std::uint32_t>(),
           "listen"_a, "script"_a, py::kw_only(), "credits"_a = kDefaultCredits,
           "inline_bytes"_a = kDefaultAnnouncedBytes, "remote_invalidation"_a = true,
           "receive_bytes"_a = 0, "transfer_bytes"_a = kLargestTransfer, "seed"_a = 0,
           "deviate"_a = std::vector<std::string>{}, "direct_block"_a = 0,
           "`receive_bytes`: octets of its receives, if not `inline_bytes`. `transfer_bytes`: the "
           "largest READ or WRITE that it announces to clients. `deviate`: names of deviations of "
           "the server, which see what the script does not take. `direct_block`: octets of a block "
           "of direct access; 0: the server does not have it.")
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
