// GETDEVICEINFO.
#include "client/v4/pnfs/device_cache.h"

#include <algorithm>

#include "nfs/v4/device_notification.h"
#include "nfs/v4/layout_ops.h"

namespace steertag::peer {
namespace {

using nfs4::Opnum;

/// da_addr_body
Expected<Bytes, FileError> ask_for(ClientSession& session, const nfs4::DeviceId& id,
                                   std::uint32_t most, bool any_type) {
  nfs4::GetdeviceinfoArgs args;
  args.gdia_device_id = id;
  args.gdia_maxcount = most;
  args.gdia_notify_types =
      nfs4::Bitmap::of({nfs4::NOTIFY_DEVICEID4_CHANGE, nfs4::NOTIFY_DEVICEID4_DELETE});
  ClientCompound call;
  call.add(Opnum::OP_GETDEVICEINFO, args);
  return session.wait(
      std::move(call), [any_type](CompoundReply& reply) -> Expected<Bytes, FileError> {
        const auto result = reply.next<nfs4::GetdeviceinfoResult>(Opnum::OP_GETDEVICEINFO);
        if (!result) return tl::unexpected(result.error());
        const nfs4::DeviceAddr& address = result->resok4.gdir_device_addr;
        // RFC 8881 12.2.7: another type than the one asked for is an error.
        if (!any_type && address.da_layout_type != nfs4::LayoutType::LAYOUT4_NFSV4_1_FILES)
          return tl::unexpected(
              FileError{FileErrc::bad_results, "GETDEVICEINFO: another type", 0, {}});
        return Bytes(address.da_addr_body.begin(), address.da_addr_body.end());
      });
}

}  // namespace

DeviceRef DeviceCache::find(const nfs4::DeviceId& id) {
  const auto found = devices_.find(id);
  if (found != devices_.end()) return found->second;
  if (devices_.size() >= kMostCachedDevices) return nullptr;
  const std::uint64_t before = forgotten_;
  DeviceRef device = ask(id);
  // A change that came with the answer may be of this device.
  if (!device || before != forgotten_) return nullptr;
  devices_[id] = device;
  return device;
}

DeviceRef DeviceCache::ask(const nfs4::DeviceId& id) {
  const std::uint32_t most =
      std::min(kMostDeviceOctets, session_.channel().ca_maxresponsesize - kCompoundOverhead);
  auto body = ask_for(session_, id, most, !session_.policy().layouts.compares_type);
  if (!body) return nullptr;
  auto device = std::make_shared<Device>();
  device->id = id;
  device->body = std::move(*body);
  wire::Reader reader{View(device->body)};
  device->pattern.decode(reader);
  if (!reader.ok()) return nullptr;
  for (const nfs4::MultipathList& list : device->pattern.nflda_multipath_ds_list)
    device->servers.push_back(servers_.find(list));
  const bool whole = std::ranges::all_of(device->servers, [](auto* each) { return each; });
  return whole ? device : nullptr;
}

void DeviceCache::forget(const nfs4::DeviceId& id) {
  ++forgotten_;
  devices_.erase(id);
}

void DeviceCache::forget_all() {
  ++forgotten_;
  devices_.clear();
}

}  // namespace steertag::peer
