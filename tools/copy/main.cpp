// steertag-copy: the reference client as the suites for clients want it.
// It reads the file `source` of an export completely and writes the same octets into a new file
// `copy` beside it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "client/files/file_client.h"
#include "client/files/file_reader.h"
#include "client/files/file_writer.h"
#include "deviations/catalogue.h"
#include "deviations/client/client_deviations.h"
#include "endpoint/announced_size.h"
#include "endpoint/limits.h"

namespace steertag::copy {
namespace {

using peer::FileError;
using std::chrono::milliseconds;

constexpr int kCannotCopy = 1;
constexpr int kUsageError = 2;
constexpr milliseconds kStep{1000};
constexpr std::uint32_t kMode = 0644;
constexpr std::uint32_t kLongestWaitMs = 86'400'000;  // a day
// The copy is kept in memory: more is no file for a test.
constexpr std::uint64_t kLargestSource = std::uint64_t{256} << 20;

struct Options {
  net::Url url;
  peer::FileClientOptions client;
  peer::TransferWish wish;
  bool twice = false;       // the source is read twice
  bool open_again = false;  // the source is open twice for a while
};

int fail(const std::string& text) {
  std::cerr << "steertag-copy: " << text << '\n';
  return kCannotCopy;
}

Expected<Bytes, FileError> read_source(peer::RemoteFiles& files, const std::string& directory,
                                       const Options& options) {
  auto source = files.find(directory + "/source", true);
  if (!source) return tl::unexpected(std::move(source.error()));
  auto file = files.open(source->handle);
  if (!file) return tl::unexpected(std::move(file.error()));
  Bytes content;
  peer::FileReader reader(
      files, *file, source->attributes.size,
      [&](std::uint64_t, View data) -> Expected<void, FileError> {
        if (content.size() + data.size() > kLargestSource)
          return tl::unexpected(FileError{peer::FileErrc::too_long, "source", 0, {}});
        content.insert(content.end(), data.begin(), data.end());
        return {};
      },
      options.wish);
  while (!reader.done()) reader.step(kStep);
  if (reader.error()) return tl::unexpected(*reader.error());
  if (options.open_again) {
    const auto again = files.open(source->handle);
    if (!again) return tl::unexpected(again.error());
    if (auto closed = files.close(*again); !closed)
      return tl::unexpected(std::move(closed.error()));
  }
  if (auto closed = files.close(*file); !closed) return tl::unexpected(std::move(closed.error()));
  return content;
}

Expected<void, FileError> write_copy(peer::RemoteFiles& files, const std::string& directory,
                                     View content, const peer::TransferWish& wish) {
  auto parent = files.find(directory.empty() ? "/" : directory, true);
  if (!parent) return tl::unexpected(std::move(parent.error()));
  auto file = files.create(parent->handle, "copy", kMode);
  if (!file) return tl::unexpected(std::move(file.error()));
  peer::FileWriter writer(
      files, *file, {{0, content.size()}},
      [&](std::uint64_t offset, MutableView into) -> Expected<void, FileError> {
        std::ranges::copy(content.subspan(offset, into.size()), into.begin());
        return {};
      },
      wish);
  while (!writer.done()) writer.step(kStep);
  if (writer.error()) return tl::unexpected(*writer.error());
  return files.close(*file);
}

int copy(const Options& options) {
  const auto client = peer::FileClient::open(options.url, options.client, fabric::system_random());
  if (!client) return fail(client.error().message());
  peer::RemoteFiles& files = (*client)->files();
  std::string directory = options.url.path;
  while (directory.ends_with('/')) directory.pop_back();
  if (options.twice) {
    const auto first = read_source(files, directory, options);
    if (!first) return fail(first.error().message());
  }
  const auto content = read_source(files, directory, options);
  if (!content) return fail(content.error().message());
  if (const auto written = write_copy(files, directory, *content, options.wish); !written)
    return fail(written.error().message());
  // What is not given back ends with the client's lease.
  (void)files.end();
  return 0;
}

/// "v3" is another spelling of "3".
std::string without_v(std::string version) {
  if (version.starts_with('v')) version.erase(0, 1);
  return version;
}

int list_deviations() {
  nlohmann::json rows = nlohmann::json::array();
  for (const deviations::Deviation* row : deviations::all(trace::Role::client)) {
    const std::vector<std::string_view> ids = deviations::broken(*row);
    rows.push_back({{"name", row->name},
                    {"requirement", ids.front()},
                    {"also", std::vector(ids.begin() + 1, ids.end())},
                    {"sentence", row->sentence}});
  }
  std::cout << rows.dump(2) << std::endl;
  return std::cout ? 0 : fail("cannot write the output");
}

int main(int argc, char** argv) {
  CLI::App app{"Copies the file source of an NFS/RDMA export into the file copy beside it."};
  std::string url;
  std::string version = "4.1";
  std::uint32_t timeout_ms = 60'000;
  Options options;
  auto pause_ms = static_cast<std::uint32_t>(options.client.requester.reconnect_pause.count());
  app.add_option("url", url, "provider://host[:port][/directory]");
  // A case for one version names that behind the version of the run.
  app.add_option("--nfs", version, "version of NFS")
      ->take_last()
      ->transform(CLI::IsMember({"3", "4.1"}, without_v));
  app.add_option("--timeout-ms", timeout_ms, "from a call to its reply")->capture_default_str();
  app.add_option("--credits", options.client.credits, "asked for in every call")
      ->capture_default_str();
  app.add_option("--io-bytes", options.wish.io_bytes,
                 "octets of one READ or WRITE, at most; otherwise what the server says")
      ->check(CLI::Range(std::uint32_t{1}, peer::kLargestTransfer));
  app.add_option("--in-flight", options.wish.calls,
                 "READs or WRITEs under way, at most; otherwise as many as fit")
      ->check(CLI::Range(std::uint32_t{1}, peer::kMostInFlight));
  std::string transfer(peer::name(options.client.transfer));
  app.add_option("--transfer", transfer, "over RDMA: how data gets to the other end")
      ->check(CLI::IsMember(std::vector(peer::kTransferModes.begin(), peer::kTransferModes.end())))
      ->capture_default_str();
  app.add_flag("--recoverable-faults", options.client.recoverable_faults,
               "over iwarp, for the transfer optimistic: a refused RDMA Read leaves its connection "
               "up, if the server agrees");
  app.add_option("--inline-bytes", options.client.inline_bytes,
                 "over RDMA: announced send and receive size, a multiple of 1024; otherwise 4096, "
                 "or 262144 for the transfers inline and pre-posted");
  app.add_option("--chunk-from", options.client.chunk_from,
                 "over RDMA: data of so many octets takes a chunk, even if it fits inline")
      ->check(CLI::Range(std::size_t{1}, std::size_t{peer::kLargestTransfer}));
  app.add_flag("--long-calls", options.client.long_calls,
               "send each call in a position-zero chunk of two segments");
  app.add_flag("--reply-chunks", options.client.reply_chunks,
               "offer a reply chunk of sixteen segments with each call");
  app.add_option("--reconnect-pause-ms", pause_ms,
                 "over RDMA: behind the first connection that does not come up; then doubled")
      ->check(CLI::Range(std::uint32_t{1}, kLongestWaitMs))
      ->capture_default_str();
  app.add_flag("--auth-sys", options.client.identity.auth_sys,
               "send AUTH_SYS of the user 0; otherwise AUTH_NONE");
  app.add_flag("--twice", options.twice, "open, read and close the source once before");
  app.add_flag("--open-again", options.open_again,
               "open and close the source once more before it is closed");
  app.add_flag("!--no-pnfs", options.client.layouts,
               "with version 4.1: do not ask for layouts, and use no data servers");
  std::uint32_t data_timeout_ms =
      static_cast<std::uint32_t>(options.client.data_server_timeout.count());
  app.add_option("--data-server-timeout-ms", data_timeout_ms,
                 "from a call to its reply at a data server; then the metadata server is used")
      ->check(CLI::Range(std::uint32_t{1}, kLongestWaitMs))
      ->capture_default_str();
  auto data_pause_ms =
      static_cast<std::uint32_t>(options.client.session.data_servers.pause.count());
  app.add_option("--data-server-pause-ms", data_pause_ms,
                 "from the failure of a data server to its next try")
      ->check(CLI::Range(std::uint32_t{1}, kLongestWaitMs))
      ->capture_default_str();
  app.add_flag("!--no-crc", options.client.crc, "over iwarp: do not ask for CRC32C");
  std::vector<std::string> names;
  bool list = false;
  app.add_option("--deviate", names, "switch this deviation on (can be given several times)")
      ->allow_extra_args(false);
  app.add_flag("--list-deviations", list, "print the deviations and exit");
  bool json = false;
  app.add_flag("--json", json, "as JSON, which is the only form");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  if (list) return list_deviations();
  deviations::ClientDeviations chosen;
  for (const std::string& name : names) {
    if (const auto added = chosen.add(name); !added) return fail(added.error());
  }
  chosen.install(options.client);
  options.client.transfer = *peer::transfer_mode(transfer);
  const auto size = peer::check_announced_size(
      "send and receive", options.client.inline_bytes.value_or(peer::kDefaultAnnouncedBytes));
  if (!size)
    return app.exit(CLI::ValidationError("--inline-bytes", size.error())) == 0 ? 0 : kUsageError;
  if (app.count("--credits") == 0) options.client.make_room(options.wish.calls);
  auto parsed = net::parse_url(url);
  if (!parsed) return fail(parsed.error().message());
  options.url = std::move(*parsed);
  options.client.version = version == "3" ? 3 : 4;
  options.client.timeout = milliseconds{timeout_ms};
  options.client.requester.reconnect_pause = milliseconds{pause_ms};
  options.client.data_server_timeout = milliseconds{data_timeout_ms};
  options.client.session.data_servers.pause = milliseconds{data_pause_ms};
  return copy(options);
}

}  // namespace
}  // namespace steertag::copy

int main(int argc, char** argv) {
  return steertag::copy::main(argc, argv);
}
