// The symbols that Wireshark looks up in a plugin's file.
//
// SPDX-License-Identifier: GPL-2.0-or-later
#include "dissector/epan.h"
#include "dissector/postdissector.h"
#include "dissector/statistics.h"

// Declared first: a const at namespace scope would have internal linkage.
extern "C" {
extern WS_DLL_PUBLIC_DEF const char plugin_version[];
extern WS_DLL_PUBLIC_DEF const int plugin_want_major;
extern WS_DLL_PUBLIC_DEF const int plugin_want_minor;
WS_DLL_PUBLIC_DEF void plugin_register(void);
WS_DLL_PUBLIC_DEF std::uint32_t plugin_describe(void);
}

const char plugin_version[] = STEERTAG_VERSION;
const int plugin_want_major = WIRESHARK_VERSION_MAJOR;
const int plugin_want_minor = WIRESHARK_VERSION_MINOR;

void plugin_register(void) {
  static proto_plugin protocol;
  protocol.register_protoinfo = steertag::dissector::register_protocol;
  protocol.register_handoff = steertag::dissector::hand_off;
  proto_register_plugin(&protocol);
  static tap_plugin taps;
  taps.register_tap_listener = steertag::dissector::register_statistics_table;
  tap_register_plugin(&taps);
}

// For Wireshark 4.4 and later. 1 means a dissector.
std::uint32_t plugin_describe(void) {
  return 1;
}
