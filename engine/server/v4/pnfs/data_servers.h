// The data servers of a metadata server: their pattern, their addresses, and their filehandles.
// Both sides share it in one process, which makes the control protocol a function call (RFC 8881
// 12.2.6).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "server/storage/backend.h"
#include "server/v4/pnfs/policy.h"
#include "server/v4/pnfs/stripe_pattern.h"

namespace steertag::peer {

class Nfs4State;

/// One way to a data server: netaddr4.
struct DataServerAddress {
  std::string netid;
  std::string address;  // universal
};

/// A file at a data server.
struct ComponentHandle {
  Handle file{};            // of the metadata server
  std::uint32_t index = 0;  // of the data server
};

class DataServers {
 public:
  /// `random` gives the key that makes filehandles unforgeable, and the device ID, which no earlier
  /// run had (RFC 8881 12.2.10).
  DataServers(const StripePattern& pattern, const std::function<std::uint64_t()>& random,
              const PnfsPolicy& policy = {});

  const StripePattern& pattern() const { return pattern_; }
  const PnfsPolicy& policy() const { return policy_; }
  const nfs4::DeviceId& device() const { return device_; }

  /// The addresses of the next data server. Before all are known no layout is granted.
  void add(std::vector<DataServerAddress> addresses) { addresses_.push_back(std::move(addresses)); }
  bool complete() const { return addresses_.size() == pattern_.count; }

  /// da_addr_body: one stripe index and one multipath list for each data server.
  Bytes device_body() const;
  /// loc_body of a file with this handle and number.
  Bytes layout_body(const Handle& file, std::uint64_t file_id) const;

  /// The filehandle of a file at a data server. It differs from that of the metadata server (RFC
  /// 8881 13.1).
  nfs4::FileHandle handle(const ComponentHandle& component) const;
  /// Nullopt for what no layout of this run has.
  std::optional<ComponentHandle> resolve(View handle) const;

 private:
  std::uint64_t mac(const ComponentHandle& component) const;

  StripePattern pattern_;
  PnfsPolicy policy_;
  std::uint64_t key_[2];
  nfs4::DeviceId device_;
  std::vector<std::vector<DataServerAddress>> addresses_;
};

/// What an NFSv4 program is to clients of pNFS. Without `data_servers` it is a server without pNFS.
struct PnfsRole {
  std::shared_ptr<const DataServers> data_servers{};
  /// The index of a data server; none: the metadata server.
  std::optional<std::uint32_t> index{};
  /// Of a data server: the state of its metadata server, which has to outlive it.
  Nfs4State* metadata = nullptr;

  bool is_metadata_server() const { return data_servers && !index; }
  bool is_data_server() const { return data_servers && index; }
};

}  // namespace steertag::peer
