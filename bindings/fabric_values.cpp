// Binds the fabric's values (error codes, URLs, faults, Terminate) and its memory.
#include <sstream>

#include "fabric_parts.h"

namespace steertag::bindings {
namespace {

using namespace steertag::fabric;
using py::literals::operator""_a;

struct Code {
  const char* name;
  Errc code;
};
constexpr Code kCodes[] = {
    {"bad_url", Errc::bad_url},
    {"unknown_provider", Errc::unknown_provider},
    {"no_device", Errc::no_device},
    {"name_not_found", Errc::name_not_found},
    {"cannot_listen", Errc::cannot_listen},
    {"cannot_connect", Errc::cannot_connect},
    {"timed_out", Errc::timed_out},
    {"not_connected", Errc::not_connected},
    {"too_large", Errc::too_large},
    {"bad_region", Errc::bad_region},
    {"queue_full", Errc::queue_full},
    {"unsupported", Errc::unsupported},
    {"peer_closed", Errc::peer_closed},
    {"peer_reset", Errc::peer_reset},
    {"peer_terminated", Errc::peer_terminated},
    {"protocol_error", Errc::protocol_error},
    {"rejected", Errc::rejected},
    {"local_close", Errc::local_close},
    {"no_descriptors", Errc::no_descriptors},
    {"too_many_startups", Errc::too_many_startups},
    {"too_many_connections", Errc::too_many_connections},
    {"bad_record", Errc::bad_record},
};

using Patches = std::vector<std::pair<std::size_t, py::bytes>>;

roce::BentPacket bent_packet_of(std::uint32_t index, std::int32_t psn_offset,
                                const Patches& patches, std::optional<std::size_t> cut,
                                bool bad_crc, std::uint32_t copies, bool every_time,
                                bool beyond_depth,
                                const std::optional<py::bytes>& extended_headers) {
  roce::BentPacket bent;
  bent.index = index;
  bent.psn_offset = psn_offset;
  for (const auto& [offset, octets] : patches)
    bent.patches.push_back({offset, from_python(py::cast<py::buffer>(octets))});
  bent.cut = cut;
  bent.bad_crc = bad_crc;
  bent.copies = copies;
  bent.every_time = every_time;
  bent.beyond_depth = beyond_depth;
  if (extended_headers)
    bent.extended_headers = from_python(py::cast<py::buffer>(*extended_headers));
  return bent;
}

void bind_bent_packet(py::module_& module) {
  py::class_<roce::BentPacket>(
      module, "BentPacket",
      "Alters one packet the first time it leaves (roce). `patches` are (offset, octets), from the "
      "base header on; `cut` is what is left in front of the CRC. `extended_headers` replace those "
      "between base header and payload.")
      .def(py::init(&bent_packet_of), py::kw_only(), "index"_a = 0, "psn_offset"_a = 0,
           "patches"_a = Patches{}, "cut"_a = py::none(), "bad_crc"_a = false, "copies"_a = 1,
           "every_time"_a = false, "beyond_depth"_a = false, "extended_headers"_a = py::none())
      .def_readonly("index", &roce::BentPacket::index)
      .def_readonly("psn_offset", &roce::BentPacket::psn_offset)
      .def_property_readonly("patches",
                             [](const roce::BentPacket& bent) {
                               Patches patches;
                               for (const roce::Patch& patch : bent.patches)
                                 patches.emplace_back(patch.offset, to_python(patch.octets));
                               return patches;
                             })
      .def_readonly("cut", &roce::BentPacket::cut)
      .def_readonly("bad_crc", &roce::BentPacket::bad_crc)
      .def_readonly("copies", &roce::BentPacket::copies)
      .def_readonly("every_time", &roce::BentPacket::every_time)
      .def_readonly("beyond_depth", &roce::BentPacket::beyond_depth)
      .def_property_readonly("extended_headers", [](const roce::BentPacket& bent) {
        return bent.extended_headers ? py::object(to_python(*bent.extended_headers))
                                     : py::object(py::none());
      });
}

void bind_fault(py::module_& module) {
  bind_bent_packet(module);
  py::class_<Fault>(module, "Fault", "Alters the octets on the wire of one Send, Write or Read.")
      .def(
          py::init(
              [](bool bad_crc, std::optional<std::uint32_t> msn, std::optional<std::uint32_t> mo,
                 std::optional<std::uint32_t> qn, std::optional<std::uint8_t> opcode,
                 std::optional<std::uint8_t> ddp_version, std::optional<std::uint8_t> rdmap_version,
                 std::optional<std::uint16_t> ulpdu_length, std::optional<std::size_t> cut_after,
                 const std::optional<roce::BentPacket>& packet) {
                return Fault{bad_crc,
                             msn,
                             mo,
                             qn,
                             opcode,
                             ddp_version,
                             rdmap_version,
                             ulpdu_length,
                             cut_after,
                             packet ? std::make_shared<roce::BentPacket>(*packet) : nullptr};
              }),
          py::kw_only(), "bad_crc"_a = false, "msn"_a = py::none(), "mo"_a = py::none(),
          "qn"_a = py::none(), "opcode"_a = py::none(), "ddp_version"_a = py::none(),
          "rdmap_version"_a = py::none(), "ulpdu_length"_a = py::none(), "cut_after"_a = py::none(),
          "packet"_a = py::none())
      .def_readwrite("bad_crc", &Fault::bad_crc)
      .def_readwrite("msn", &Fault::msn)
      .def_readwrite("mo", &Fault::mo)
      .def_readwrite("qn", &Fault::qn)
      .def_readwrite("opcode", &Fault::opcode)
      .def_readwrite("ddp_version", &Fault::ddp_version)
      .def_readwrite("rdmap_version", &Fault::rdmap_version)
      .def_readwrite("ulpdu_length", &Fault::ulpdu_length)
      .def_readwrite("cut_after", &Fault::cut_after)
      .def_property_readonly("packet", [](const Fault& fault) {
        return fault.packet ? py::cast(*fault.packet) : py::object(py::none());
      });
}

std::string terminate_text(const trace::Terminate& terminate) {
  std::ostringstream out;
  out << "Terminate " << int{terminate.layer} << "/" << int{terminate.type} << "/"
      << int{terminate.code};
  return out.str();
}

py::buffer_info buffer_of(PyRegion& region) {
  const MutableView bytes = region.region->bytes();
  return {bytes.data(), 1, py::format_descriptor<std::uint8_t>::format(),
          static_cast<py::ssize_t>(bytes.size())};
}

void write(PyRegion& region, std::size_t offset, const py::buffer& data) {
  const Bytes octets = from_python(data);
  const MutableView bytes = region.region->bytes();
  if (offset > bytes.size() || octets.size() > bytes.size() - offset) {
    throw py::index_error("the octets exceed the region of " + std::to_string(bytes.size()));
  }
  std::copy(octets.begin(), octets.end(), bytes.begin() + static_cast<std::ptrdiff_t>(offset));
}

}  // namespace

void bind_fabric_values(py::module_& module) {
  py::enum_<Errc> codes(module, "ErrorCode");
  for (const Code& code : kCodes) codes.value(code.name, code.code);
  codes.def_property_readonly("sentence", [](Errc code) { return std::string(sentence(code)); });
  py::class_<Url>(module, "Url", "provider://host[:port][/export]")
      .def_readonly("provider", &Url::provider)
      .def_readonly("host", &Url::host)
      .def_readonly("port", &Url::port)
      .def_readonly("path", &Url::path)
      .def("__str__", &Url::text);
  module.def(
      "parse_url", [](const std::string& text) { return value_or_raise(parse_url(text)); },
      "text"_a);
  py::class_<trace::Terminate>(module, "Terminate", "The cause in a Terminate.")
      .def_readonly("layer", &trace::Terminate::layer)
      .def_readonly("type", &trace::Terminate::type)
      .def_readonly("code", &trace::Terminate::code)
      .def("__repr__", &terminate_text);
  bind_fault(module);
}

void bind_fabric_memory(py::module_& module) {
  module.attr("GUARD_BYTES") = kGuardBytes;
  py::class_<Rights>(module, "Rights")
      .def(py::init([](bool read, bool write_right) {
             return Rights{read, write_right};
           }),
           py::kw_only(), "remote_read"_a = false, "remote_write"_a = false)
      .def_readwrite("remote_read", &Rights::remote_read)
      .def_readwrite("remote_write", &Rights::remote_write);
  py::class_<PyRegion, RegionRef>(module, "Region", py::buffer_protocol(),
                                  "Registered memory between guards; a writable buffer.")
      .def_buffer(&buffer_of)
      .def(
          "bytes",
          [](const py::object& region) {
            return py::reinterpret_steal<py::object>(PyMemoryView_FromObject(region.ptr()));
          },
          "A memoryview that keeps the region.")
      .def("write", &write, "offset"_a, "data"_a)
      .def("__len__", [](PyRegion& r) { return r.region->bytes().size(); })
      .def_property_readonly("stag", [](const PyRegion& r) { return r.region->stag(); })
      .def_property_readonly("base", [](const PyRegion& r) { return r.region->base(); })
      .def_property_readonly("rights", [](const PyRegion& r) { return r.region->rights(); })
      .def_property_readonly("valid", [](const PyRegion& r) { return r.region->valid(); })
      .def_property_readonly("guards_intact",
                             [](const PyRegion& r) { return r.region->guards_intact(); })
      .def(
          "invalidate",
          [](PyRegion& r) {
            r.owner->owner->idle();
            return r.region->invalidate();
          },
          "Closes the region to the peer. Returns whether the guards are intact.")
      .def(
          "open",
          [](PyRegion& r, Rights rights) {
            r.owner->owner->idle();
            r.region->open(rights);
          },
          "rights"_a, "Reopens the region with a new STag and base.");
  py::class_<PyDomain, DomainRef>(module, "Domain")
      .def(
          "allocate",
          [](const DomainRef& d, std::size_t length, Rights rights,
             std::optional<std::uint64_t> base) {
            d->owner->idle();
            auto region = std::make_shared<PyRegion>();
            region->owner = d;
            region->region = d->domain->allocate(length, rights, base);
            if (!region->region->valid()) {
              raise_fabric_error({Errc::bad_region, "the device does not register this memory"});
            }
            return region;
          },
          "length"_a, "rights"_a = Rights{}, "base"_a = py::none(),
          "A Region. Raises FabricError if the device refuses it. `base` is its first tagged "
          "offset, if the provider lets the caller choose it.");
}

}  // namespace steertag::bindings
