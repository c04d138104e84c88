// A client of the files behind a URL, with everything that belongs to it.
// It has a provider or TCP, and the version of NFS that the server speaks.
#pragma once

#include <memory>

#include "client/direct/optimistic_files.h"
#include "client/files/call_way.h"
#include "client/files/identity.h"
#include "client/files/remote_files.h"
#include "client/files/transfer_mode.h"
#include "client/interposer.h"
#include "client/policy.h"
#include "client/rdma/requester.h"
#include "client/v4/pnfs/striped_files.h"

namespace steertag::peer {

/// READs or WRITEs under way that a caller may ask for: as many as a connection over TCP has.
inline constexpr std::uint32_t kMostInFlight = 64;
/// From a call to its reply. Servers may be slow with COMMIT of much data.
inline constexpr std::chrono::milliseconds kCallTimeout{60'000};
/// Connections on which one call is tried. All calls in flight are sent again whenever a connection
/// is lost, however far the transfer has come. A long transfer therefore needs more than
/// kMostAttempts.
inline constexpr std::uint32_t kFileAttempts = 8;
/// The same at a data server, and from a call to its reply there: the metadata server is faster to
/// turn to.
inline constexpr std::uint32_t kDataServerAttempts = 2;
inline constexpr std::chrono::milliseconds kDataServerTimeout{20'000};
inline constexpr std::string_view kStreamProvider = "tcp";

struct FileClientOptions {
  /// Room for so many READs or WRITEs under way, beside the reserve. `calls` is at most
  /// kMostInFlight.
  void make_room(std::uint32_t calls) { credits = std::max(credits, calls + reserve); }
  std::uint32_t version = 0;  // 3 or 4 (4.1); 0: 4.1, and 3 if the server does not have it
  Identity identity;
  std::uint32_t credits = kDefaultCredits;  // calls under way over RDMA
  std::uint32_t slots = 0;                  // SessionOptions::slots, of each session
  std::uint16_t mount_port = 0;             // MOUNT version 3 over TCP; 0: where NFS is
  std::chrono::milliseconds timeout = kCallTimeout;
  DeadlineClock clock = std::chrono::steady_clock::now;  // of that time-out
  /// CallSchedule::set_interrupted
  std::function<bool()> interrupted{};
  bool long_calls = false;    // over RDMA: each call in a position-zero chunk of two segments
  bool reply_chunks = false;  // over RDMA: each call offers a reply chunk of sixteen segments
  bool crc = true;            // over iwarp: the client asks for CRC32C
  TransferMode transfer = TransferMode::as_needed;  // over RDMA
  /// Over iwarp, optimistic: a refused RDMA Read leaves its connection up, if the server agrees.
  bool recoverable_faults = false;
  std::optional<std::uint32_t> inline_bytes{};  // over RDMA: announced (RFC 8797 4), or the mode's
  std::size_t chunk_from = SIZE_MAX;            // over RDMA: FormWish::chunk_from, or the mode's
  std::uint32_t attempts = kFileAttempts;       // connections on which one call is tried
  /// Credits that calls of version 4 leave alone: with one the client finds out whether the server
  /// still answers (RFC 8267 6.7.2).
  std::uint32_t reserve = 1;
  RequesterPolicy requester{};
  OptimisticPolicy optimistic{};
  SessionPolicy session{};
  /// Version 4.1 asks for layouts and uses data servers, where the metadata server has any. Not
  /// with the transfers optimistic and batch.
  bool layouts = true;
  /// From a call to its reply at a data server; `timeout` if that is shorter.
  std::chrono::milliseconds data_server_timeout = kDataServerTimeout;
  std::shared_ptr<ClientInterposer> interposer{};
  /// Sees the calls to all data servers. The other one sees those to the metadata server.
  std::shared_ptr<ClientInterposer> at_data_servers{};
};

class FileClient {
 public:
  /// Connects and mounts: version 3 mounts the export that the URL's path is in. `random` gives
  /// XIDs and the identity of the client.
  static Expected<std::unique_ptr<FileClient>, FileError> open(const net::Url& url,
                                                               const FileClientOptions& options,
                                                               fabric::RandomSource random);

  RemoteFiles& files() { return *files_; }
  /// None without direct access.
  const OptimisticFiles* optimistic() const { return optimistic_; }
  /// None without layouts.
  const StripedFiles* striped() const { return striped_; }
  /// The files as the metadata server has them, whatever layouts there are. None with version 3.
  Nfs4Files* version4() { return version4_; }
  /// What carries the calls of NFS.
  ClientTransport& transport() { return nfs_.schedule->transport(); }

 private:
  FileClient() = default;
  /// `shared` is the provider of another way, which must outlive this one; with nullptr it has its
  /// own.
  static Expected<CallWay, FileError> make_way(const net::Url& url,
                                               const FileClientOptions& options,
                                               const fabric::RandomSource& random,
                                               fabric::Provider* shared = nullptr);
  /// Ways to the data servers of the metadata server behind `url`.
  DataServerConnector connector(const net::Url& url, const FileClientOptions& options,
                                const fabric::RandomSource& random);
  Expected<void, FileError> start(const net::Url& url, const FileClientOptions& options,
                                  const fabric::RandomSource& random);
  Expected<void, FileError> start_version3(const net::Url& url, const FileClientOptions& options,
                                           const fabric::RandomSource& random);
  void start_optimistic(const net::Url& url, const FileClientOptions& options,
                        const fabric::RandomSource& random);
  Expected<void, FileError> start_version4(const net::Url& url, const FileClientOptions& options,
                                           const fabric::RandomSource& random);

  CallWay nfs_;
  CallWay mount_;
  std::unique_ptr<RemoteFiles> files_;
  OptimisticFiles* optimistic_ = nullptr;  // the same, if it is that
  StripedFiles* striped_ = nullptr;        // likewise
  Nfs4Files* version4_ = nullptr;          // the same, or what it is made of
};

}  // namespace steertag::peer
