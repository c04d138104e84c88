// The command line of steertag-serve.
#include "serve/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "deviations/catalogue.h"
#include "deviations/server/server_deviations.h"
#include "server/nfs3/mount3_program.h"

namespace steertag::serve {
namespace {

constexpr int kUsageError = 2;
// Clients renew about three times in a lease, so that below this a busy machine is late.
constexpr std::int64_t kShortestLeaseS = 5;
constexpr std::int64_t kLongestLeaseS = 3600;

/// What the command line says, before it is checked.
struct Words {
  std::vector<std::string> listen = {"iwarp://127.0.0.1:20049"};
  std::optional<std::uint16_t> portmap;
  std::optional<std::string> port_file;
  std::optional<std::string> export_directory;
  std::string key_file;
  std::uint64_t memory_mib = peer::kDefaultMemoryMib;
  std::optional<std::uint32_t> unstable_mib;
  bool read_only = false;
  bool no_root_squash = false;
  bool all_squash = false;
  std::vector<std::string> deviations;
  std::uint32_t credits = peer::kDefaultCredits;
  std::uint32_t slots = 0;
  std::uint32_t shared_receives = 0;
  std::uint32_t inline_bytes = peer::kDefaultAnnouncedBytes;
  double idle_timeout_s = std::chrono::duration<double>(peer::kIdleTimeout).count();
  std::optional<std::string> recovery_file;
  std::int64_t lease_s = peer::kLeaseTime.count();
  bool no_remote_invalidation = false;
  bool no_private_data = false;
  bool optimistic = false;
  std::uint32_t direct_block = peer::kDirectBlockBytes;
  bool recoverable_faults = false;
  std::optional<std::uint32_t> data_servers;
  std::optional<std::uint32_t> separate_data_servers;
  std::optional<std::uint32_t> data_server;
  std::string control;
  bool has_pattern = false;  // an option of the stripes was given
  std::string data_server_host;
  std::uint16_t first_data_server_port = 0;
  std::uint32_t stripe_unit = peer::kDefaultStripeUnit;
  std::uint32_t stripe_turns = 1;
  std::string packing = "sparse";
  std::string commit = "ds";
  bool keep_layouts = false;
  std::uint32_t layout_seqid = 1;
  bool plain_data_servers = false;
  bool both_roles = false;
  bool mandatory_locks = false;
  bool counts = false;
  bool no_crc = false;
  bool no_sandbox = false;
  bool list_deviations = false;
  bool json = false;
};

void describe(CLI::App& app, Words& words) {
  app.add_option("--listen", words.listen,
                 "URL to listen on: iwarp://, roce:// or verbs:// for RDMA, tcp:// without; port 0 "
                 "for any free port (can be given several times)")
      ->allow_extra_args(false)
      ->capture_default_str();
  auto* portmap = app.add_option(
      "--portmap", words.portmap,
      "TCP port for the port mapper besides, on the host of the first tcp:// URL; 111 "
      "where clients look for it");
  app.add_option("--port-file", words.port_file,
                 "file that gets the port numbers once the server listens, one a line");
  auto* exported =
      app.add_option("--export", words.export_directory, "directory to serve instead of memory");
  app.add_option("--memory", words.memory_mib,
                 "MiB that the files in memory may occupy together; a client can fill them")
      ->check(CLI::Range(std::uint64_t{1}, peer::kMostMemoryMib))
      ->excludes(exported)
      ->capture_default_str();
  app.add_option("--unstable-memory", words.unstable_mib,
                 "keep what clients write UNSTABLE in the server's own memory until they commit "
                 "it, so many MiB at most: the death of the process then loses what a power loss "
                 "does; for tests, as another server of the directory sees nothing before")
      ->check(CLI::Range(std::uint32_t{1}, peer::kMostUnstableMib))
      ->needs(exported);
  app.add_flag("--read-only", words.read_only, "refuse every change of the export")
      ->needs(exported);
  auto* no_root_squash =
      app.add_flag(
             "--no-root-squash", words.no_root_squash,
             "take uid 0 and gid 0 of clients for root within the export; otherwise a server that "
             "runs as root takes them for 65534")
          ->needs(exported);
  app.add_flag("--all-squash", words.all_squash,
               "take every client for the server's own user within the export, or for 65534 if "
               "that is root")
      ->needs(exported)
      ->excludes(no_root_squash);
  app.add_option("--handle-key", words.key_file,
                 "file with the key of file handles, made if it is missing: handles then survive "
                 "a restart")
      ->needs(exported);
  app.add_option(
      "--recovery", words.recovery_file,
      "file with the clients of NFS version 4 that hold state: after a restart they may "
      "reclaim it, and for a grace period whatever else opens, locks, changes or removes "
      "files that are there waits, by NFS version 3 too; reading by version 3, looking, "
      "and making new objects by anything but OPEN do not");
  app.add_option("--lease", words.lease_s,
                 "lease of NFS version 4 in seconds; a grace period lasts as long, and what "
                 "--optimistic grants no longer")
      ->check(CLI::Range(kShortestLeaseS, kLongestLeaseS))
      ->capture_default_str();
  app.add_flag("--mandatory-locks", words.mandatory_locks,
               "by NFS version 4, let no one read or write through a byte-range lock of another "
               "owner, at data servers either; otherwise locks are advisory");
  auto* optimistic = app.add_flag("--optimistic", words.optimistic,
                                  "let clients read blocks of files by RDMA Reads of their own, "
                                  "over a connection beside "
                                  "that of NFS")
                         ->excludes(exported);
  app.add_option("--direct-block", words.direct_block,
                 "octets of a block that one such RDMA Read reads: 4096, 8192 and so on to 65536")
      ->needs(optimistic)
      ->capture_default_str();
  app.add_flag("--recoverable-faults", words.recoverable_faults,
               "over iwarp, for clients that ask for it: refuse an RDMA Read of a block that has "
               "changed alone, which RFC 5040 does not know, and keep the connection")
      ->needs(optimistic);
  auto* data_servers =
      app.add_option("--pnfs", words.data_servers,
                     "offer pNFS with this many data servers, which listen at free ports of the "
                     "same hosts, by the same transports")
          ->check(CLI::Range(std::uint32_t{1}, peer::kMostDataServers))
          ->excludes(portmap);
  auto* separate =
      app.add_option("--pnfs-mds", words.separate_data_servers,
                     "offer pNFS with this many data servers, which are processes of their own "
                     "(--pnfs-ds) with the same --export and --handle-key")
          ->check(CLI::Range(std::uint32_t{1}, peer::kMostDataServers))
          ->excludes(portmap)
          ->excludes(data_servers);
  app.add_option("--pnfs-ds", words.data_server,
                 "be data server 1, 2 and so on of a metadata server (--pnfs-mds)")
      ->check(CLI::Range(std::uint32_t{1}, peer::kMostDataServers))
      ->excludes(portmap)
      ->excludes(data_servers)
      ->excludes(separate)
      ->excludes(optimistic);
  app.add_option("--control", words.control,
                 "UNIX socket by which a metadata server and its data servers know each other");
  app.add_option("--pnfs-host", words.data_server_host,
                 "name or address by which clients reach the data servers, if it is not that of "
                 "--listen, as behind address translation");
  app.add_option("--pnfs-port", words.first_data_server_port,
                 "first port of the data servers, which take it and those behind it, one for each "
                 "--listen: so that clients find them again after a restart")
      ->check(CLI::Range(1, 65535))
      ->needs(data_servers);
  app.add_option("--stripe-unit", words.stripe_unit,
                 "octets of a file that are at one data server before the next has its turn, a "
                 "multiple of 64")
      ->capture_default_str();
  app.add_option(
         "--stripe-turns", words.stripe_turns,
         "turns of each data server in a stripe, each with a filehandle of its own: layouts "
         "become longer; more than 1 need --packing dense")
      ->check(CLI::Range(std::uint32_t{1}, peer::kMostStripeUnits))
      ->capture_default_str();
  app.add_option("--packing", words.packing,
                 "where an octet is at a data server: at its offset in the file (sparse), or "
                 "without the holes that other data servers fill (dense)")
      ->check(CLI::IsMember({"sparse", "dense"}))
      ->capture_default_str();
  app.add_option("--commit", words.commit,
                 "where clients commit what they wrote to data servers: there (ds), or at the "
                 "metadata server (mds)")
      ->check(CLI::IsMember({"ds", "mds"}))
      ->capture_default_str();
  app.add_flag(
      "--keep-layouts", words.keep_layouts,
      "let layouts outlive the last CLOSE of their file, and say so in LAYOUTGET; otherwise "
      "the last CLOSE returns them");
  app.add_option("--layout-seqid", words.layout_seqid,
                 "seqid of the first layout stateid of each file; RFC 8881 has 1, and another one "
                 "lets a test reach the end of the seqids")
      ->check(CLI::Range(std::uint32_t{1}, std::numeric_limits<std::uint32_t>::max()))
      ->capture_default_str();
  app.add_flag("--plain-data-servers", words.plain_data_servers,
               "data servers are servers without pNFS too, and say both in EXCHANGE_ID; a COMPOUND "
               "has filehandles of one of them");
  app.add_flag("--both-roles", words.both_roles,
               "the metadata server is the last data server too, and says both in EXCHANGE_ID")
      ->needs(data_servers);
  app.add_flag("--counts", words.counts,
               "print at the end how many messages and octets of RDMA Reads and Writes each server "
               "has carried");
  app.add_option("--deviate", words.deviations,
                 "switch this deviation on (can be given several times)")
      ->allow_extra_args(false);
  app.add_flag("--list-deviations", words.list_deviations, "print the deviations and exit");
  app.add_flag("--json", words.json, "print the list as JSON");
  app.add_option("--credits", words.credits, "credits granted in each reply")
      ->capture_default_str();
  app.add_option("--slots", words.slots,
                 "slots of a session of NFS version 4.1 at most, however many credits its "
                 "connection has; otherwise as many as credits, and 64 at most")
      ->check(CLI::Range(std::uint32_t{1}, peer::kMostOfferedSlots));
  app.add_option("--shared-receives", words.shared_receives,
                 "post this many receives for all connections of a transport together, however "
                 "many credits they have; otherwise each connection has receives for its own")
      ->check(CLI::Range(std::uint32_t{1}, peer::kMostSharedReceives));
  app.add_option("--inline-bytes", words.inline_bytes,
                 "announced send and receive size, a multiple of 1024")
      ->capture_default_str();
  app.add_option("--idle-timeout", words.idle_timeout_s,
                 "seconds after which a silent connection is closed, 0 for never")
      ->capture_default_str();
  app.add_flag("--no-remote-invalidation", words.no_remote_invalidation, "announce R = 0");
  app.add_flag("--no-private-data", words.no_private_data, "announce nothing at all");
  app.add_flag("--no-crc", words.no_crc,
               "over iwarp: do not ask for CRC32C; a client that asks gets it all the same");
  app.add_flag("--no-sandbox", words.no_sandbox,
               "keep capabilities, system calls and files that the server does not need once it "
               "listens");
}

/// What is wrong with the options of pNFS together, a sentence; nothing: they fit.
std::optional<std::string> misfit(const Words& words) {
  const bool separate = words.separate_data_servers || words.data_server;
  if (words.has_pattern && !words.data_servers && !words.separate_data_servers)
    return "the options of stripes need --pnfs or --pnfs-mds";
  if (!words.data_server_host.empty() && !words.data_servers && !words.data_server)
    return "--pnfs-host needs --pnfs or --pnfs-ds";
  if (words.plain_data_servers && !words.data_servers && !words.data_server)
    return "--plain-data-servers needs --pnfs or --pnfs-ds";
  if (!words.control.empty() && !separate) return "--control needs --pnfs-mds or --pnfs-ds";
  if (separate && (words.control.empty() || !words.export_directory || words.key_file.empty()))
    return "--pnfs-mds and --pnfs-ds need --control, --export and --handle-key";
  // Before clients have reclaimed, what data servers still heed must not be granted to others.
  if (words.separate_data_servers && !words.recovery_file) return "--pnfs-mds needs --recovery";
  if (words.data_server && words.recovery_file)
    return "--pnfs-ds takes no --recovery: its metadata server keeps the clients";
  return {};
}

std::variant<Options, Ending> check(const Words& words) {
  Options options;
  options.optimistic = words.optimistic;
  if (!peer::is_direct_block(words.direct_block))
    return Ending{"--direct-block is a power of two from 4096 to 65536", kUsageError};
  options.direct.block_bytes = words.direct_block;
  options.sandbox = !words.no_sandbox;
  options.list_deviations = words.list_deviations;
  options.as_json = words.json;
  if (words.port_file && words.port_file->empty())
    return Ending{"--port-file needs the name of a file", kUsageError};
  options.port_file = words.port_file.value_or("");
  options.export_directory = words.export_directory;
  options.memory_mib = words.memory_mib;
  options.unstable_mib = words.unstable_mib;
  options.read_only = words.read_only;
  options.root_squash = !words.no_root_squash;
  options.all_squash = words.all_squash;
  options.key_file = words.key_file;
  if (words.recovery_file && words.recovery_file->empty())
    return Ending{"--recovery needs the name of a file", kUsageError};
  options.recovery_file = words.recovery_file.value_or("");
  options.lease = std::chrono::seconds(words.lease_s);
  options.slots = words.slots;
  options.mandatory_locks = words.mandatory_locks;
  options.direct.lease = std::min(options.direct.lease, options.lease);
  for (const std::string& listen : words.listen) {
    auto url = net::parse_url(listen);
    if (!url) return Ending{url.error().message(), kUsageError};
    if (!url->path.empty())
      return Ending{"--listen " + listen + ": there is nothing behind the port; what is exported " +
                        "has the path " + std::string(peer::kExportPath),
                    kUsageError};
    options.listen.push_back(std::move(*url));
  }
  if (const auto wrong = misfit(words)) return Ending{*wrong, kUsageError};
  options.control = words.control;
  if (words.data_server) options.data_server = *words.data_server - 1;
  if (const auto count = words.data_servers ? words.data_servers : words.separate_data_servers) {
    const peer::StripePattern pattern{*count, words.stripe_unit, words.packing == "dense",
                                      words.commit == "mds", words.stripe_turns};
    if (const auto possible = peer::check_pattern(pattern); !possible)
      return Ending{"--pnfs: " + possible.error(), kUsageError};
    options.stripes = pattern;
  }
  options.counts = words.counts;
  options.portmap = words.portmap;
  const auto is_stream = [](const net::Url& url) { return url.provider == net::kStreamProvider; };
  if (words.portmap && std::ranges::none_of(options.listen, is_stream))
    return Ending{"--portmap needs a --listen tcp:// URL", kUsageError};
  const auto has_crc = [](const net::Url& url) {
    return url.provider == "roce" || url.provider == "verbs";
  };
  if (words.no_crc && std::ranges::any_of(options.listen, has_crc))
    return Ending{
        "--no-crc is for iwarp:// URLs: RoCE always has a CRC, and a device has its own way",
        kUsageError};
  options.server.crc = !words.no_crc;
  deviations::ServerDeviations chosen;
  for (const std::string& name : words.deviations) {
    if (auto added = chosen.add(name); !added) return Ending{added.error(), kUsageError};
  }
  options.server.direct_policy.recoverable_faults = words.recoverable_faults;
  options.server.pnfs_policy.layouts_end_at_close = !words.keep_layouts;
  options.server.pnfs_policy.says_return_on_close = !words.keep_layouts;
  options.server.pnfs_policy.first_layout_seqid = words.layout_seqid;
  options.server.pnfs_policy.second_role = words.plain_data_servers;
  options.server.has_both_roles = words.both_roles;
  options.server.data_server_host = words.data_server_host;
  options.server.first_data_server_port = words.first_data_server_port;
  options.server.credits = words.credits;
  options.server.shared_receives = words.shared_receives;
  options.server.announced = {!words.no_remote_invalidation, words.inline_bytes,
                              words.inline_bytes};
  options.server.sends_private_data = !words.no_private_data;
  const auto idle_timeout = peer::idle_timeout_of(words.idle_timeout_s);
  if (!idle_timeout) return Ending{"--idle-timeout: " + idle_timeout.error(), kUsageError};
  options.server.idle_timeout = *idle_timeout;
  if (const auto possible = peer::check(options.server); !possible)
    return Ending{possible.error(), kUsageError};
  chosen.install(options.server);
  return options;
}

}  // namespace

std::variant<Options, Ending> parse(int argc, char** argv) {
  CLI::App app{
      "Reference NFS/RDMA server of Steertag: NFS versions 3, 4.0 and 4.1 and MOUNT from memory "
      "or a directory."};
  app.name("steertag-serve");
  Words words;
  describe(app, words);
  try {
    app.parse(argc, argv);
    for (const char* name : {"--stripe-unit", "--stripe-turns", "--packing", "--commit",
                             "--keep-layouts", "--layout-seqid"})
      words.has_pattern |= app.count(name) > 0;
  } catch (const CLI::CallForHelp&) {
    return Ending{app.help(), 0};
  } catch (const CLI::ParseError& error) {
    return Ending{error.what(), kUsageError};
  }
  return check(words);
}

std::string list_deviations(bool as_json) {
  if (!as_json) {
    std::string text;
    for (const deviations::Deviation* row : deviations::all(trace::Role::server)) {
      text += std::string(row->name) + "  (" + std::string(row->requirement()) + ")\n    " +
              std::string(row->sentence) + "\n";
    }
    return text;
  }
  nlohmann::json rows = nlohmann::json::array();
  for (const deviations::Deviation* row : deviations::all(trace::Role::server)) {
    const std::vector<std::string_view> ids = deviations::broken(*row);
    rows.push_back({{"name", row->name},
                    {"requirement", ids.front()},
                    {"also", std::vector(ids.begin() + 1, ids.end())},
                    {"argument", row->argument},
                    {"sentence", row->sentence}});
  }
  return rows.dump(2) + "\n";
}

}  // namespace steertag::serve
