// The data servers of a metadata server: their pattern, their addresses, and their filehandles.
// In one process both sides share it; otherwise each side has its own, and control/ keeps them the
// same.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/storage/backend.h"
#include "server/v4/pnfs/layout_authority.h"
#include "server/v4/pnfs/policy.h"
#include "server/v4/pnfs/stripe_pattern.h"

namespace steertag::peer {

/// One way to a data server: netaddr4.
struct DataServerAddress {
  std::string netid;
  std::string address;  // universal
  bool operator==(const DataServerAddress&) const = default;
};

/// A file at a data server.
struct ComponentHandle {
  Handle file{};            // of the metadata server
  std::uint32_t index = 0;  // of the stripe unit
};

/// The key of filehandles at data servers.
struct HandleSecret {
  std::array<std::uint64_t, 2> key{};
};

class DataServers {
 public:
  /// `random` gives the key that makes filehandles unforgeable, and the device ID, which no earlier
  /// run had (RFC 8881 12.2.10).
  DataServers(const StripePattern& pattern, const std::function<std::uint64_t()>& random,
              const PnfsPolicy& policy = {});
  /// Of a data server that is a process of its own: before `adopt` no filehandle is valid.
  explicit DataServers(const PnfsPolicy& policy) : policy_(policy) {}

  const StripePattern& pattern() const { return pattern_; }
  const PnfsPolicy& policy() const { return policy_; }
  const nfs4::DeviceId& device() const { return device_; }

  /// The addresses of the next data server. Before all are known no layout is granted.
  void add(std::vector<DataServerAddress> addresses) { addresses_.push_back(std::move(addresses)); }
  bool complete() const { return known() == pattern_.count; }
  /// Those of the data server of an index below the pattern's count. True if it had others, which
  /// clients may know by the device.
  bool set(std::uint32_t index, const std::vector<DataServerAddress>& addresses);
  /// The data server has none any more.
  void take_out(std::uint32_t index);
  /// From now on layouts name a device that no earlier one did (RFC 8881 12.2.10).
  void replace_device(const std::function<std::uint64_t()>& random);

  /// What the metadata server says; filehandles of another secret become invalid.
  void adopt(const StripePattern& pattern, const HandleSecret& secret);
  const HandleSecret& secret() const { return secret_; }
  /// The verifier of all servers, where COMMIT goes through the metadata server and they are
  /// processes of their own (RFC 8881 13.7). None: each has that of its storage.
  const std::optional<std::uint64_t>& shared_verifier() const { return shared_verifier_; }
  void share_verifier(std::uint64_t verifier) { shared_verifier_ = verifier; }

  /// da_addr_body: a multipath list for each data server, and a stripe index for each unit.
  Bytes device_body() const;
  /// loc_body of a file with this handle and number.
  Bytes layout_body(const Handle& file, std::uint64_t file_id) const;

  /// The filehandle of a file at a data server. It differs from that of the metadata server (RFC
  /// 8881 13.1).
  nfs4::FileHandle handle(const ComponentHandle& component) const;
  /// Whose stripe unit a component is: the index of a data server.
  std::uint32_t server_of(const ComponentHandle& component) const {
    return component.index % pattern_.count;
  }
  /// Nullopt for what no layout of this run has.
  std::optional<ComponentHandle> resolve(View handle) const;

 private:
  std::uint64_t mac(const ComponentHandle& component) const;
  std::size_t known() const;

  StripePattern pattern_;
  PnfsPolicy policy_;
  bool has_secret_ = false;
  HandleSecret secret_;
  nfs4::DeviceId device_{};
  std::vector<std::vector<DataServerAddress>> addresses_;
  std::optional<std::uint64_t> shared_verifier_;
};

/// What an NFSv4 program is to clients of pNFS. Without `data_servers` it is a server without pNFS.
struct PnfsRole {
  std::shared_ptr<const DataServers> data_servers{};
  /// The index of a data server; none: the metadata server.
  std::optional<std::uint32_t> index{};
  /// Of a data server: where it learns what clients may do.
  std::shared_ptr<LayoutAuthority> authority{};
  /// This data server is the metadata server too, by one client ID (RFC 8881 13.1).
  bool has_both = false;

  bool is_metadata_server() const { return data_servers && (!index || has_both); }
  bool is_data_server() const { return data_servers && index; }
};

}  // namespace steertag::peer
