// Binds engine/grade: capture files in, reports out.
#include <atomic>
#include <string>
#include <utility>

#include "bind.h"
#include "capture/file/annotate.h"
#include "grade/file_grade.h"

namespace steertag::bindings {
namespace {

using namespace steertag::grade;
using capture::FileError;
using capture::FileFault;
using py::literals::operator""_a;

constexpr const char* kErrorName = "CaptureError";

std::string_view fault_name(FileFault fault) {
  switch (fault) {
    case FileFault::cannot_open:
      return "cannot-open";
    case FileFault::cannot_read:
      return "cannot-read";
    case FileFault::cannot_write:
      return "cannot-write";
    case FileFault::not_a_capture:
      return "not-a-capture";
    case FileFault::truncated:
      return "truncated";
    case FileFault::damaged:
      return "damaged";
    case FileFault::too_large:
      return "too-large";
  }
  return "unknown";
}

/// Text with a file's name. Octets that are no UTF-8 survive, as in Python's file names.
py::object name_text(std::string_view octets) {
  return py::module_::import("os").attr("fsdecode")(py::bytes(octets.data(), octets.size()));
}

std::string octets_of(const py::object& name) {
  return py::module_::import("os").attr("fsencode")(name).cast<std::string>();
}

py::object error_to_python(const FileError& error) {
  const py::object type = py::module_::import("steertag._engine").attr("grade").attr(kErrorName);
  const py::object value = type(name_text(error.message()));
  value.attr("fault") = fault_name(error.fault);
  value.attr("offset") = error.offset;
  value.attr("detail") = name_text(error.detail);
  return value;
}

[[noreturn]] void raise(const FileError& error) {
  const py::object value = error_to_python(error);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(value.ptr())), value.ptr());
  throw py::error_already_set();
}

/// The number of annotated frames.
std::uint64_t annotate(const py::object& input, const py::object& output,
                       const capture::FrameComments& comments, const std::string& application) {
  const std::string from = octets_of(input);
  const std::string to = octets_of(output);
  const auto done = [&] {
    const py::gil_scoped_release release;
    return capture::annotate(from, to, comments, application);
  }();
  if (!done) raise(done.error());
  return done->commented;
}

/// The grading of one file. It refuses a second thread: steps run without the GIL.
class PyFileGrade {
 public:
  PyFileGrade(const py::object& path, std::vector<std::uint16_t> ports, Profile profile) {
    const std::string octets = octets_of(path);
    const auto interrupted = [] {
      const py::gil_scoped_acquire gil;
      return PyErr_CheckSignals() != 0;
    };
    auto opened = [&] {
      const py::gil_scoped_release release;
      return FileGrade::open(octets, {std::move(ports)}, nullptr, interrupted, profile);
    }();
    // Opening a FIFO waits for a writer. A signal ends it.
    if (PyErr_Occurred() || PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (!opened) raise(opened.error());
    grade_ = std::move(*opened);
  }

  bool step(std::uint64_t octets) {
    if (working_.exchange(true)) throw std::runtime_error("another thread grades this file");
    {
      const py::gil_scoped_release release;
      over_ = grade_->step(octets);
    }
    working_ = false;
    if (PyErr_Occurred()) throw py::error_already_set();  // from a signal handler
    return over_;
  }
  const FileGrade& still() const {
    if (working_) throw std::runtime_error("another thread grades this file");
    return *grade_;
  }
  const Report& report() const {
    if (!over_)
      throw std::runtime_error(
          "the file is not read to its end: call step() until it returns True");
    return grade_->report();
  }

 private:
  std::unique_ptr<FileGrade> grade_;
  std::atomic<bool> working_ = false;
  bool over_ = false;
};

py::dict losses_to_python(const ConnectionSummary& summary) {
  constexpr const char* kNames[kLossKinds] = {"joined", "missing", "cut", "damaged", "overflow"};
  py::dict losses;
  for (std::size_t kind = 0; kind < kLossKinds; ++kind) {
    const LossSummary& loss = summary.losses[kind];
    if (loss.count == 0) continue;
    losses[kNames[kind]] =
        py::dict("count"_a = loss.count, "first_frame"_a = loss.first_frame,
                 "last_frame"_a = loss.last_frame,
                 "sentence"_a = capture::sentence(static_cast<capture::LossKind>(kind)));
  }
  return losses;
}

py::dict messages_to_python(const ConnectionSummary& summary) {
  py::dict messages;
  for (std::size_t kind = 0; kind < kMessageKinds; ++kind) {
    if (summary.messages[kind] == 0) continue;
    const std::string_view word = name(static_cast<conformance::Kind>(kind));
    messages[py::str(word.data(), word.size())] = summary.messages[kind];
  }
  return messages;
}

py::object announced_to_python(const SideSummary& side) {
  if (!side.announced) return py::none();
  return py::dict("send_bytes"_a = side.announced->send_bytes,
                  "receive_bytes"_a = side.announced->receive_bytes,
                  "remote_invalidation"_a = side.announced->remote_invalidation);
}

py::object wrong_crcs_to_python(const SideSummary& side) {
  const capture::PacketTally& wrong = side.wrong_crcs;
  if (wrong.count == 0) return py::none();
  return py::dict("count"_a = wrong.count, "first_frame"_a = wrong.first_frame,
                  "last_frame"_a = wrong.last_frame);
}

py::object negotiated_to_python(const ConnectionSummary& summary) {
  if (!summary.negotiated) return py::none();
  return py::dict("to_server_bytes"_a = summary.negotiated->to_server_bytes,
                  "to_client_bytes"_a = summary.negotiated->to_client_bytes,
                  "remote_invalidation"_a = summary.negotiated->remote_invalidation);
}

py::object optimistic_to_python(const ConnectionSummary& summary) {
  if (!summary.optimistic) return py::none();
  py::dict reads;
  for (std::size_t state = 0; state < conformance::kReadStates; ++state) {
    const std::uint64_t count = summary.optimistic->reads[state];
    const std::string_view word = conformance::name(static_cast<conformance::ReadState>(state));
    if (count > 0) reads[py::str(word.data(), word.size())] = count;
  }
  return py::dict("hello_frame"_a = summary.optimistic->hello_frame, "reads"_a = reads);
}

void bind_parts(py::module_& module) {
  py::class_<PlacedFinding>(module, "Finding", "One requirement that one side broke in a packet.")
      .def_readonly("connection", &PlacedFinding::connection, "Number of the connection, from 1.")
      .def_property_readonly(
          "frame", [](const PlacedFinding& each) { return each.stamp.frame; },
          "Number of the packet, from 1.")
      .def_property_readonly(
          "time_ns", [](const PlacedFinding& each) { return each.stamp.time_ns; },
          "Of the packet, since 1970-01-01 UTC.")
      .def_property_readonly("culprit",
                             [](const PlacedFinding& each) { return each.finding.culprit; })
      .def_property_readonly(
          "requirement", [](const PlacedFinding& each) { return each.finding.requirement; },
          py::return_value_policy::reference)
      .def_property_readonly("rule", [](const PlacedFinding& each) { return each.finding.rule; })
      .def_readonly("known_frame", &PlacedFinding::known_frame,
                    "The packet that completed the evidence; 0: the capture's end.")
      .def_property_readonly(
          "event",
          [](const PlacedFinding& each) {
            return py::make_tuple(each.event.actor, each.event.kind, each.event.number);
          },
          "The event: (Role, kind, number of this kind by the actor from 1).")
      .def_property_readonly("expected",
                             [](const PlacedFinding& each) { return each.finding.expected; })
      .def_property_readonly("observed",
                             [](const PlacedFinding& each) { return each.finding.observed; });
  py::class_<SideSummary>(module, "Side", "What one side announced and did.")
      .def_readonly("opening_seen", &SideSummary::opening_seen, "Its Connect or Accept.")
      .def_property_readonly("announced", &announced_to_python,
                             "The announcement in private data, or None.")
      .def_readonly("sends", &SideSummary::sends)
      .def_readonly("send_bytes", &SideSummary::send_bytes)
      .def_readonly("invalidating_sends", &SideSummary::invalidating_sends)
      .def_readonly("placed_bytes", &SideSummary::placed_bytes, "By RDMA Write.")
      .def_readonly("reads", &SideSummary::reads, "Read Requests.")
      .def_readonly("read_bytes", &SideSummary::read_bytes, "That came in Read Responses.")
      .def_readonly("terminates", &SideSummary::terminates)
      .def_property_readonly("wrong_crcs", &wrong_crcs_to_python,
                             "RoCEv2: packets with a wrong invariant CRC, or None.");
  py::class_<DirectionSummary>(module, "Direction", "The RPC transactions that one side starts.")
      .def_readonly("calls", &DirectionSummary::calls)
      .def_readonly("replies", &DirectionSummary::replies)
      .def_readonly("errors", &DirectionSummary::errors, "RDMA_ERROR in place of a reply.")
      .def_readonly("unanswered", &DirectionSummary::unanswered,
                    "Calls after the last loss without a reply at the end.")
      .def_readonly("most_in_flight", &DirectionSummary::most_in_flight)
      .def_readonly("largest_requested", &DirectionSummary::largest_requested, "Credits.")
      .def_readonly("largest_granted", &DirectionSummary::largest_granted)
      .def_readonly("last_granted", &DirectionSummary::last_granted)
      .def_readonly("read_segments", &DirectionSummary::read_segments)
      .def_readonly("position_zero_chunks", &DirectionSummary::position_zero_chunks)
      .def_readonly("write_chunks", &DirectionSummary::write_chunks)
      .def_readonly("reply_chunks", &DirectionSummary::reply_chunks);
}

py::list counts_to_python(const std::vector<FindingCount>& counts) {
  py::list made;
  for (const FindingCount& each : counts) {
    made.append(py::make_tuple(py::cast(each.requirement, py::return_value_policy::reference),
                               each.rule, each.culprit, each.count, each.first_frame));
  }
  return made;
}

void bind_connection(py::module_& module) {
  using Summary = ConnectionSummary;
  using trace::Role;
  py::class_<Summary>(module, "Connection", "The summary of one connection.")
      .def_readonly("number", &Summary::number)
      .def_property_readonly("fabric", [](const Summary& one) { return name(one.name.fabric); })
      .def_property_readonly("client_end", [](const Summary& one) { return one.name.ends.client; })
      .def_property_readonly("server_end", [](const Summary& one) { return one.name.ends.server; })
      .def_property_readonly("first_frame", [](const Summary& one) { return one.first.frame; })
      .def_property_readonly("last_frame", [](const Summary& one) { return one.last.frame; })
      .def_property_readonly("first_time_ns", [](const Summary& one) { return one.first.time_ns; })
      .def_property_readonly("last_time_ns", [](const Summary& one) { return one.last.time_ns; })
      .def_readonly("rejected", &Summary::rejected)
      .def_readonly("ended", &Summary::ended, "By either side, before the capture's end.")
      .def_readonly("ended_clean", &Summary::ended_clean)
      .def_property_readonly("negotiated", &negotiated_to_python,
                             "The thresholds, or None if the capture lacks the beginning.")
      .def_property_readonly(
          "client", [](const Summary& one) { return one.side(Role::client); }, "A Side.")
      .def_property_readonly(
          "server", [](const Summary& one) { return one.side(Role::server); }, "A Side.")
      .def_property_readonly(
          "forward", [](const Summary& one) { return one.direction(Role::client); },
          "The Direction of the client's calls.")
      .def_property_readonly(
          "reverse", [](const Summary& one) { return one.direction(Role::server); },
          "The Direction of the server's calls.")
      .def_property_readonly("optimistic", &optimistic_to_python,
                             "Of an optimistic connection `hello_frame` (of the reply with its "
                             "ticket; 0: not seen) and `reads` by what they brought; or None.")
      .def_readonly("references", &Summary::references, "Of direct access, in replies.")
      .def_readonly("fallbacks", &Summary::fallbacks,
                    "Reads by RPC of a block whose optimistic Read had failed.")
      .def_property_readonly("messages", &messages_to_python, "Counts by kind of message.")
      .def_property_readonly("losses", &losses_to_python,
                             "Losses of the capture, by kind; they are never violations.")
      .def_property_readonly(
          "findings", [](const Summary& one) { return counts_to_python(one.findings); },
          "(requirement, rule, culprit, count, first frame) of each broken rule.")
      .def_readonly("findings_in_all", &Summary::findings_in_all)
      .def_readonly("findings_undecided", &Summary::findings_undecided,
                    "Findings that missing or misplaced packets may explain.")
      .def_readonly("findings_dropped", &Summary::findings_dropped,
                    "Findings that are counted only.");
}

py::object place_to_python(const std::optional<conformance::MessagePlace>& place) {
  if (!place) return py::none();
  return py::dict("connection"_a = place->connection, "frame"_a = place->event);
}

py::list ranges_to_python(const FileSummary& file) {
  py::list made;
  for (const RangeSummary& each : file.ranges) {
    made.append(py::dict("offset"_a = each.offset, "length"_a = each.length,
                         "iomode"_a = each.writable ? "rw" : "read",
                         "granted"_a = place_to_python(each.granted),
                         "returned"_a = place_to_python(each.returned)));
  }
  return made;
}

py::dict octets_to_python(const conformance::IoOctets& octets) {
  return py::dict("read"_a = octets.read, "written"_a = octets.written);
}

void bind_file(py::module_& module) {
  py::class_<FileSummary>(module, "File", "A file with layouts, as one client uses it.")
      .def_readonly("client", &FileSummary::client, "A number for each co_ownerid.")
      .def_property_readonly(
          "handle", [](const FileSummary& file) { return py::bytes(file.handle); },
          "The filehandle at the metadata server.")
      .def_property_readonly(
          "device", [](const FileSummary& file) { return py::bytes(file.device); },
          "The device ID of the latest layout.")
      .def_readonly("data_servers", &FileSummary::data_servers,
                    "The addresses of each; none if GETDEVICEINFO was not seen.")
      .def_readonly("stripe_unit_bytes", &FileSummary::stripe_unit_bytes)
      .def_readonly("dense", &FileSummary::dense)
      .def_readonly("commits_through_server", &FileSummary::commits_through_server,
                    "COMMIT goes to the metadata server.")
      .def_property_readonly("ranges", &ranges_to_python,
                             "`offset`, `length`, `iomode`, and `connection` and `frame` of "
                             "`granted` and, or None, `returned`.")
      .def_property_readonly(
          "at_data_servers",
          [](const FileSummary& file) { return octets_to_python(file.at_data_servers); },
          "Octets `read` and `written` since the first layout.")
      .def_property_readonly(
          "at_metadata_server",
          [](const FileSummary& file) { return octets_to_python(file.at_metadata_server); },
          "The same at the metadata server.");
}

}  // namespace

void bind_grade(py::module_& module) {
  module.doc() = "Grading of capture files: a judge on each connection in them.";
  module.attr(kErrorName) = py::exception<FileError>(module, kErrorName);
  module.attr(kErrorName).attr("__doc__") =
      "A capture that is unreadable or damaged. `fault` is a word, `offset` is in octets or None, "
      "and `detail` is the defect there.";
  module.def("annotate", &annotate, py::arg("input"), py::arg("output"), py::arg("comments"),
             py::arg("application"),
             "Copies a capture to pcapng with comments, {frame: [text]}. The copy of a damaged "
             "capture ends at the damage.");
  py::enum_<Profile>(module, "Profile", "The documents by which a file is judged.")
      .value("rfc8166", Profile::rfc8166, "With RFC 8167, 8267 and 8797.")
      .value("rfc5666", Profile::rfc5666, "With RFC 5667.")
      .value("prototype", Profile::prototype, "Of Callaghan et al. 2003.");
  bind_parts(module);
  bind_connection(module);
  bind_file(module);
  py::class_<Report>(module, "Report", "The result of grading a file.")
      .def_property_readonly(
          "connections",
          [](const Report& report) {
            return std::vector<ConnectionSummary>(report.connections.begin(),
                                                  report.connections.end());
          },
          "A Connection for each, up to the most that are kept; a new list of copies.")
      .def_readonly("connections_in_all", &Report::connections_in_all)
      .def_readonly("connections_refused", &Report::connections_refused,
                    "Connections that were not judged, because too many were open.")
      .def_readonly("connections_unjudged", &Report::connections_unjudged,
                    "Connections without a message to judge, because of losses.")
      .def_readonly("messages_judged", &Report::messages_judged, "Of all connections.")
      .def_property_readonly(
          "findings", [](const Report& report) { return report.findings; },
          "Findings in the order of packets, up to the most that are kept; a new list of copies.")
      .def_property_readonly(
          "findings_by_rule",
          [](const Report& report) { return counts_to_python(report.findings_by_rule); },
          "(requirement, rule, culprit, count, first frame) of each broken rule, over all "
          "connections.")
      .def_readonly("findings_in_all", &Report::findings_in_all)
      .def_property_readonly(
          "files", [](const Report& report) { return report.files; },
          "A File for each with a layout, in the order of their first one; a new list of copies.");
  py::class_<PyFileGrade>(module, "FileGrade",
                          "Grades a capture file, or \"-\" for standard input, piece by piece. "
                          "`ports`: ports of NFS/RDMA besides 20049.")
      .def(py::init<const py::object&, std::vector<std::uint16_t>, Profile>(), py::arg("path"),
           py::kw_only(), py::arg("ports") = std::vector<std::uint16_t>{},
           py::arg("profile") = Profile::rfc8166)
      .def("step", &PyFileGrade::step, py::arg("octets"),
           "Reads some more octets. Returns True at the end of the file.")
      .def_property_readonly(
          "offset", [](const PyFileGrade& grade) { return grade.still().file().offset(); },
          "Octets read.")
      .def_property_readonly(
          "size", [](const PyFileGrade& grade) { return grade.still().file().size(); },
          "Octets of the file, or None.")
      .def_property_readonly(
          "error",
          [](const PyFileGrade& grade) -> py::object {
            const auto& error = grade.still().error();
            if (!error) return py::none();
            return error_to_python(*error);
          },
          "The CaptureError that ended the reading, or None.")
      .def_property_readonly(
          "packets", [](const PyFileGrade& grade) { return grade.still().counts().packets; })
      .def_property_readonly(
          "other_packets", [](const PyFileGrade& grade) { return grade.still().counts().other; },
          "Packets that are not recognized as RDMA.")
      .def_property_readonly(
          "cut_packets", [](const PyFileGrade& grade) { return grade.still().counts().cut; },
          "Packets that are not captured whole.")
      .def_property_readonly(
          "first_cut", [](const PyFileGrade& grade) { return grade.still().counts().first_cut; },
          "The frame of the first cut packet, or 0.")
      .def_property_readonly(
          "forgotten", [](const PyFileGrade& grade) { return grade.still().counts().forgotten; },
          "Connections that were evicted because too many were open.")
      .def_property_readonly("report", &PyFileGrade::report,
                             py::return_value_policy::reference_internal,
                             "The Report, at the end of the file.");
}

}  // namespace steertag::bindings
