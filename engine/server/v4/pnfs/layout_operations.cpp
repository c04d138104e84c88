// LAYOUTGET, LAYOUTCOMMIT, LAYOUTRETURN. Layouts are of whole files.
#include <algorithm>

#include "server/storage/permission.h"
#include "server/v4/directory_access.h"
#include "server/v4/pnfs/data_servers.h"
#include "server/v4/pnfs/pnfs_operations.h"
#include "server/v4/state/bulk_recalls.h"
#include "server/v4/state/layouts.h"
#include "server/v4/state/recalls.h"
#include "server/v4/state/session_backchannel.h"
#include "server/v4/state_access.h"
#include "server/v4/status_map.h"
#include "wire/encoded.h"

namespace steertag::peer {
namespace {

using nfs4::LayoutIomode;
constexpr std::uint64_t kToTheEnd = ~std::uint64_t{0};
constexpr ByteRange kWholeFile{0, kToTheEnd};

/// What all three ask of the layout's type and of the file. LAYOUTRETURN of more than a file asks
/// it without one.
nfs4::Status check_type(nfs4::LayoutType type, const CompoundCall& call) {
  if (!call.pnfs.is_metadata_server()) return nfs4::Status::NFS4ERR_NOTSUPP;
  return type == nfs4::LayoutType::LAYOUT4_NFSV4_1_FILES ? nfs4::Status::NFS4_OK
                                                         : nfs4::Status::NFS4ERR_UNKNOWN_LAYOUTTYPE;
}

bool wraps(std::uint64_t offset, std::uint64_t length) {
  return length != kToTheEnd && length > kToTheEnd - offset;
}

/// RFC 8881 18.43.3.
nfs4::Status check_wish(const nfs4::LayoutgetArgs& args) {
  if (args.loga_iomode != LayoutIomode::LAYOUTIOMODE4_READ &&
      args.loga_iomode != LayoutIomode::LAYOUTIOMODE4_RW)
    return nfs4::Status::NFS4ERR_BADIOMODE;
  if (args.loga_length < args.loga_minlength || wraps(args.loga_offset, args.loga_length) ||
      wraps(args.loga_offset, args.loga_minlength))
    return nfs4::Status::NFS4ERR_INVAL;
  return nfs4::Status::NFS4_OK;
}

/// The layouts of the current file that this stateid stands for, as find_layout gives them.
Expected<LayoutState*, nfs4::Status> find_layouts(const nfs4::StateId& stateid, CompoundCall& call,
                                                  Client& client) {
  StateTables& tables = call.state.tables();
  const auto found = find_layout(tables, client, stateid, tables.find_file(call.current->handle));
  const bool old = found && *found && stateid.seqid != (*found)->seqid &&
                   next_seqid(stateid.seqid) != (*found)->seqid;
  if (old && !call.pnfs.data_servers->policy().takes_old_seqids)
    return tl::unexpected(nfs4::Status::NFS4ERR_OLD_STATEID);
  return found;
}

/// The file for which the stateid of LAYOUTGET gives a right to layouts.
Expected<File*, nfs4::Status> find_opened_file(const nfs4::StateId& given, CompoundCall& call,
                                               Client& client) {
  StateTables& tables = call.state.tables();
  const auto stateid = effective_stateid(call, given);
  if (!stateid) return tl::unexpected(stateid.error());
  File* file = tables.find_file(call.current->handle);
  const auto layout = find_layouts(*stateid, call, client);
  if (!layout) return tl::unexpected(layout.error());
  if (*layout) return file;
  // RFC 8881 12.5.2: an open, byte-range lock or delegation stateid. A client that has layouts and
  // shows one of these has forgotten them (12.5.5.1).
  const auto state = find_state(tables, user_of(call), *stateid);
  if (!state) return tl::unexpected(state.error());
  if (&file_of(*state) != file && call.pnfs.data_servers->policy().checks_layoutget)
    return tl::unexpected(nfs4::Status::NFS4ERR_BAD_STATEID);
  return file;
}

bool writes(const File& file, const Client& client) {
  return std::ranges::any_of(file.opens, [&](const OpenState* open) {
    return open->owner->client == &client && (open->access & nfs4::OPEN4_SHARE_ACCESS_WRITE) != 0;
  });
}

/// Whether the client may have a layout of the file now.
nfs4::Status check_grant(LayoutIomode iomode, StateTables& tables, const File& file,
                         const Client& client, const PnfsPolicy& policy) {
  if (client.bulk && policy.bulk_refuses_layoutget) {
    return is_in_bulk_recall(client) ? nfs4::Status::NFS4ERR_RECALLCONFLICT
                                     : nfs4::Status::NFS4ERR_LAYOUTTRYLATER;
  }
  if (iomode == LayoutIomode::LAYOUTIOMODE4_RW && !writes(file, client))
    return nfs4::Status::NFS4ERR_OPENMODE;
  const LayoutState* held = layout_of(file, client);
  // RFC 8881 12.5.5.2.1.3.
  if (held && held->recalled && !client.bulk) {
    return held->recall_done ? nfs4::Status::NFS4ERR_RETURNCONFLICT
                             : nfs4::Status::NFS4ERR_RECALLCONFLICT;
  }
  const bool contended = std::ranges::any_of(file.layouts, [&](const LayoutState* each) {
    return each->recalled && each->client != &client;
  });
  const bool full = !held && (client.layouts.size() >= kMostLayoutsPerClient ||
                              !tables.has_room_for_state(client));
  // RFC 8881 12.5.1: what cannot be recalled is not granted.
  const bool callable = !policy.needs_backchannel ||
                        has_backchannel(tables, client, nfs4::CbOpnum::OP_CB_LAYOUTRECALL);
  return contended || full || !callable ? nfs4::Status::NFS4ERR_LAYOUTTRYLATER
                                        : nfs4::Status::NFS4_OK;
}

/// The reply with everything but its stateid, if the client takes one of this size.
nfs4::Status describe_layout(const nfs4::LayoutgetArgs& args, const Object& object,
                             CompoundCall& call, nfs4::LayoutgetOk& ok) {
  call.scratch =
      call.pnfs.data_servers->layout_body(call.current->handle, object.attributes.file_id);
  nfs4::Layout& layout = ok.logr_layout.emplace_back();
  layout.lo_length = kToTheEnd;
  layout.lo_iomode = args.loga_iomode;
  layout.lo_content.loc_body = call.scratch;
  ok.logr_return_on_close = call.pnfs.data_servers->policy().says_return_on_close;
  if (wire::encoded(layout).size() > args.loga_maxcount) return nfs4::Status::NFS4ERR_TOOSMALL;
  // RFC 8881 2.10.6.4: what cannot be answered must not be done.
  if (call.slot && wire::encoded(ok).size() > room_for_result(call, reply_limit(*call.slot)))
    return nfs4::Status::NFS4ERR_REP_TOO_BIG;
  return nfs4::Status::NFS4_OK;
}

/// Takes a part away. Nothing is left of the layouts when all of them are back. If the file was
/// recalled, the whole of it has to come back too (RFC 8881 12.5.5.1).
bool give_back(StateTables& tables, LayoutState& layout, LayoutIomode iomode, ByteRange range,
               const PnfsPolicy& policy) {
  return_range(layout, iomode, range);
  tables.fence(*layout.file);
  layout.seqid = next_seqid(layout.seqid);
  const bool whole = range.first == 0 && range.last == kToTheEnd;
  const bool waits = layout.recalled && !whole && policy.recall_awaits_scope;
  if (!layout.ranges.empty() || waits) return false;
  tables.remove_layout(layout);
  return true;
}

/// RFC 8881 12.5.5.2.1.5.
bool conflicts_with_bulk(nfs4::LayoutreturnType type, const Client& client,
                         const PnfsPolicy& policy) {
  if (!is_in_bulk_recall(client)) return false;
  if (type == nfs4::LayoutreturnType::LAYOUTRETURN4_FILE) return policy.bulk_refuses_file_return;
  return policy.bulk_refuses_other_return &&
         static_cast<std::uint32_t>(type) != static_cast<std::uint32_t>(client.bulk->type);
}

void return_all(StateTables& tables, Client& client, LayoutIomode iomode,
                const PnfsPolicy& policy) {
  if (is_in_bulk_recall(client) && iomode == LayoutIomode::LAYOUTIOMODE4_ANY)
    return end_bulk_recall(tables, client);
  std::vector<StateNumber> numbers;
  for (const auto& [number, layout] : client.layouts) numbers.push_back(number);
  for (const StateNumber number : numbers)
    give_back(tables, client.layouts.at(number), iomode, kWholeFile, policy);
}

void return_of_file(const nfs4::LayoutreturnArgs& args, CompoundCall& call, Client& client,
                    nfs4::LayoutreturnResult& result) {
  StateTables& tables = call.state.tables();
  const nfs4::LayoutreturnFile& scope = args.lora_layoutreturn.lr_layout;
  // Layouts of an earlier run are gone with it.
  if (args.lora_reclaim) return;
  const auto stateid = effective_stateid(call, scope.lrf_stateid);
  if (!stateid) {
    result.status = stateid.error();
    return;
  }
  const auto layout = find_layouts(*stateid, call, client);
  if (!layout || !*layout) {
    result.status = layout ? nfs4::Status::NFS4ERR_BAD_STATEID : layout.error();
    return;
  }
  const auto range = byte_range(scope.lrf_offset, scope.lrf_length);
  if (!range) {
    result.status = nfs4::Status::NFS4ERR_INVAL;
    return;
  }
  nfs4::LayoutreturnStateid& left = result.resok4;
  const PnfsPolicy& policy = call.pnfs.data_servers->policy();
  left.lrs_present = !give_back(tables, **layout, args.lora_iomode, *range, policy);
  if (left.lrs_present)
    left.lrs_stateid = tables.stateid(client, (*layout)->number, (*layout)->seqid);
  if (left.lrs_present || policy.last_return_ends_stateid)
    set_current_stateid(call, left.lrs_stateid);
}

/// Whether the client may commit what it says that it wrote.
nfs4::Status check_commit(const nfs4::LayoutcommitArgs& args, CompoundCall& call, Client& client) {
  // RFC 8881 18.42.3: an empty byte-range overlaps no layout. Linux 6.1 sends one if it knows of no
  // last write, and ignores this error.
  if (args.loca_length == 0) return nfs4::Status::NFS4ERR_BADLAYOUT;
  const auto range = byte_range(args.loca_offset, args.loca_length);
  if (!range) return nfs4::Status::NFS4ERR_INVAL;
  const nfs4::NewOffset& last = args.loca_last_write_offset;
  if (last.no_newoffset && (last.no_offset < range->first || last.no_offset > range->last ||
                            last.no_offset == kToTheEnd))
    return nfs4::Status::NFS4ERR_INVAL;
  if (args.loca_reclaim) {
    // What the data servers have of an earlier run is in the storage.
    return call.state.in_grace() ? nfs4::Status::NFS4_OK : nfs4::Status::NFS4ERR_NO_GRACE;
  }
  const auto stateid = effective_stateid(call, args.loca_stateid);
  if (!stateid) return stateid.error();
  const auto layout = find_layouts(*stateid, call, client);
  if (!layout) return layout.error();
  if (!*layout) return nfs4::Status::NFS4ERR_BADLAYOUT;
  if (overlaps(**layout, LayoutIomode::LAYOUTIOMODE4_RW, *range)) return nfs4::Status::NFS4_OK;
  return overlaps(**layout, LayoutIomode::LAYOUTIOMODE4_ANY, *range)
             ? nfs4::Status::NFS4ERR_BADIOMODE
             : nfs4::Status::NFS4ERR_BADLAYOUT;
}

/// RFC 8881 12.5.4: neither time nor size go back.
AttributeChange committed_change(const nfs4::LayoutcommitArgs& args, const Attributes& present,
                                 const PnfsPolicy& policy) {
  AttributeChange change;
  if (args.loca_time_modify.nt_timechanged) {
    const nfs4::Time& time = args.loca_time_modify.nt_time;
    const bool later =
        time.seconds > present.mtime.seconds ||
        (time.seconds == present.mtime.seconds && time.nseconds > present.mtime.nanoseconds);
    if (later || !policy.commit_keeps_time) change.mtime.to = Time{time.seconds, time.nseconds};
  }
  const nfs4::NewOffset& last = args.loca_last_write_offset;
  if (last.no_newoffset && (last.no_offset >= present.size_bytes || !policy.commit_keeps_size))
    change.size_bytes = last.no_offset + 1;
  return change;
}

}  // namespace

void op_layoutget(const nfs4::LayoutgetArgs& args, CompoundCall& call,
                  nfs4::LayoutgetResult& result) {
  result.status = check_type(args.loga_layout_type, call);
  if (result.status != nfs4::Status::NFS4_OK) return;
  const auto object = current_object(call);
  result.status = object ? check_wish(args) : object.error();
  if (result.status != nfs4::Status::NFS4_OK) return;
  if (object->attributes.type != FileType::regular) {
    result.status = nfs4::Status::NFS4ERR_WRONG_TYPE;
    return;
  }
  if (!call.pnfs.data_servers->complete()) {
    result.status = nfs4::Status::NFS4ERR_LAYOUTTRYLATER;
    return;
  }
  // Layouts do not outlive a run, so that none can be granted before all that conflicts is known.
  if (call.state.in_grace() && call.pnfs.data_servers->policy().layoutget_awaits_grace) {
    result.status = nfs4::Status::NFS4ERR_GRACE;
    return;
  }
  const auto client = acting_client(call, 0);
  const auto file =
      client ? find_opened_file(args.loga_stateid, call, **client) : tl::unexpected(client.error());
  StateTables& tables = call.state.tables();
  const PnfsPolicy& policy = call.pnfs.data_servers->policy();
  result.status =
      file ? check_grant(args.loga_iomode, tables, **file, **client, policy) : file.error();
  if (result.status == nfs4::Status::NFS4_OK)
    result.status = describe_layout(args, *object, call, result.resok4);
  if (result.status != nfs4::Status::NFS4_OK) {
    LayoutState* held = file ? layout_of(**file, **client) : nullptr;
    if (held && !policy.counts_grants_alone) held->seqid = next_seqid(held->seqid);
    return;
  }
  LayoutState* layout = layout_of(**file, **client);
  if (!layout) {
    layout = &tables.add_layout(**client, **file);
    layout->seqid = policy.first_layout_seqid - 1;
  }
  const std::uint32_t former_seqid = layout->seqid;
  layout->device = call.pnfs.data_servers->device();
  grant_range(*layout, args.loga_iomode, kWholeFile);
  if (!policy.skips_seqid_zero) layout->seqid = former_seqid + 1;
  note_grant(tables, *layout, call.slot);
  result.resok4.logr_stateid = tables.stateid(**client, layout->number, layout->seqid);
  set_current_stateid(call, result.resok4.logr_stateid);
}

void op_layoutcommit(const nfs4::LayoutcommitArgs& args, CompoundCall& call,
                     nfs4::LayoutcommitResult& result) {
  result.status = check_type(args.loca_layoutupdate.lou_type, call);
  if (result.status != nfs4::Status::NFS4_OK) return;
  const auto object = current_object(call);
  result.status = object ? check_regular(object->attributes, call.minorversion) : object.error();
  if (result.status != nfs4::Status::NFS4_OK) return;
  if (!permits_io(object->attributes, call.context.caller, AccessMode::write)) {
    result.status = nfs4::Status::NFS4ERR_ACCESS;
    return;
  }
  const auto client = acting_client(call, 0);
  result.status = client ? check_commit(args, call, **client) : client.error();
  if (result.status != nfs4::Status::NFS4_OK) return;
  const AttributeChange change =
      committed_change(args, object->attributes, call.pnfs.data_servers->policy());
  if (change.size_bytes || change.mtime.to) {
    result.status = to_nfs4(call.storage.change(object->node, change));
    if (result.status != nfs4::Status::NFS4_OK) return;
  }
  result.resok4.locr_newsize.ns_sizechanged = change.size_bytes.has_value();
  result.resok4.locr_newsize.ns_size = change.size_bytes.value_or(0);
}

void op_layoutreturn(const nfs4::LayoutreturnArgs& args, CompoundCall& call,
                     nfs4::LayoutreturnResult& result) {
  using nfs4::LayoutreturnType;
  const LayoutreturnType type = args.lora_layoutreturn.lr_returntype;
  result.status = check_type(args.lora_layout_type, call);
  if (result.status != nfs4::Status::NFS4_OK) return;
  if (type != LayoutreturnType::LAYOUTRETURN4_ALL) {
    const auto object = current_object(call);
    if (!object) result.status = object.error();
  }
  const auto client = acting_client(call, 0);
  if (result.status == nfs4::Status::NFS4_OK && !client) result.status = client.error();
  // RFC 8881 18.44.3.
  const bool bulk = type != LayoutreturnType::LAYOUTRETURN4_FILE;
  if (result.status == nfs4::Status::NFS4_OK && args.lora_reclaim) {
    if (bulk)
      result.status = nfs4::Status::NFS4ERR_INVAL;
    else if (!call.state.in_grace())
      result.status = nfs4::Status::NFS4ERR_NO_GRACE;
  }
  if (result.status != nfs4::Status::NFS4_OK) return;
  const PnfsPolicy& policy = call.pnfs.data_servers->policy();
  if (conflicts_with_bulk(type, **client, policy)) {
    result.status = nfs4::Status::NFS4ERR_RECALLCONFLICT;
    return;
  }
  // There is one file system with layouts.
  if (bulk && !policy.returns_all) return;
  if (bulk) return return_all(call.state.tables(), **client, args.lora_iomode, policy);
  return_of_file(args, call, **client, result);
}

}  // namespace steertag::peer
