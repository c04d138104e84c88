// steertag-serve: the reference server as a program, in the foreground until a signal ends it.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <iostream>
#include <utility>

#include "serve/handed_over.h"
#include "serve/options.h"
#include "serve/port_file.h"
#include "serve/recovery_file.h"
#include "serve/sandbox/sandbox.h"
#include "serve/serving.h"
#include "serve/storage.h"
#include "serve/trouble_log.h"
#include "server/direct/direct_access.h"
#include "server/directory/directory_backend.h"

namespace steertag::serve {
namespace {

constexpr int kCannotServe = 1;
constexpr int kFailedByDeviation = 70;  // EX_SOFTWARE of sysexits.h
// Descriptors besides those of connections: listeners, event loops, and the open files of an
// export.
constexpr std::size_t kOtherFiles = 2048;
// Longest time until a signal is noticed when nothing arrives.
constexpr std::chrono::milliseconds kPollInterval{200};

// A handler may touch nothing else.
volatile std::sig_atomic_t end_requested = 0;
volatile std::sig_atomic_t recall_requested = 0;
volatile std::sig_atomic_t replacement_requested = 0;
volatile std::sig_atomic_t move_requested = 0;

void on_signal(int number) {
  if (number == SIGUSR1) {
    recall_requested = 1;
  } else if (number == SIGUSR2) {
    replacement_requested = 1;
  } else if (number == SIGRTMIN) {
    move_requested = 1;
  } else {
    end_requested = 1;
  }
}

void catch_signal(int number) {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

void catch_signals() {
  catch_signal(SIGTERM);
  catch_signal(SIGINT);
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond the process's limit is to fail with EFBIG
}

peer::Time now() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return {time.tv_sec, static_cast<std::uint32_t>(time.tv_nsec)};
}

int fail(const std::string& text) {
  std::cerr << "steertag-serve: " << text << '\n';
  return kCannotServe;
}

void warn(const std::string& text) {
  std::cerr << "steertag-serve: " + text + '\n';
}

int print(const std::string& text) {
  std::cout << text << std::flush;
  return std::cout ? 0 : fail("cannot write the output");
}

void restrict_itself(const Options& options) {
  SandboxNeeds needs;
  needs.export_directory = options.export_directory;
  needs.read_only = options.read_only;
  needs.recovery_file = options.recovery_file;
  needs.joins_others = options.data_server.has_value();
  needs.has_devices = std::ranges::any_of(
      options.listen, [](const net::Url& url) { return url.provider == "verbs"; });
  for (const std::string& line : enter_sandbox(needs)) warn(line);
}

/// Who clients are within the export. The host knows the server's user only.
peer::Squash squash(const Options& options) {
  peer::Squash squash;
  if (!options.export_directory) return squash;
  const bool as_root = peer::runs_as_root();
  if (as_root && options.root_squash) squash.of = peer::Squash::Of::root;
  if (options.all_squash) squash.of = peer::Squash::Of::all;
  if (!as_root) squash.uid = ::geteuid(), squash.gid = ::getegid();
  return squash;
}

/// What an administrator of layouts has asked for since.
void heed_requests(Serving& serving, const Options& options) {
  if (std::exchange(recall_requested, 0) != 0) serving.recall_layouts();
  if (std::exchange(replacement_requested, 0) != 0) serving.replace_device();
  if (std::exchange(move_requested, 0) == 0) return;
  if (options.sandbox) return warn("a data server moves with --no-sandbox alone");
  if (const auto moved = serving.move_data_server(); !moved) warn(moved.error());
}

int serve(const Options& options) {
  // Not for a printed list: there a closed pipe ends the program quietly, as it does other tools.
  std::signal(SIGPIPE, SIG_IGN);
  if (!options.port_file.empty()) {
    const KeptFile kept[] = {{"--handle-key", options.key_file},
                             {"--recovery", options.recovery_file}};
    if (const auto usable = try_port_file(options.port_file, kept); !usable)
      return fail(usable.error());
  }
  if (const auto taken = check_inherited_sockets(options.listen); !taken)
    return fail(taken.error());
  const fabric::RandomSource random = fabric::system_random();
  const auto storage = make_storage(options, now, random);
  if (!storage) return fail(storage.error());
  peer::Nfs4StateOptions state;
  state.clock = options.server.clock;
  state.random = random;
  state.lease = options.lease;
  state.layouts_end_at_close = options.server.pnfs_policy.layouts_end_at_close;
  state.slots = options.slots;
  state.mandatory_locks = options.mandatory_locks;
  state.policy = options.server.states;
  state.recovery_path = options.recovery_file;
  if (!state.recovery_path.empty()) {
    if (const auto usable = check_recovery_file(state.recovery_path); !usable)
      return fail(usable.error());
  }
  peer::ServerOptions how = options.server;
  how.squash = squash(options);
  if (options.export_directory && peer::runs_as_root() && !options.root_squash)
    warn("--no-root-squash: whoever reaches this server and says to be uid 0 is root within " +
         *options.export_directory);
  if (options.optimistic)
    how.direct =
        std::make_shared<peer::DirectAccess>(options.direct, random, how.clock, how.direct_policy);
  TroubleLog troubles(warn, std::chrono::steady_clock::now);
  auto serving = Serving::start(options, **storage, state, how, troubles, warn);
  if (!serving) return fail(serving.error());
  forget_inherited_sockets();
  if (serving->is_metadata_server()) {
    catch_signal(SIGUSR1);
    catch_signal(SIGUSR2);
    catch_signal(SIGRTMIN);
  }
  std::vector<std::uint16_t> ports;
  for (const net::Url& url : serving->server().listening()) ports.push_back(url.port);
  // First, so that no client learns of a server that ends because of its port file.
  if (!options.port_file.empty()) {
    if (const auto written = write_port_file(options.port_file, ports); !written)
      return fail(written.error());
  }
  // No client is served before.
  if (options.sandbox) restrict_itself(options);
  if (const int status = print(serving->places()); status != 0) return status;
  while (end_requested == 0 && !serving->server().failed()) {
    serving->poll(kPollInterval);
    heed_requests(*serving, options);
  }
  if (options.counts && print(serving->counts()) != 0) return kCannotServe;
  return serving->server().failed() ? kFailedByDeviation : 0;
}

/// As many connections as the administrator allows at most: the soft limit is often smaller.
void raise_file_limit(std::size_t most_connections) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = before;
  if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < most_connections + kOtherFiles)
    warn("only " + std::to_string(limit.rlim_cur) + " files may be open at a time (ulimit -Hn), " +
         "which is too few for " + std::to_string(most_connections) + " connections");
}

int run(int argc, char** argv) {
  catch_signals();
  const auto parsed = parse(argc, argv);
  if (const auto* ending = std::get_if<Ending>(&parsed)) {
    if (ending->code == 0) return print(ending->text);
    std::cerr << "steertag-serve: " << ending->text << '\n';
    return ending->code;
  }
  const Options& options = std::get<Options>(parsed);
  if (options.list_deviations) return print(list_deviations(options.as_json));
  const bool holds_all = options.stripes && options.control.empty();
  const std::size_t servers = holds_all ? 1 + options.stripes->count : 1;
  raise_file_limit(options.server.most_connections * servers);
  return serve(options);
}

}  // namespace
}  // namespace steertag::serve

int main(int argc, char** argv) {
  return steertag::serve::run(argc, argv);
}
