// Device IDs and the data servers that they stand for (RFC 8881 12.2.10), as a client knows them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "client/v4/pnfs/data_server.h"

namespace steertag::peer {

/// gdia_maxcount: what the largest device of the codec takes.
inline constexpr std::uint32_t kMostDeviceOctets = nfs4::kMostLayoutOctets;
/// Devices that are kept; the layouts of others are of no use.
inline constexpr std::size_t kMostCachedDevices = 64;

struct Device {
  nfs4::DeviceId id{};
  Bytes body;                          // da_addr_body
  nfs4::FileLayoutDevice pattern;      // refers to the body
  std::vector<DataServer*> servers{};  // of each multipath list
};
using DeviceRef = std::shared_ptr<const Device>;

class DeviceCache {
 public:
  /// Both must outlive it.
  DeviceCache(ClientSession& session, DataServerSet& servers)
      : session_(session), servers_(servers) {}

  /// From the cache, or by GETDEVICEINFO, for which it waits. nullptr: the device is of no use.
  DeviceRef find(const nfs4::DeviceId& id);
  /// The mapping is changed or deleted, or no data server answers by it (RFC 8881 13.5).
  void forget(const nfs4::DeviceId& id);
  void forget_all();
  bool empty() const { return devices_.empty(); }

 private:
  DeviceRef ask(const nfs4::DeviceId& id);

  ClientSession& session_;
  DataServerSet& servers_;
  std::map<nfs4::DeviceId, DeviceRef> devices_;
  std::uint64_t forgotten_ = 0;  // times that mappings were forgotten
};

}  // namespace steertag::peer
