// Keeps clients, sessions, devices, files and what was granted of them.
#include "conformance/pnfs/layouts.h"

#include <algorithm>

#include "conformance/text.h"
#include "nfs/v4/client_ops.h"

namespace steertag::conformance {

namespace {

std::string_view chars_of(View octets) {
  return {reinterpret_cast<const char*>(octets.data()), octets.size()};
}

template <std::size_t Size>
std::string_view chars_of(const std::array<std::byte, Size>& octets) {
  return chars_of(View(octets));
}

std::string device_key(std::size_t client, const nfs4::DeviceId& id) {
  return say(client, " ", chars_of(id));
}

std::string pair_key(std::size_t client, std::size_t server) {
  return say(client, " ", server);
}

/// One past the last octet; everything from 2^64 - 1 on is the end of the file.
std::uint64_t end_of(std::uint64_t offset, std::uint64_t length) {
  return length > UINT64_MAX - offset ? UINT64_MAX : offset + length;
}

bool is_same(const nfs4::FileLayout& one, const nfs4::FileLayout& other) {
  return one.nfl_util == other.nfl_util && one.nfl_deviceid == other.nfl_deviceid &&
         one.nfl_first_stripe_index == other.nfl_first_stripe_index &&
         one.nfl_pattern_offset == other.nfl_pattern_offset && one.nfl_fh_list == other.nfl_fh_list;
}

bool has_iomode(const GrantedRange& range, nfs4::LayoutIomode iomode) {
  return iomode == nfs4::LayoutIomode::LAYOUTIOMODE4_ANY || range.iomode == iomode;
}

}  // namespace

bool PnfsSession::is_data_server() const {
  return (roles & nfs4::EXCHGID4_FLAG_USE_PNFS_DS) != 0;
}

bool PnfsSession::is_data_server_only() const {
  return (roles & nfs4::EXCHGID4_FLAG_MASK_PNFS) == nfs4::EXCHGID4_FLAG_USE_PNFS_DS;
}

bool PnfsSession::is_metadata_server() const {
  return (roles & nfs4::EXCHGID4_FLAG_USE_PNFS_MDS) != 0;
}

bool GrantedRange::covers(std::uint64_t from, std::uint64_t octets) const {
  return offset <= from && end_of(from, octets) <= end_of(offset, length);
}

bool StripedFile::commits_through_server() const {
  return !ranges.empty() && std::ranges::all_of(ranges, [](const GrantedRange& each) {
    return nfs4::commits_through_server(each.pattern->nfl_util);
  });
}

bool StripedFile::commits_at_data_servers() const {
  return !ranges.empty() && std::ranges::none_of(ranges, [](const GrantedRange& each) {
    return nfs4::commits_through_server(each.pattern->nfl_util);
  });
}

bool Revocation::precedes(std::uint64_t behind, const nfs4::DeviceId& used) const {
  return (received && *received < behind) || (device == used && moment < behind);
}

std::optional<std::size_t> Layouts::number_of(ByText<std::size_t>& numbers, View owner) {
  const auto found = numbers.find(chars_of(owner));
  if (found != numbers.end()) return found->second;
  if (numbers.size() == kMostPnfsOwners) return std::nullopt;
  const std::size_t number = numbers.size() + 1;  // 0: unknown
  numbers.emplace(chars_of(owner), number);
  return number;
}

void Layouts::add_session(const PnfsSession& session) {
  const auto found = sessions_.find(chars_of(session.id));
  if (found != sessions_.end()) {
    SharedSession& known = found->second;
    known.ambiguous |= known.session.server != session.server;
    known.session = session;
  } else if (sessions_.size() < kMostPnfsSessions) {
    sessions_.emplace(chars_of(session.id), SharedSession{session});
  }
}

const PnfsSession* Layouts::find_session(const nfs4::SessionId& id) const {
  const auto found = sessions_.find(chars_of(id));
  if (found == sessions_.end() || found->second.ambiguous) return nullptr;
  return &found->second.session;
}

void Layouts::use_client_id(const PnfsSession& session, const ClientIdUse& use) {
  const auto [known, is_new] =
      client_ids_.try_emplace(pair_key(session.client, session.server), ClientIds{use, {}});
  ClientIds& ids = known->second;
  if (is_new || ids.latest.id == use.id) return;
  const bool by_itself = ids.latest.verifier != use.verifier;
  ids.restart = by_itself ? std::nullopt : std::optional(use);
  ids.latest = use;
}

const ClientIdUse* Layouts::restart(std::size_t client, std::size_t server) const {
  const auto known = client_ids_.find(pair_key(client, server));
  return known == client_ids_.end() || !known->second.restart ? nullptr : &*known->second.restart;
}

bool Layouts::add_device(std::size_t client, const nfs4::DeviceId& id, View body) {
  const std::string key = device_key(client, id);
  const auto known = devices_.find(key);
  if (known != devices_.end()) {
    if (std::ranges::equal(known->second->body, body)) return false;
    forget_device(client, id);
  }
  auto device = std::make_shared<FileDevice>();
  device->body.assign(body.begin(), body.end());
  wire::Reader reader(device->body);
  device->address.decode(reader);
  device->server_of_list.resize(device->address.nflda_multipath_ds_list.size());
  const bool has_room = devices_.size() < kMostFileDevices || known != devices_.end();
  if (!reader.ok() || !has_room) return false;
  const bool is_new = known == devices_.end();
  devices_[key] = std::move(device);
  return is_new;
}

/// I/O by its earlier address may be under way.
void Layouts::forget_device(std::size_t client, const nfs4::DeviceId& id) {
  for (StripedFile& file : files_) {
    if (file.client != client) continue;
    for (GrantedRange& each : file.ranges) {
      if (each.pattern->nfl_deviceid != id) continue;
      each.device.reset();
      each.usable = false;
      file.complete = false;
    }
  }
}

StripedFile* Layouts::find_file(std::size_t client, std::size_t server, View handle) {
  const auto found = by_handle_.find(chars_of(handle));
  if (found == by_handle_.end()) return nullptr;
  for (StripedFile* file : found->second) {
    if (file->client == client && file->server == server) return file;
  }
  return nullptr;
}

StripedFile* Layouts::add_file(std::size_t client, std::size_t server, View handle) {
  if (StripedFile* file = find_file(client, server, handle)) return file;
  if (files_.size() == kMostStripedFiles) {
    sees_all_ = false;
    return nullptr;
  }
  StripedFile& file = files_.emplace_back();
  file.client = client;
  file.server = server;
  file.handle = chars_of(handle);
  by_handle_[file.handle].push_back(&file);
  return &file;
}

StripedFile* Layouts::find_striped(std::size_t client, View handle) {
  const auto found = by_data_handle_.find(chars_of(handle));
  if (found == by_data_handle_.end()) return nullptr;
  StripedFile* only = nullptr;
  for (StripedFile* file : found->second) {
    if (file->client != client) continue;
    if (only != nullptr) return nullptr;
    only = file;
  }
  return only;
}

void Layouts::add_handles(StripedFile& file, const nfs4::FileLayout& layout) {
  const auto add = [&](std::string_view handle) {
    const auto known = by_data_handle_.find(handle);
    if (known != by_data_handle_.end()) {
      if (std::ranges::find(known->second, &file) == known->second.end()) {
        known->second.push_back(&file);
        ++handles_;
      }
    } else if (handles_ < kMostStripeHandles) {
      by_data_handle_.emplace(handle, std::vector{&file});
      ++handles_;
    }
  };
  if (layout.nfl_fh_list.empty()) return add(file.handle);  // RFC 8881 13.3: OPEN's own
  for (const nfs4::FileHandle& each : layout.nfl_fh_list) add(chars_of(each.view()));
}

void Layouts::grant(StripedFile& file, const nfs4::LayoutgetOk& granted,
                    const MessagePlace& place) {
  const std::uint64_t now = next_moment();
  file.layout_stateid = granted.logr_stateid.other;
  for (const nfs4::Layout& each : granted.logr_layout) {
    auto pattern = std::make_shared<nfs4::FileLayout>();
    wire::Reader reader(each.lo_content.loc_body);
    pattern->decode(reader);
    const bool is_file = each.lo_content.loc_type == nfs4::LayoutType::LAYOUT4_NFSV4_1_FILES;
    if (!is_file || !reader.ok() || handles_ >= kMostStripeHandles) {
      file.complete = false;
      continue;
    }
    std::erase_if(file.ranges, [&](const GrantedRange& old) {
      // Calls by an older pattern may be under way.
      if (!is_same(*old.pattern, *pattern)) file.complete = false;
      return old.offset == each.lo_offset && old.length == each.lo_length &&
             old.iomode == each.lo_iomode;
    });
    if (file.ranges.size() == kMostGrantedRanges) {
      file.ranges.erase(file.ranges.begin());
      file.complete = false;
    }
    add_handles(file, *pattern);
    GrantedRange& range = file.ranges.emplace_back();
    range.offset = each.lo_offset;
    range.length = each.lo_length;
    range.iomode = each.lo_iomode;
    range.pattern = std::move(pattern);
    range.granted = place;
    range.moment = now;
  }
}

void Layouts::give_back(StripedFile& file, const nfs4::LayoutreturnArgs& args, bool present,
                        const MessagePlace& place, std::uint64_t began) {
  const nfs4::LayoutreturnFile& what = args.lora_layoutreturn.lr_layout;
  const std::uint64_t end = end_of(what.lrf_offset, what.lrf_length);
  for (GrantedRange& each : file.ranges) {
    if (each.returned) continue;
    const std::uint64_t own_end = end_of(each.offset, each.length);
    const bool whole = what.lrf_offset <= each.offset && own_end <= end;
    if (!present || (whole && has_iomode(each, args.lora_iomode))) {
      each.returned = place;
      each.return_began = began;
    } else if (what.lrf_offset < own_end && each.offset < end) {
      each.doubtful |= has_iomode(each, args.lora_iomode);
    }
  }
  // Nothing is left, whatever was not seen.
  if (!present && file.asking == 0) file.complete = true;
}

void Layouts::give_back_all(std::size_t client, std::size_t server, bool of_all,
                            const MessagePlace& place, std::uint64_t began) {
  for (StripedFile& file : files_) {
    if (file.client != client || file.server != server) continue;
    for (GrantedRange& each : file.ranges) {
      if (of_all && !each.returned) {
        each.returned = place;
        each.return_began = began;
      }
      each.doubtful |= !of_all;  // which file system it is on is not known
    }
  }
}

void Layouts::resolve(const StripedFile& file, GrantedRange& range) const {
  if (range.device) return;
  const auto found = devices_.find(device_key(file.client, range.pattern->nfl_deviceid));
  if (found == devices_.end()) return;
  range.device = found->second;
  range.usable = !nfs4::find_striping_fault(*range.pattern, range.device->address);
}

void Layouts::lose() {
  for (StripedFile& file : files_) {
    file.complete = false;
    file.verifiers.clear();
  }
  for (auto& [client, revocation] : revocations_) revocation.reset();
  client_ids_.clear();
}

std::string text_of(const MessagePlace& place, std::string_view counts) {
  return say(counts, " ", place.event, " of connection ", place.connection);
}

}  // namespace steertag::conformance
