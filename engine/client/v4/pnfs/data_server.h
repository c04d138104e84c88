// A data server as a client of layouts uses it.
// It has several addresses, and a session of its own (RFC 8881 13.1, 13.5).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/files/call_way.h"
#include "client/v4/client_session.h"
#include "nfs/v4/file_layout.h"

namespace steertag::peer {

/// Data servers of all devices of a client: each takes a connection.
inline constexpr std::size_t kMostDataServersOfClient = 256;

/// netaddr4
struct DataServerPath {
  std::string netid;
  std::string address;  // universal
  bool operator==(const DataServerPath&) const = default;
};

/// Makes what carries calls to an address. An error if the client has no transport for its netid.
using DataServerConnector = std::function<Expected<CallWay, FileError>(const DataServerPath&)>;

/// Calls that a data server has answered with success, and their octets.
struct DataServerCounts {
  std::uint64_t reads = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t writes = 0;
  std::uint64_t written_bytes = 0;
  std::uint64_t commits = 0;
};

class DataServer {
 public:
  /// `metadata` is stepped for the data server too. It and `connect` must outlive this. `options`
  /// are those of the session at the metadata server, whose co_ownerid serves here (RFC 8881 13.1).
  DataServer(CallSchedule& metadata, const DataServerConnector& connect, SessionOptions options,
             std::vector<DataServerPath> paths);
  ~DataServer();
  DataServer(const DataServer&) = delete;
  DataServer& operator=(const DataServer&) = delete;

  /// The session by the address in use, which the first call makes. nullptr: none can be reached.
  ClientSession* session();
  /// A call failed without an answer: the next address takes its place.
  void failed(const ClientSession* session);
  /// Ends the sessions; waits.
  void end();

  const std::vector<DataServerPath>& paths() const { return paths_; }
  /// Of the session by the address in use; 0 without one.
  std::uint32_t slots() const {
    const auto& session = ways_[current_].session;
    return session ? session->slots() : 0;
  }
  DataServerCounts& counts() { return counts_; }
  const DataServerCounts& counts() const { return counts_; }

 private:
  struct Way {
    CallWay calls;
    std::unique_ptr<ClientSession> session;
  };
  bool open(std::size_t path);
  void next_path();

  CallSchedule& metadata_;
  const DataServerConnector& connect_;
  SessionOptions options_;
  std::vector<DataServerPath> paths_;
  std::vector<Way> ways_;  // of each path; empty before its first use
  std::size_t current_ = 0;
  std::chrono::steady_clock::time_point next_try_{};
  DataServerCounts counts_;
};

/// The data servers that layouts have named.
class DataServerSet {
 public:
  DataServerSet(CallSchedule& metadata, DataServerConnector connect, SessionOptions options)
      : metadata_(metadata), connect_(std::move(connect)), options_(std::move(options)) {}

  /// The data server of a multipath list: two lists of the same addresses have one. nullptr beyond
  /// kMostDataServersOfClient.
  DataServer* find(const nfs4::MultipathList& list);
  const std::vector<std::unique_ptr<DataServer>>& all() const { return servers_; }
  void end();

 private:
  CallSchedule& metadata_;
  DataServerConnector connect_;
  SessionOptions options_;
  std::vector<std::unique_ptr<DataServer>> servers_;
};

}  // namespace steertag::peer
