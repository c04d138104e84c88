// LAYOUTGET, and the life of files with layouts.
#include "client/v4/pnfs/layouts.h"

#include <algorithm>

#include "client/v4/remote_attributes.h"
#include "nfs/v4/attribute_numbers.h"

namespace steertag::peer {
namespace {

using nfs4::LayoutIomode;
using nfs4::Opnum;

/// The server has no layouts of files at all.
bool is_final(const FileError& error) {
  if (error.code != FileErrc::refused) return false;
  const auto status = static_cast<nfs4::Status>(error.status);
  return status == nfs4::Status::NFS4ERR_NOTSUPP ||
         status == nfs4::Status::NFS4ERR_UNKNOWN_LAYOUTTYPE;
}

}  // namespace

/// Results of LAYOUTGET and GETATTR.
struct Layouts::Granted {
  struct Part {
    LayoutScope scope;
    Bytes body;  // loc_body
  };
  nfs4::StateId stateid{};
  std::vector<Part> parts;
  std::uint64_t size = 0;
  std::optional<nfs4::Fsid> fsid;
};

Layouts::Layouts(CallSchedule& schedule, ClientSession& session, DataServerSet& servers)
    : schedule_(schedule), session_(session), devices_(session, servers) {
  session_.serve_layouts(events());
}

Layouts::~Layouts() {
  session_.serve_layouts(std::nullopt);
}

// --- open and close

StripedFileRef Layouts::open(const RemoteHandle& handle, const nfs4::StateId& opened,
                             LayoutIomode iomode) {
  const std::string key = octets_of(handle);
  const auto known = files_.find(key);
  if (known == files_.end() && files_.size() >= kMostStripedFiles) return nullptr;
  StripedFileRef file;
  if (known != files_.end()) {
    file = known->second;
  } else {
    file = std::make_shared<StripedFile>();
    file->handle = handle;
    files_[key] = file;
  }
  ++file->opens;
  file->client_id = session_.client_id();
  if (iomode == LayoutIomode::LAYOUTIOMODE4_RW) file->wanted = iomode;
  const bool has_one = std::ranges::any_of(file->segments, [&](const SegmentRef& segment) {
    return segment->scope.iomode == iomode ||
           segment->scope.iomode == LayoutIomode::LAYOUTIOMODE4_RW;
  });
  if (has_layouts_ && !has_one && !file->leaving && !file->busy && !bulk_) {
    get(file, opened, iomode);
    if (!policy().asks_once && file->held && !file->leaving) {
      file->held = false;
      get(file, opened, iomode);
    }
  }
  if (file->opens == 1 && !file->held && !file->leaving) {
    files_.erase(key);
    return nullptr;
  }
  return file;
}

// RFC 8881 12.7.4: the layouts of the earlier run are of no use, and those of this one are.
bool Layouts::ask_again(const StripedFileRef& file, const nfs4::StateId& opened) {
  const bool has_restarted = file->client_id != session_.client_id();
  if (!has_restarted || !has_layouts_) return true;
  if (file->held || file->leaving || file->busy || bulk_) return false;
  if (schedule_.now() < file->next_try) return false;
  file->next_try = schedule_.now() + kLayoutPause;
  get(file, opened, file->wanted);
  return file->client_id == session_.client_id();
}

void Layouts::get(const StripedFileRef& file, const nfs4::StateId& opened, LayoutIomode iomode) {
  // RFC 8881 12.5.2: the layout stateid as soon as there is one.
  asking_ = octets_of(file->handle);
  const auto granted = ask(*file, file->held ? file->stateid : opened, iomode);
  asking_.reset();
  if (granted) {
    take(file, *granted);
  } else {
    ++counts_.refused;
    has_layouts_ = has_layouts_ && !is_final(granted.error());
  }
}

Expected<Layouts::Granted, FileError> Layouts::ask(const StripedFile& file,
                                                   const nfs4::StateId& stateid,
                                                   LayoutIomode iomode) {
  nfs4::LayoutgetArgs args;
  args.loga_iomode = iomode;
  args.loga_length = kToTheEnd;
  args.loga_stateid = stateid;
  args.loga_maxcount =
      std::min(kMostLayoutReply, session_.channel().ca_maxresponsesize - kCompoundOverhead);
  ClientCompound call;
  call.add_handle(file.handle);
  call.add(Opnum::OP_LAYOUTGET, args);
  call.add(Opnum::OP_GETATTR,
           nfs4::GetattrArgs{nfs4::Bitmap::of({nfs4::FATTR4_SIZE, nfs4::FATTR4_FSID})});
  const bool any_type = !policy().compares_type;
  return session_.wait(
      std::move(call), [any_type](CompoundReply& reply) -> Expected<Granted, FileError> {
        if (auto skipped = reply.skip(Opnum::OP_PUTFH); !skipped)
          return tl::unexpected(std::move(skipped.error()));
        const auto result = reply.next<nfs4::LayoutgetResult>(Opnum::OP_LAYOUTGET);
        if (!result) return tl::unexpected(result.error());
        Granted granted;
        granted.stateid = result->resok4.logr_stateid;
        for (const nfs4::Layout& each : result->resok4.logr_layout) {
          const View body = each.lo_content.loc_body;
          // RFC 8881 12.2.7: another type than the one asked for is an error.
          const bool is_known =
              any_type || each.lo_content.loc_type == nfs4::LayoutType::LAYOUT4_NFSV4_1_FILES;
          granted.parts.push_back({{each.lo_iomode, each.lo_offset, each.lo_length},
                                   is_known ? Bytes(body.begin(), body.end()) : Bytes{}});
        }
        // The layout is held even if the rest does not come.
        const auto attributes = reply.next<nfs4::GetattrResult>(Opnum::OP_GETATTR);
        const auto values = attributes ? typed(attributes->resok4.obj_attributes, "GETATTR")
                                       : tl::unexpected(attributes.error());
        if (!values || !values->size) {
          for (Granted::Part& part : granted.parts) part.body.clear();
          return granted;
        }
        granted.size = *values->size;
        granted.fsid = values->fsid;
        return granted;
      });
}

void Layouts::take(const StripedFileRef& file, const Granted& granted) {
  file->held = true;
  file->client_id = session_.client_id();  // another one than before the call, if it was repeated
  file->stateid = granted.stateid;
  file->size = std::max(file->size, granted.size);
  file->fsid = granted.fsid;
  for (const Granted::Part& part : granted.parts) file->granted.push_back(part.scope);
  ++counts_.granted;
  std::vector<SegmentRef> segments;
  for (const Granted::Part& part : granted.parts) {
    SegmentRef segment = segment_of(part.scope, part.body);
    if (segment) segments.push_back(std::move(segment));
  }
  // A recall may have come while a device was asked for.
  if (!file->held || file->leaving) return;
  if (segments.size() == granted.parts.size() && !segments.empty()) {
    file->segments.insert(file->segments.end(), segments.begin(), segments.end());
    return;
  }
  ++counts_.refused;
  abandon(file);
}

SegmentRef Layouts::segment_of(const LayoutScope& scope, View body) {
  auto segment = std::make_shared<LayoutSegment>();
  segment->scope = scope;
  wire::Reader reader(body);
  segment->layout.decode(reader);
  if (body.empty() || !reader.ok()) return nullptr;
  segment->device = devices_.find(segment->layout.nfl_deviceid);
  if (!segment->device) return nullptr;
  if (find_striping_fault(segment->layout, segment->device->pattern)) {
    if (policy().refuses_faults || !patch(*segment)) return nullptr;
  }
  misread(*segment, policy());
  return segment;
}

Expected<void, FileError> Layouts::close(const StripedFileRef& file) {
  const bool last = --file->opens == 0;
  const WriteVerifier before = file->verifier;
  const bool dirty = file->is_dirty();
  const bool returns = last && policy().returns_at_close;
  if (returns && file->held) leave(file);
  if (!returns && dirty) commit(file, [](const Expected<void, FileError>&) {});
  schedule_.run_until([&] { return file->idle(); });
  if (last) files_.erase(octets_of(file->handle));
  if (dirty && file->verifier != before)
    return tl::unexpected(FileError{FileErrc::state_lost, "a data server lost octets", 0, {}});
  return {};
}

// --- data servers

void Layouts::end_call(const StripedFileRef& file) {
  --file->in_flight;
  settle(file);
}

void Layouts::lose_server(const ServerPart& part) {
  part.server->failed(part.session);
  // RFC 8881 13.5: when no address is left, GETDEVICEINFO may know others.
  const bool forgets = session_.policy().data_servers.forgets_dead_devices;
  if (forgets && !part.server->session()) devices_.forget(part.segment->device->id);
}

void Layouts::abandon(const StripedFileRef& file) {
  file->segments.clear();
  if (file->held) leave_later(file);
}

}  // namespace steertag::peer
