// Opening of a client by URL.
#include "client/files/file_client.h"

#include <unistd.h>

#include <array>

#include "client/direct/batch_files.h"
#include "client/nfs3/nfs3_files.h"
#include "client/stream/stream_requester.h"
#include "rpc/rpcbind.h"

namespace steertag::peer {
namespace {

FileError error_of(const net::Error& error) {
  return {FileErrc::call_failed, error.message(), 0, {}};
}

/// The announced size that the options leave to their mode.
std::uint32_t inline_bytes_of(const FileClientOptions& options) {
  const bool is_inline =
      options.transfer == TransferMode::in_line || options.transfer == TransferMode::pre_posted;
  return options.inline_bytes.value_or(is_inline ? wire::kLargestInlineBytes
                                                 : kDefaultAnnouncedBytes);
}

std::size_t chunk_from_of(const FileClientOptions& options) {
  const TransferMode mode = options.transfer;
  const bool is_direct =
      mode == TransferMode::direct || mode == TransferMode::cached || mode == TransferMode::batch;
  return is_direct ? std::min<std::size_t>(options.chunk_from, 1) : options.chunk_from;
}

Expected<void, FileError> check_mode(const FileClientOptions& options, const net::Url& url) {
  const TransferMode mode = options.transfer;
  if (options.recoverable_faults && mode != TransferMode::optimistic)
    return tl::unexpected(FileError{
        FileErrc::call_failed, "recoverable faults are for optimistic transfers only", 0, {}});
  if (mode == TransferMode::as_needed || url.provider != kStreamProvider) return {};
  const char* const what = mode == TransferMode::optimistic ? " reads" : " transfers";
  return tl::unexpected(FileError{
      FileErrc::call_failed, std::string(name(mode)) + what + " need RDMA, not tcp://", 0, {}});
}

/// What a mode needs of its provider.
Expected<void, FileError> check_provider(const FileClientOptions& options,
                                         const fabric::Capabilities& capabilities,
                                         const std::string& name) {
  const auto refuse = [](std::string detail) {
    return tl::unexpected(FileError{FileErrc::call_failed, std::move(detail), 0, {}});
  };
  if (options.transfer == TransferMode::pre_posted && !capabilities.splits_sends)
    return refuse("pre-posted transfers need iwarp:// or roce://, not " + name + "://");
  if (options.recoverable_faults && !capabilities.recoverable_read_faults)
    return refuse("recoverable faults need iwarp://, not " + name + "://");
  return {};
}

/// Where a data server is. `rdma` is the provider for its netids of RDMA, which do not say iWARP or
/// RoCE; empty: none.
Expected<net::Url, FileError> url_of(const DataServerPath& path, std::string_view rdma,
                                     const DataServerPolicy& policy) {
  const auto host = rpcbind::host_of(path.address);
  const auto port = rpcbind::port_of(path.address);
  net::Url url;
  if (path.netid == "rdma" || path.netid == "rdma6" || !policy.checks_netids) url.provider = rdma;
  if (path.netid == "tcp" || path.netid == "tcp6") url.provider = kStreamProvider;
  const bool readable = host && (policy.reads_ipv6 || host->find(':') == std::string_view::npos);
  if (!readable || url.provider.empty())
    return tl::unexpected(
        FileError{FileErrc::call_failed, "no way to " + path.netid + " " + path.address, 0, {}});
  url.host = *host;
  url.port = *port;
  if (!policy.reads_ports) url.port = static_cast<std::uint16_t>((*port & 0xff) << 8 | *port >> 8);
  return url;
}

/// co_ownerid: this process, which has no state that another run of it could take over.
std::string make_owner(const fabric::RandomSource& random) {
  return "steertag " + std::to_string(::getpid()) + " " + std::to_string(random());
}

}  // namespace

Expected<CallWay, FileError> FileClient::make_way(const net::Url& url,
                                                  const FileClientOptions& options,
                                                  const fabric::RandomSource& random,
                                                  fabric::Provider* shared) {
  CallWay way;
  const auto first_xid = static_cast<std::uint32_t>(random());
  if (url.provider == kStreamProvider) {
    StreamRequesterOptions stream;
    stream.attempts = options.attempts;
    auto transport = StreamRequester::open(url, stream, first_xid);
    if (!transport) return tl::unexpected(error_of(transport.error()));
    way.transport = std::move(*transport);
  } else {
    if (!shared) {
      auto provider = fabric::make_provider(url.provider, random);
      if (!provider) return tl::unexpected(error_of(provider.error()));
      way.provider = std::move(*provider);
      shared = way.provider.get();
    }
    const auto possible = check_provider(options, shared->capabilities(), url.provider);
    if (!possible) return tl::unexpected(possible.error());
    RequesterOptions rdma;
    rdma.credits = options.credits;
    rdma.attempts = options.attempts;
    rdma.crc = options.crc;
    rdma.announced.send_bytes = rdma.announced.receive_bytes = inline_bytes_of(options);
    if (options.transfer == TransferMode::cached) rdma.registration = Registration::cached;
    rdma.pre_posts = options.transfer == TransferMode::pre_posted;
    if (const std::size_t chunk_from = chunk_from_of(options); chunk_from != SIZE_MAX) {
      rdma.form.emplace();
      rdma.form->chunk_from = chunk_from;
    }
    if (options.long_calls) {
      FormWish wish = rdma.form.value_or(FormWish{});
      wish.long_call = Use::always;
      wish.segments = 2;
      rdma.form = wish;
    }
    if (options.reply_chunks) {
      FormWish wish = rdma.form.value_or(FormWish{});
      wish.reply_chunk = Use::always;
      wish.segments = kMostRequestSegments;
      rdma.form = wish;
    }
    rdma.reserve = options.version != 3 ? options.reserve : 0;
    rdma.policy = options.requester;
    rdma.interposer = options.interposer;
    way.transport = std::make_unique<Requester>(*shared, url, rdma, first_xid);
  }
  way.schedule = std::make_unique<CallSchedule>(*way.transport, options.clock, options.timeout);
  way.schedule->set_interrupted(options.interrupted);
  return way;
}

Expected<void, FileError> FileClient::start_version3(const net::Url& url,
                                                     const FileClientOptions& options,
                                                     const fabric::RandomSource& random) {
  if (options.mount_port != 0) {
    net::Url mount_url = url;
    mount_url.provider = kStreamProvider;
    mount_url.port = options.mount_port;
    auto way = make_way(mount_url, options, random);
    if (!way) return tl::unexpected(std::move(way.error()));
    mount_ = std::move(*way);
  }
  auto files = std::make_unique<Nfs3Files>(*nfs_.schedule, options.identity, mount_.schedule.get());
  if (auto mounted = files->mount(url.path.empty() ? "/" : url.path); !mounted) return mounted;
  files_ = std::move(files);
  return {};
}

DataServerConnector FileClient::connector(const net::Url& url, const FileClientOptions& options,
                                          const fabric::RandomSource& random) {
  FileClientOptions way = options;
  way.attempts = std::min(options.attempts, kDataServerAttempts);
  way.timeout = std::min(options.timeout, options.data_server_timeout);
  way.interposer = options.at_data_servers;
  return [way, random, provider = nfs_.provider.get(),
          name = url.provider](const DataServerPath& path) -> Expected<CallWay, FileError> {
    const auto to = url_of(path, provider ? std::string_view(name) : std::string_view(),
                           way.session.data_servers);
    if (!to) return tl::unexpected(to.error());
    return make_way(*to, way, random, provider);
  };
}

Expected<void, FileError> FileClient::start_version4(const net::Url& url,
                                                     const FileClientOptions& options,
                                                     const fabric::RandomSource& random) {
  SessionOptions session;
  session.identity = options.identity;
  session.owner = make_owner(random);
  session.policy = options.session;
  session.slots = options.slots;
  wire::store_u64(session.verifier.data(), random());
  // A session of its own is all that direct access knows.
  const bool is_direct =
      options.transfer == TransferMode::optimistic || options.transfer == TransferMode::batch;
  if (options.layouts && !is_direct) session.roles = nfs4::EXCHGID4_FLAG_USE_PNFS_MDS;
  auto files = std::make_unique<Nfs4Files>(*nfs_.schedule, session);
  if (auto started = files->start(); !started) return started;
  version4_ = files.get();
  const bool has_role = files->session().has_roles(nfs4::EXCHGID4_FLAG_USE_PNFS_MDS);
  const bool has_layouts = session.roles != 0 && (has_role || !options.session.layouts.checks_role);
  if (!has_layouts) {
    files_ = std::move(files);
    return {};
  }
  auto striped = std::make_unique<StripedFiles>(std::move(files), connector(url, options, random),
                                                std::move(session));
  striped_ = striped.get();
  files_ = std::move(striped);
  return {};
}

void FileClient::start_optimistic(const net::Url& url, const FileClientOptions& options,
                                  const fabric::RandomSource& random) {
  OptimisticOptions optimistic;
  optimistic.identity = options.identity;
  wire::store_u64(optimistic.verifier.data(), random());
  optimistic.crc = options.crc;
  optimistic.recoverable = options.recoverable_faults;
  optimistic.policy = options.optimistic;
  auto files = std::make_unique<OptimisticFiles>(std::move(files_), *nfs_.schedule, *nfs_.provider,
                                                 url, std::move(optimistic));
  files->start();
  optimistic_ = files.get();
  files_ = std::move(files);
}

Expected<void, FileError> FileClient::start(const net::Url& url, const FileClientOptions& options,
                                            const fabric::RandomSource& random) {
  if (options.version != 3) {
    auto started = start_version4(url, options, random);
    if (started) return started;
    const bool may_fall =
        options.version == 0 && started.error().code == FileErrc::unsupported_version;
    if (!may_fall) return started;
  }
  return start_version3(url, options, random);
}

Expected<std::unique_ptr<FileClient>, FileError> FileClient::open(const net::Url& url,
                                                                  const FileClientOptions& options,
                                                                  fabric::RandomSource random) {
  if (auto possible = check_mode(options, url); !possible)
    return tl::unexpected(std::move(possible.error()));
  std::unique_ptr<FileClient> client(new FileClient());
  auto way = make_way(url, options, random);
  if (!way) return tl::unexpected(std::move(way.error()));
  client->nfs_ = std::move(*way);
  if (auto started = client->start(url, options, random); !started)
    return tl::unexpected(std::move(started.error()));
  if (options.transfer == TransferMode::optimistic) client->start_optimistic(url, options, random);
  if (options.transfer == TransferMode::batch)
    client->files_ = std::make_unique<BatchFiles>(std::move(client->files_), *client->nfs_.schedule,
                                                  options.identity);
  return client;
}

}  // namespace steertag::peer
