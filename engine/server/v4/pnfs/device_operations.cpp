// GETDEVICEINFO and GETDEVICELIST. There is one device, of all data servers.
#include "nfs/v4/device_notification.h"
#include "server/v4/pnfs/data_servers.h"
#include "server/v4/pnfs/pnfs_operations.h"
#include "server/v4/state/device_notices.h"
#include "server/v4/state_access.h"
#include "wire/encoded.h"

namespace steertag::peer {
namespace {

constexpr std::uint64_t kEndCookie = 1;  // behind the only device

const nfs4::Bitmap& all_notices() {
  static const auto kAll =
      nfs4::Bitmap::of({nfs4::NOTIFY_DEVICEID4_CHANGE, nfs4::NOTIFY_DEVICEID4_DELETE});
  return kAll;
}

/// Whether the client may ask for the device: the present one, or one that its layouts name.
bool is_known(const nfs4::DeviceId& device, const DataServers& data_servers, const Client& client) {
  // Of one that was taken out there are no addresses: its layouts are recalled.
  if (!data_servers.complete()) return false;
  if (uses_device(client, device)) return true;
  const bool kept = data_servers.policy().keeps_device || !client.layouts.empty();
  return device == data_servers.device() && kept;
}

}  // namespace

void op_getdeviceinfo(const nfs4::GetdeviceinfoArgs& args, CompoundCall& call,
                      nfs4::GetdeviceinfoResult& result) {
  if (!call.pnfs.is_metadata_server()) {
    result.status = nfs4::Status::NFS4ERR_NOTSUPP;
    return;
  }
  const DataServers& data_servers = *call.pnfs.data_servers;
  if (args.gdia_layout_type != nfs4::LayoutType::LAYOUT4_NFSV4_1_FILES) {
    result.status = nfs4::Status::NFS4ERR_UNKNOWN_LAYOUTTYPE;
    return;
  }
  const auto client = acting_client(call, 0);
  if (!client || !is_known(args.gdia_device_id, data_servers, **client)) {
    result.status = nfs4::Status::NFS4ERR_NOENT;
    return;
  }
  nfs4::GetdeviceinfoOk& ok = result.resok4;
  // RFC 8881 18.40.3: with gdia_maxcount 0 the device is valid, and that is all.
  if (args.gdia_maxcount > 0) {
    call.scratch = data_servers.device_body();
    ok.gdir_device_addr.da_addr_body = call.scratch;
    ok.gdir_notification = args.gdia_notify_types & all_notices();  // at most
    const std::size_t size = wire::encoded(ok).size();
    if (size > args.gdia_maxcount) {
      result.status = nfs4::Status::NFS4ERR_TOOSMALL;
      result.gdir_mincount = static_cast<std::uint32_t>(size);
      return;
    }
  }
  const bool tells = data_servers.policy().tells_who_asked;
  const nfs4::Bitmap promised = note_interest(call.state.tables(), **client, args.gdia_device_id,
                                              tells ? args.gdia_notify_types : all_notices(),
                                              args.gdia_device_id == data_servers.device());
  ok.gdir_notification = promised & args.gdia_notify_types;
}

void op_getdevicelist(const nfs4::GetdevicelistArgs& args, CompoundCall& call,
                      nfs4::GetdevicelistResult& result) {
  if (!call.pnfs.is_metadata_server()) {
    result.status = nfs4::Status::NFS4ERR_NOTSUPP;
    return;
  }
  const auto object = current_object(call);
  if (!object) {
    result.status = object.error();
    return;
  }
  if (args.gdla_layout_type != nfs4::LayoutType::LAYOUT4_NFSV4_1_FILES) {
    result.status = nfs4::Status::NFS4ERR_UNKNOWN_LAYOUTTYPE;
    return;
  }
  if (args.gdla_maxdevices == 0) {
    result.status = nfs4::Status::NFS4ERR_INVAL;
    return;
  }
  const DataServers& data_servers = *call.pnfs.data_servers;
  nfs4::GetdevicelistOk& ok = result.resok4;
  // Of this run, as the device is.
  std::copy_n(data_servers.device().begin(), ok.gdlr_cookieverf.size(), ok.gdlr_cookieverf.begin());
  if (args.gdla_cookie > kEndCookie) {
    result.status = nfs4::Status::NFS4ERR_BAD_COOKIE;
    return;
  }
  if (args.gdla_cookie != 0 && args.gdla_cookieverf != ok.gdlr_cookieverf) {
    result.status = nfs4::Status::NFS4ERR_NOT_SAME;
    return;
  }
  if (args.gdla_cookie == 0 && data_servers.complete())
    ok.gdlr_deviceid_list.push_back(data_servers.device());
  ok.gdlr_cookie = kEndCookie;
  ok.gdlr_eof = true;
}

}  // namespace steertag::peer
