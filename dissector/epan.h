// Wireshark's headers in the order and wrapping for C++, with the differences of its versions.
//
// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <ws_version.h>

#if WIRESHARK_VERSION_MAJOR != 4 || WIRESHARK_VERSION_MINOR > 4
#error "The plugin is written for Wireshark 4.0 to 4.4."
#endif

#include <epan/column-utils.h>
#include <epan/expert.h>
#include <epan/packet.h>
#include <epan/prefs.h>
#include <epan/stats_tree.h>
#include <epan/tap.h>
#include <wiretap/wtap.h>

// An error in Wireshark is a longjmp, which skips destructors. So in every file of this folder no
// object with a destructor may be alive across a call into Wireshark. The session's own objects are
// the exception.
