// What the metadata server says about layouts and devices (RFC 8881 20.3, 20.12).
#include <algorithm>

#include "client/v4/pnfs/layouts.h"
#include "nfs/v4/device_notification.h"

namespace steertag::peer {
namespace {

using nfs4::LayoutIomode;
using nfs4::LayoutrecallType;
using nfs4::Status;

/// RFC 8881 12.5.3: 0 is left out.
std::uint32_t next_seqid(std::uint32_t seqid) {
  return seqid == UINT32_MAX ? 1 : seqid + 1;
}

}  // namespace

LayoutEvents Layouts::events() {
  LayoutEvents events;
  events.recall = [this](const nfs4::CbLayoutrecallArgs& args) { return recalled(args); };
  events.devices_changed = [this](const nfs4::CbNotifyDeviceidArgs& args) {
    return devices_changed(args);
  };
  events.forgotten = [this] { forget(); };
  return events;
}

Status Layouts::recalled(const nfs4::CbLayoutrecallArgs& args) {
  if (args.clora_type != nfs4::LayoutType::LAYOUT4_NFSV4_1_FILES)
    return Status::NFS4ERR_UNKNOWN_LAYOUTTYPE;
  const bool is_file = args.clora_recall.lor_recalltype == LayoutrecallType::LAYOUTRECALL4_FILE;
  const Status status = is_file ? file_recalled(args) : all_recalled(args);
  if (status == Status::NFS4_OK) ++counts_.recalled;
  return status;
}

Status Layouts::file_recalled(const nfs4::CbLayoutrecallArgs& args) {
  const nfs4::LayoutrecallFile& what = args.clora_recall.lor_layout;
  if (what.lor_stateid.seqid == 0) return Status::NFS4ERR_BAD_STATEID;
  const std::string key = octets_of(RemoteHandle(what.lor_fh.view()));
  const bool asked = asking_ == key && policy().waits_for_layoutget;
  const auto found = files_.find(key);
  // RFC 8881 12.5.5.2.1.2: the reply that brings the layout is still under way.
  if (found == files_.end() || !found->second->held)
    return asked ? Status::NFS4ERR_DELAY : policy().no_layout_status;
  const StripedFileRef file = found->second;
  if (what.lor_stateid.other != file->stateid.other) return Status::NFS4ERR_BAD_STATEID;
  const LayoutScope scope{args.clora_iomode, what.lor_offset, what.lor_length};
  const auto meets = [&](const LayoutScope& each) { return each.overlaps(scope); };
  if (std::ranges::none_of(file->granted, meets)) return policy().no_layout_status;
  // One at a time, and behind the replies that its seqid counts.
  const bool is_next = what.lor_stateid.seqid == next_seqid(file->stateid.seqid);
  if (file->recall || (!is_next && (asked || file->busy))) return Status::NFS4ERR_DELAY;
  // RFC 8881 12.5.3: in the order of seqid. One gap may be of recalls that were put off, which some
  // servers count again when they repeat them.
  if (!is_next && !file->gap && policy().orders_recalls) {
    file->gap = true;
    return Status::NFS4ERR_DELAY;
  }
  file->gap = false;
  if (policy().echoes_recall) file->stateid = what.lor_stateid;
  file->recall = FileRecall{scope, what.lor_stateid, args.clora_changed};
  leave_later(file);
  return Status::NFS4_OK;
}

Status Layouts::all_recalled(const nfs4::CbLayoutrecallArgs& args) {
  // RFC 8881 12.5.5.2.1.5.
  const bool asked = asking_ && policy().waits_for_layoutget;
  const auto goes_back = [](const auto& each) {
    return each.second->leaving || each.second->recall;
  };
  if (bulk_ || asked || std::ranges::any_of(files_, goes_back)) return Status::NFS4ERR_DELAY;
  const nfs4::Layoutrecall& what = args.clora_recall;
  const bool all = what.lor_recalltype == LayoutrecallType::LAYOUTRECALL4_ALL;
  std::vector<StripedFileRef> held;
  for (const auto& [key, file] : files_) {
    if (file->held && (all || file->fsid == what.lor_fsid)) held.push_back(file);
  }
  if (held.empty() && devices_.empty()) return policy().no_layout_status;
  devices_.forget_all();
  BulkRecall bulk{what.lor_recalltype, args.clora_iomode, {}};
  if (!held.empty()) bulk.handle = held.front()->handle;
  bulk_ = bulk;
  for (const StripedFileRef& file : held) {
    file->leaving = file->bulk = true;
    file->bulk_changed = args.clora_changed;
    leave_later(file);
  }
  schedule_.later(std::chrono::milliseconds{0}, [this] { settle_bulk(); });
  return Status::NFS4_OK;
}

bool Layouts::devices_changed(const nfs4::CbNotifyDeviceidArgs& args) {
  bool good = true;
  for (const nfs4::Notify& each : args.cnda_changes) {
    wire::Reader reader(each.notify_vals);
    if (each.notify_mask.test(nfs4::NOTIFY_DEVICEID4_CHANGE)) {
      nfs4::NotifyDeviceidChange change;
      change.decode(reader);
      if (reader.ok()) device_changed(change.ndc_deviceid);
    }
    if (each.notify_mask.test(nfs4::NOTIFY_DEVICEID4_DELETE)) {
      nfs4::NotifyDeviceidDelete change;
      change.decode(reader);
      if (reader.ok()) device_changed(change.ndd_deviceid);
    }
    good = good && reader.ok();
  }
  return good;
}

// RFC 8881 20.12.3: new calls wait for the new mapping. They go to the metadata server here.
void Layouts::device_changed(const nfs4::DeviceId& id) {
  if (!session_.policy().data_servers.heeds_changes) return;
  devices_.forget(id);
  for (const auto& [key, file] : files_) {
    const auto names = [&](const SegmentRef& segment) { return segment->device->id == id; };
    if (std::ranges::any_of(file->segments, names)) abandon(file);
  }
}

// RFC 8881 12.7.2, 12.7.4: layouts that were revoked are gone, and those of an earlier run of the
// server with their devices.
void Layouts::forget() {
  if (!policy().heeds_loss) return;
  devices_.forget_all();
  bulk_.reset();
  for (const auto& [key, file] : files_) {
    file->held = false;
    file->segments.clear();
    file->granted.clear();
    file->recall.reset();
    // Nothing tells what the server knows of it.
    if (file->is_dirty()) ++file->verifier;
    file->unstable.clear();
    file->last_offset.reset();
  }
}

}  // namespace steertag::peer
