// Reads frames on their first pass and draws on every pass.
// SPDX-License-Identifier: GPL-2.0-or-later
#include "dissector/postdissector.h"

#include <exception>

#include "dissector/epan.h"
#include "dissector/fields.h"
#include "dissector/link_type.h"
#include "dissector/preferences.h"
#include "dissector/session.h"
#include "dissector/statistics.h"
#include "dissector/tree.h"
#include "trace/capture.h"

namespace steertag::dissector {

namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

int protocol = -1;
// A global: Wireshark has one open capture at a time.
Session* session = nullptr;

extern "C" void end_session() {
  delete session;
  session = nullptr;
}

/// After the last frame of a first pass through a whole file.
extern "C" void finish_session() {
  if (session != nullptr) session->finish();
}

extern "C" void begin_session() {
  end_session();
  if (!reading_wanted()) return;
  try {
    session = new Session({.ports = further_ports()}, profile());
  } catch (const std::exception&) {
    session = nullptr;  // without memory no judging is possible
  }
}

// With the number of the section from Wireshark 4.2 on.
[[maybe_unused]] const char* interface_name(const char* (*name)(const epan_t*, std::uint32_t),
                                            const packet_info& pinfo) {
  return name(pinfo.epan, pinfo.rec->rec_header.packet_header.interface_id);
}
[[maybe_unused]] const char* interface_name(const char* (*name)(const epan_t*, std::uint32_t,
                                                                unsigned),
                                            const packet_info& pinfo) {
  return name(pinfo.epan, pinfo.rec->rec_header.packet_header.interface_id,
              pinfo.rec->section_number);
}

bool recorded_by_an_end(const packet_info& pinfo) {
  if ((pinfo.rec->presence_flags & WTAP_HAS_INTERFACE_ID) == 0) return false;
  const char* name = interface_name(epan_get_interface_name, pinfo);
  return name != nullptr && name == trace::kOwnInterface;
}

/// The octets stay in Wireshark's buffer. The view is valid while the frame is dissected.
void read_frame(tvbuff_t* tvb, const packet_info& pinfo) {
  const std::optional<capture::LinkType> link = link_type(*pinfo.rec);
  if (!link) return;
  const unsigned captured = tvb_captured_length(tvb);
  if (captured == 0) return;
  const bool by_an_end = recorded_by_an_end(pinfo);
  // The only call that may throw. No object with a destructor exists yet.
  const std::uint8_t* octets = tvb_get_ptr(tvb, 0, static_cast<int>(captured));
  capture::Packet packet;
  packet.stamp.frame = pinfo.num;
  packet.stamp.time_ns = std::int64_t{pinfo.abs_ts.secs} * kNsPerSecond + pinfo.abs_ts.nsecs;
  packet.stamp.by_an_end = by_an_end;
  packet.link_type = *link;
  packet.octets = {reinterpret_cast<const std::byte*>(octets), captured};
  packet.wire_bytes = tvb_reported_length(tvb);
  session->read(packet);
}

extern "C" int look_at_frame(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void*) {
  if (session == nullptr) return 0;
  const bool first_pass = !pinfo->fd->visited;
  if (first_pass) read_frame(tvb, *pinfo);
  const Look look{&session->store(), pinfo->num, first_pass && session->has_just_read(pinfo->num),
                  session->stopped_at() == pinfo->num};
  if (!look.stopped && !look.store->any(look.frame, look.late)) return 0;
  draw(look, protocol, tvb, pinfo, tree);
  tap(look, pinfo);
  return static_cast<int>(tvb_captured_length(tvb));
}

}  // namespace

void register_protocol() {
  protocol = proto_register_protocol("Steertag: verdicts on RPC-over-RDMA", "Steertag", "steertag");
  register_fields(protocol);
  register_preferences(protocol);
  register_statistics_tap();
  register_init_routine(begin_session);
  register_cleanup_routine(end_session);
  register_postseq_cleanup_routine(finish_session);
}

void hand_off() {
  register_postdissector(create_dissector_handle(look_at_frame, protocol));
}

}  // namespace steertag::dissector
