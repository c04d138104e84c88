// The command line of steertag-serve.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fabric/fabric.h"
#include "server/direct/limits.h"
#include "server/server.h"
#include "server/storage/memory_backend.h"
#include "server/storage/volatile_backend.h"
#include "server/v4/pnfs/stripe_pattern.h"
#include "server/v4/state/limits.h"

namespace steertag::serve {

struct Options {
  std::vector<net::Url> listen;                        // one at least
  std::string port_file;                               // empty: none is written
  std::optional<std::string> export_directory;         // none: memory
  std::uint64_t memory_mib = peer::kDefaultMemoryMib;  // of the files in memory
  std::optional<std::uint32_t> unstable_mib;  // none: what is written is the host's at once
  bool read_only = false;
  bool root_squash = true;    // of an export that is served as root
  bool all_squash = false;    // of any export
  std::string key_file;       // empty: a new key in every run
  std::string recovery_file;  // empty: a restart forgets all clients of NFS version 4
  std::chrono::seconds lease = peer::kLeaseTime;
  std::uint32_t slots = 0;  // of a session at most; 0: as its connection's credits
  bool mandatory_locks = false;
  peer::ServerOptions server;
  std::optional<std::uint16_t> portmap;        // a further port, for the port mapper
  bool optimistic = false;                     // direct access; not of an export
  peer::DirectLimits direct;                   // of it
  std::optional<peer::StripePattern> stripes;  // none: no pNFS, or a data server
  std::string control;                         // the socket of a metadata or data server; or empty
  std::optional<std::uint32_t> data_server;    // its index from 0: joins a metadata server
  bool counts = false;                         // printed at the end
  bool sandbox = true;
  bool list_deviations = false;
  bool as_json = false;
};

/// What to print, and the exit code to end with: help or an error.
struct Ending {
  std::string text;
  int code = 0;
};

/// Reads the command line. An error is one sentence.
std::variant<Options, Ending> parse(int argc, char** argv);

/// The deviations, one per line or as a JSON array.
std::string list_deviations(bool as_json);

}  // namespace steertag::serve
