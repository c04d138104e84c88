// Binds the client of files of engine/client: names and attributes, and copies in either direction.
#include <pybind11/stl.h>

#include <algorithm>

#include "client/files/file_client.h"
#include "client/files/local_file.h"
#include "endpoint/announced_size.h"
#include "endpoint/limits.h"
#include "fabric_parts.h"
#include "file_benches.h"

namespace steertag::bindings {
namespace {

using namespace steertag::peer;
using py::literals::operator""_a;
using std::chrono::milliseconds;

std::string octets_of(const py::object& name) {
  return py::module_::import("os").attr("fsencode")(name).cast<std::string>();
}

/// A copy of an entry of a listing.
struct PyEntry {
  std::string name;
  RemoteHandle handle;
  std::optional<RemoteAttributes> attributes;
};

/// One transfer of a file.
class PyTransfer {
 public:
  using Step = std::function<Expected<bool, peer::FileError>(milliseconds)>;
  PyTransfer(Step step, std::function<std::uint64_t()> done_bytes, std::uint64_t total_bytes)
      : step_(std::move(step)), done_bytes_(std::move(done_bytes)), total_bytes_(total_bytes) {}

  bool step(double timeout_s) {
    return waiting(
        [&] { return step_(milliseconds(static_cast<std::int64_t>(timeout_s * 1000))); });
  }
  std::uint64_t done_bytes() const { return done_bytes_(); }
  std::uint64_t total_bytes() const { return total_bytes_; }

 private:
  Step step_;
  std::function<std::uint64_t()> done_bytes_;
  std::uint64_t total_bytes_;
};

NameOperation name_operation(const std::string& name) {
  if (name == "lookup") return NameOperation::lookup;
  if (name == "getattr") return NameOperation::getattr;
  if (name == "list") return NameOperation::list;
  throw py::value_error("operation: lookup, getattr or list, and not " + name);
}

/// A name of a mode; `optimistic` is an older word for that one.
TransferMode transfer_of(const std::optional<std::string>& name, bool optimistic) {
  const TransferMode silent = optimistic ? TransferMode::optimistic : TransferMode::as_needed;
  if (!name) return silent;
  const auto mode = transfer_mode(*name);
  if (!mode) throw py::value_error("transfer: no mode is called " + *name);
  if (optimistic && mode != silent)
    throw py::value_error("transfer: " + *name + " is not optimistic");
  return *mode;
}

py::dict counts_of(const DataServerCounts& counts) {
  return py::dict("reads"_a = counts.reads, "read_bytes"_a = counts.read_bytes,
                  "writes"_a = counts.writes, "written_bytes"_a = counts.written_bytes,
                  "commits"_a = counts.commits);
}

class PyFiles {
 public:
  PyFiles(const std::string& text, std::uint32_t version, std::optional<std::uint32_t> uid,
          std::uint32_t gid, std::vector<std::uint32_t> gids, std::uint16_t mount_port,
          double timeout_s, bool optimistic, std::optional<std::uint32_t> io_bytes,
          std::optional<std::uint32_t> in_flight, std::optional<std::uint32_t> inline_bytes,
          std::optional<std::size_t> chunk_from, std::optional<std::uint32_t> credits,
          std::uint32_t slots, bool crc, const std::optional<std::string>& transfer,
          bool recoverable_faults, bool limits_hellos, bool layouts,
          std::optional<double> data_server_pause_s, double data_server_timeout_s)
      : wish_{io_bytes.value_or(0), in_flight.value_or(0)} {
    const auto size =
        check_announced_size("send and receive", inline_bytes.value_or(kDefaultAnnouncedBytes));
    if (!size) throw py::value_error(size.error());
    if (wish_.calls > kMostInFlight)
      throw py::value_error("in_flight: at most " + std::to_string(kMostInFlight));
    if (credits.value_or(1) < 1 || credits.value_or(1) > kMostCredits)
      throw py::value_error("credits: 1 to " + std::to_string(kMostCredits));
    if (slots > kMostWishedSlots)
      throw py::value_error("slots: at most " + std::to_string(kMostWishedSlots));
    const fabric::Url url = value_or_raise(fabric::parse_url(text));
    FileClientOptions options;
    options.version = version;
    options.mount_port = mount_port;
    options.transfer = transfer_of(transfer, optimistic);
    options.recoverable_faults = recoverable_faults;
    options.optimistic.limits_hellos = limits_hellos;
    options.layouts = layouts;
    if (data_server_pause_s)
      options.session.data_servers.pause =
          milliseconds(static_cast<std::int64_t>(*data_server_pause_s * 1000));
    options.data_server_timeout =
        milliseconds(static_cast<std::int64_t>(data_server_timeout_s * 1000));
    options.interrupted = [] {
      const py::gil_scoped_acquire gil;
      return PyErr_CheckSignals() != 0;
    };
    options.timeout = milliseconds(static_cast<std::int64_t>(timeout_s * 1000));
    options.inline_bytes = inline_bytes;
    options.chunk_from = chunk_from.value_or(SIZE_MAX);
    options.crc = crc;
    options.make_room(wish_.calls);
    if (credits) options.credits = *credits;
    options.slots = slots;
    if (uid) options.identity = {true, *uid, gid, "steertag", std::move(gids)};
    client_ = waiting([&] { return FileClient::open(url, options, fabric::system_random()); });
  }

  RemoteFiles& files() { return client_->files(); }

  PyEntry find(const py::object& path, bool follow) {
    const std::string octets = octets_of(path);
    auto found = waiting([&] { return files().find(octets, follow); });
    return {octets, found.handle, std::move(found.attributes)};
  }
  std::vector<PyEntry> list(const PyEntry& directory) {
    std::vector<PyEntry> entries;
    waiting([&] {
      return files().list(directory.handle, [&](const RemoteEntry& entry) {
        entries.push_back({std::string(entry.name), entry.handle, entry.attributes});
        return true;
      });
    });
    return entries;
  }
  py::list names(const PyEntry& directory) {
    std::vector<std::string> names;
    waiting([&] {
      return files().list_names(directory.handle, [&](std::string_view name) {
        names.emplace_back(name);
        return true;
      });
    });
    py::list decoded(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) decoded[i] = file_name(names[i]);
    return decoded;
  }
  py::object read_link(const PyEntry& link) {
    return file_name(waiting([&] { return files().read_link(link.handle); }));
  }
  void remove(const PyEntry& directory, const py::object& name) {
    const std::string octets = octets_of(name);
    waiting([&] { return files().remove(directory.handle, octets); });
  }
  void rename(const PyEntry& directory, const py::object& from, const py::object& to) {
    const std::string old_name = octets_of(from);
    const std::string new_name = octets_of(to);
    waiting([&] { return files().rename(directory.handle, old_name, new_name); });
  }
  void end() {
    waiting([&] { return files().end(); });
  }
  py::object optimistic() const {
    const OptimisticFiles* const files = client_->optimistic();
    if (!files) return py::none();
    const OptimisticStatistics& counts = files->statistics();
    return py::dict("valid"_a = counts.valid, "failed"_a = counts.failed,
                    "rpc_reads"_a = counts.rpc_reads, "nfs_reads"_a = counts.nfs_reads);
  }

  py::object pnfs() const {
    const StripedFiles* const files = client_->striped();
    if (!files) return py::none();
    py::list servers;
    for (const auto& server : files->data_servers().all()) {
      py::list addresses;
      for (const DataServerPath& path : server->paths())
        addresses.append(path.netid + " " + path.address);
      py::dict counts = counts_of(server->counts());
      counts["addresses"] = addresses;
      counts["slots"] = server->slots();
      servers.append(counts);
    }
    const LayoutCounts& layouts = files->layouts();
    return py::dict(
        "granted"_a = layouts.granted, "refused"_a = layouts.refused, "commits"_a = layouts.commits,
        "returns"_a = layouts.returns, "recalled"_a = layouts.recalled, "data_servers"_a = servers,
        "slots"_a = files->slots(), "metadata_server"_a = counts_of(files->at_metadata_server()));
  }

  std::unique_ptr<PyTransfer> fetch(const PyEntry& object, int descriptor, bool sparse) {
    const RemoteFile file = waiting([&] { return files().open(object.handle); });
    const std::uint64_t size = object.attributes ? object.attributes->size : 0;
    auto reader =
        std::make_shared<FileReader>(files(), file, size, sink_to(descriptor, sparse), wish_);
    return std::make_unique<PyTransfer>(
        [this, reader, file, descriptor](milliseconds timeout) -> Expected<bool, peer::FileError> {
          drive(*reader, timeout);
          if (!reader->done()) return false;
          if (reader->error()) return tl::unexpected(*reader->error());
          if (auto ended = end_file(descriptor, reader->delivered_bytes()); !ended)
            return tl::unexpected(std::move(ended.error()));
          return closed(file);
        },
        [reader] { return reader->delivered_bytes(); }, size);
  }

  std::unique_ptr<PyTransfer> store(int descriptor, std::uint64_t size, const PyEntry& directory,
                                    const py::object& name, std::uint32_t mode, bool sparse) {
    const std::string octets = octets_of(name);
    const RemoteFile file = waiting([&] { return files().create(directory.handle, octets, mode); });
    std::vector<Extent> extents = data_of(descriptor, size, sparse);
    const std::uint64_t data_end =
        extents.empty() ? 0 : extents.back().offset + extents.back().length;
    std::uint64_t total = 0;
    for (const Extent& extent : extents) total += extent.length;
    auto writer = std::make_shared<FileWriter>(files(), file, std::move(extents),
                                               source_from(descriptor), wish_);
    return std::make_unique<PyTransfer>(
        [this, writer, file, size,
         data_end](milliseconds timeout) -> Expected<bool, peer::FileError> {
          drive(*writer, timeout);
          if (!writer->done()) return false;
          if (writer->error()) return tl::unexpected(*writer->error());
          if (data_end < size) {
            if (auto sized = files().set_size(file, size); !sized)
              return tl::unexpected(std::move(sized.error()));
          }
          return closed(file);
        },
        [writer] { return writer->written_bytes(); }, total);
  }

  std::unique_ptr<PyBench> bench(const PyEntry& object) {
    const std::uint64_t size = object.attributes ? object.attributes->size : 0;
    if (size == 0) throw py::value_error("the file is empty");
    return std::make_unique<PyBench>(files(), waiting([&] { return files().open(object.handle); }),
                                     size);
  }
  std::unique_ptr<PyBench> new_bench(const PyEntry& directory, const py::object& name,
                                     std::uint64_t size) {
    if (size == 0) throw py::value_error("size: 1 or more");
    const std::string octets = octets_of(name);
    const RemoteFile file =
        waiting([&] { return files().create(directory.handle, octets, kBenchMode); });
    return std::make_unique<PyBench>(files(), file, size);
  }
  std::unique_ptr<PySmallFilesBench> small_files_bench(const std::vector<PyEntry>& objects) {
    std::vector<RemoteFile> open;
    std::uint64_t size = 0;
    for (const PyEntry& object : objects) {
      const std::uint64_t its_size = object.attributes ? object.attributes->size : 0;
      if (!open.empty() && its_size != size) throw py::value_error("the files differ in size");
      size = its_size;
      open.push_back(waiting([&] { return files().open(object.handle); }));
    }
    if (size == 0 || size > files().limits().read_bytes)
      throw py::value_error("there is no file, or a READ does not take all of it");
    return std::make_unique<PySmallFilesBench>(files(), std::move(open),
                                               static_cast<std::uint32_t>(size));
  }
  std::unique_ptr<PyLayoutBench> layout_bench(const PyEntry& object) {
    Nfs4Files& nfs4 = version4();
    return std::make_unique<PyLayoutBench>(nfs4, waiting([&] { return nfs4.open(object.handle); }));
  }
  CreatePlace place(const std::string& path) {
    Nfs4Files& nfs4 = version4();
    return {&nfs4.schedule(), &nfs4.session(),
            waiting([&] { return nfs4.find(path, true); }).handle};
  }
  std::unique_ptr<PyCreateBench> create_bench(const std::vector<py::object>& others,
                                              const py::object& path) {
    const std::string octets = octets_of(path);
    std::vector<CreatePlace> places{place(octets)};
    for (const py::object& each : others) places.push_back(each.cast<PyFiles&>().place(octets));
    return std::make_unique<PyCreateBench>(std::move(places), others);
  }
  Measured measure_names(const py::object& path, const std::string& operation, double duration_s) {
    const NameMeasurement what{octets_of(path), name_operation(operation),
                               to_milliseconds(duration_s)};
    return waiting([&] {
      return peer::measure_names(files(), what, std::chrono::steady_clock::now, processor_time);
    });
  }

 private:
  static constexpr std::uint32_t kBenchMode = 0600;

  Nfs4Files& version4() {
    if (!client_->version4()) throw py::value_error("it needs NFS version 4.1");
    return *client_->version4();
  }

  /// Runs until it is done or the time has passed.
  template <class Transfer>
  static void drive(Transfer& transfer, milliseconds timeout) {
    const auto end = std::chrono::steady_clock::now() + timeout;
    while (!transfer.done()) {
      const auto left = std::chrono::ceil<milliseconds>(end - std::chrono::steady_clock::now());
      if (left.count() <= 0) return;
      transfer.step(left);
    }
  }
  Expected<bool, peer::FileError> closed(RemoteFile file) {
    if (auto done = files().close(file); !done) return tl::unexpected(std::move(done.error()));
    return true;
  }

  TransferWish wish_;
  std::unique_ptr<FileClient> client_;
};

constexpr const char* kTypeNames[] = {"unknown",   "regular", "directory", "block",
                                      "character", "link",    "socket",    "fifo"};

const char* type_name(const PyEntry& entry) {
  const auto type = entry.attributes ? entry.attributes->type : RemoteType::unknown;
  return kTypeNames[static_cast<std::size_t>(type)];
}

/// An attribute, or None if the server did not return it.
template <class Value>
auto attribute(Value RemoteAttributes::*member) {
  return [member](const PyEntry& entry) -> std::optional<Value> {
    if (!entry.attributes) return std::nullopt;
    return (*entry.attributes).*member;
  };
}

/// The same for octets of the server's free choice.
auto text_attribute(std::string RemoteAttributes::*member) {
  return [member](const PyEntry& entry) -> py::object {
    return entry.attributes ? file_name((*entry.attributes).*member) : py::none();
  };
}

void bind_entry(py::module_& module) {
  py::class_<PyEntry>(module, "RemoteEntry", "An object of a server, or an entry of a directory.")
      .def_property_readonly("name", [](const PyEntry& self) { return file_name(self.name); })
      .def_property_readonly("type", &type_name,
                             "regular, directory, link, block, character, socket, fifo or unknown.")
      .def_property_readonly("mode", attribute(&RemoteAttributes::mode))
      .def_property_readonly("links", attribute(&RemoteAttributes::links))
      .def_property_readonly("owner", text_attribute(&RemoteAttributes::owner))
      .def_property_readonly("group", text_attribute(&RemoteAttributes::group))
      .def_property_readonly("size", attribute(&RemoteAttributes::size))
      .def_property_readonly("used", attribute(&RemoteAttributes::used))
      .def_property_readonly("modified_s", attribute(&RemoteAttributes::modified_s));
}

}  // namespace

void bind_peer_files(py::module_& module) {
  module.attr(kFileErrorName) =
      py::exception<peer::FileError>(module, kFileErrorName, PyExc_RuntimeError);
  module.attr("TRANSFER_MODES") =
      py::tuple(py::cast(std::vector(kTransferModes.begin(), kTransferModes.end())));
  bind_entry(module);
  bind_benches(module);
  py::class_<PyTransfer>(module, "Transfer", "One transfer of a file.")
      .def("step", &PyTransfer::step, "timeout_s"_a,
           "Runs until the copy is complete (True) or the time has passed (False). Raises "
           "FileError.")
      .def_property_readonly("done_bytes", &PyTransfer::done_bytes)
      .def_property_readonly("total_bytes", &PyTransfer::total_bytes);
  py::class_<PyFiles>(module, "Files",
                      "The files of a server: NFS version 4.1 or 3 over RDMA or TCP.")
      .def(
          py::init<
              const std::string&, std::uint32_t, std::optional<std::uint32_t>, std::uint32_t,
              std::vector<std::uint32_t>, std::uint16_t, double, bool, std::optional<std::uint32_t>,
              std::optional<std::uint32_t>, std::optional<std::uint32_t>,
              std::optional<std::size_t>, std::optional<std::uint32_t>, std::uint32_t, bool,
              const std::optional<std::string>&, bool, bool, bool, std::optional<double>, double>(),
          "url"_a, py::kw_only(), "version"_a = 0, "uid"_a = py::none(), "gid"_a = 0,
          "gids"_a = std::vector<std::uint32_t>{}, "mount_port"_a = 0,
          "timeout_s"_a = std::chrono::duration<double>(kCallTimeout).count(),
          "optimistic"_a = false, "io_bytes"_a = py::none(), "in_flight"_a = py::none(),
          "inline_bytes"_a = py::none(), "chunk_from"_a = py::none(), "credits"_a = py::none(),
          "slots"_a = 0, "crc"_a = true, "transfer"_a = py::none(), "recoverable_faults"_a = false,
          "limits_hellos"_a = true, "layouts"_a = true, "data_server_pause_s"_a = py::none(),
          "data_server_timeout_s"_a = std::chrono::duration<double>(kDataServerTimeout).count(),
          "version 3 or 4; 0: 4.1, or 3 if the server lacks it. Calls without `uid` carry "
          "AUTH_NONE. `transfer`: how data gets to the other end over RDMA (TRANSFER_MODES); "
          "`optimistic` stands for that mode. A transfer has READs or "
          "WRITEs of at most `io_bytes`, at most `in_flight` at "
          "a time. Over RDMA `inline_bytes` are announced, and data of `chunk_from` octets takes a "
          "chunk even if it fits. `slots`: what a session asks for, or 0 for as many as there may "
          "be "
          "calls. `recoverable_faults`: over iwarp, a refused RDMA Read of the "
          "mode "
          "optimistic leaves its connection up, if the server agrees. Without `limits_hellos` "
          "HELLO "
          "follows the end of that connection at once, for measurements of what an end costs. "
          "Without "
          "`layouts` no data server is used. One that has failed is tried again after "
          "`data_server_pause_s`. A call to one has `data_server_timeout_s`, or `timeout_s` if "
          "that "
          "is shorter.")
      .def_property_readonly("version", [](PyFiles& self) { return self.files().version(); })
      .def_property_readonly("optimistic", &PyFiles::optimistic,
                             "Reads so far as a dict, or None without direct access: RDMA Reads "
                             "that were valid and that failed, READs of either program.")
      .def_property_readonly(
          "pnfs", &PyFiles::pnfs,
          "What went to data servers so far as a dict, or None if the server "
          "has none: slots of the session, counts of layouts, of the metadata server, and of each "
          "data server with its addresses and the slots of its session.")
      .def_property_readonly(
          "read_bytes", [](PyFiles& self) { return self.files().limits().read_bytes; },
          "The largest READ that the server takes.")
      .def_property_readonly("write_bytes",
                             [](PyFiles& self) { return self.files().limits().write_bytes; })
      .def("find", &PyFiles::find, "path"_a, "follow"_a = true)
      .def("list", &PyFiles::list, "directory"_a)
      .def("names", &PyFiles::names, "directory"_a,
           "The names of the entries. The server is not asked for attributes.")
      .def("read_link", &PyFiles::read_link, "link"_a)
      .def("remove", &PyFiles::remove, "directory"_a, "name"_a)
      .def("rename", &PyFiles::rename, "directory"_a, "old"_a, "new"_a)
      .def("fetch", &PyFiles::fetch, "object"_a, "descriptor"_a, "sparse"_a = false,
           py::keep_alive<0, 1>(), "A Transfer from a remote file to an open local one.")
      .def("store", &PyFiles::store, "descriptor"_a, "size"_a, "directory"_a, "name"_a, "mode"_a,
           "sparse"_a = false, py::keep_alive<0, 1>(),
           "A Transfer from an open local file to a new remote one.")
      .def("bench", &PyFiles::bench, "object"_a, py::keep_alive<0, 1>(),
           "A Bench of a file that has octets.")
      .def("new_bench", &PyFiles::new_bench, "directory"_a, "name"_a, "size"_a,
           py::keep_alive<0, 1>(), "A Bench of a new file, which has no octets yet.")
      .def("small_files_bench", &PyFiles::small_files_bench, "objects"_a, py::keep_alive<0, 1>(),
           "A SmallFilesBench of files of one size.")
      .def("layout_bench", &PyFiles::layout_bench, "object"_a, py::keep_alive<0, 1>(),
           "A LayoutBench of a file, for a client that has no layout of it.")
      .def("create_bench", &PyFiles::create_bench, "others"_a, "path"_a, py::keep_alive<0, 1>(),
           "A CreateBench of the directory at a path, of this server and of the `others`, which "
           "are Files too.")
      .def("measure_names", &PyFiles::measure_names, "path"_a, "operation"_a = "lookup",
           "duration_s"_a = 1.0,
           "Calls one after the other: lookup of a path, getattr of the object there, or list, of "
           "the directory there.")
      .def("end", &PyFiles::end, "Releases the state that the server holds for this client.");
}

}  // namespace steertag::bindings
