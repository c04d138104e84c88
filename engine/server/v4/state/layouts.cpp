// Layouts.
#include "server/v4/state/layouts.h"

#include <algorithm>

#include "server/v4/state/recalls.h"
#include "server/v4/state/stateids.h"

namespace steertag::peer {
namespace {

using nfs4::LayoutIomode;

bool is_of(const LayoutRange& range, LayoutIomode iomode) {
  return iomode == LayoutIomode::LAYOUTIOMODE4_ANY || range.iomode == iomode;
}

bool meets(const LayoutRange& range, ByteRange other) {
  return range.first <= other.last && other.first <= range.last;
}

/// How far behind the present seqid a client's may be: RFC 8881 12.5.5.2.1.4, VALID_SEQID_RANGE.
std::uint32_t valid_seqid_range(StateTables& tables, const Client& client) {
  std::uint32_t range = 0;  // 16 sessions of 50 operations at most
  for (const nfs4::SessionId& id : client.sessions) {
    const std::uint32_t operations = tables.find_session(id)->fore.ca_maxoperations;
    range += operations > 0 ? operations - 1 : 0;
  }
  return range;
}

nfs4::Status check_seqid(std::uint32_t seqid, std::uint32_t present, std::uint32_t range) {
  if (seqid == 0) return nfs4::Status::NFS4ERR_BAD_STATEID;
  // There is no seqid 0 between two of them.
  const std::uint32_t past = present - seqid - (seqid > present ? 1 : 0);
  if (past <= range) return nfs4::Status::NFS4_OK;
  return static_cast<std::int32_t>(past) < 0 ? nfs4::Status::NFS4ERR_BAD_STATEID
                                             : nfs4::Status::NFS4ERR_OLD_STATEID;
}

}  // namespace

LayoutState* layout_of(const File& file, const Client& client) {
  const auto found = std::ranges::find(file.layouts, &client, &LayoutState::client);
  return found == file.layouts.end() ? nullptr : *found;
}

Expected<LayoutState*, nfs4::Status> find_layout(StateTables& tables, Client& client,
                                                 const nfs4::StateId& stateid, const File* file) {
  const StateNumber number = number_in(tables, client, stateid);
  const auto found = client.layouts.find(number);
  if (number == 0 || found == client.layouts.end()) return nullptr;
  LayoutState* layout = &found->second;
  if (layout->file != file) return tl::unexpected(nfs4::Status::NFS4ERR_BAD_STATEID);
  const nfs4::Status status =
      check_seqid(stateid.seqid, layout->seqid, valid_seqid_range(tables, client));
  if (status != nfs4::Status::NFS4_OK) return tl::unexpected(status);
  return layout;
}

void grant_range(LayoutState& layout, LayoutIomode iomode, ByteRange range) {
  LayoutRange granted{iomode, range.first, range.last};
  std::erase_if(layout.ranges, [&](const LayoutRange& each) {
    if (each.iomode != iomode || !meets(each, range)) return false;
    granted.first = std::min(granted.first, each.first);
    granted.last = std::max(granted.last, each.last);
    return true;
  });
  layout.ranges.push_back(granted);
  layout.seqid = next_seqid(layout.seqid);
}

void return_range(LayoutState& layout, LayoutIomode iomode, ByteRange range) {
  std::vector<LayoutRange> left;
  for (const LayoutRange& each : layout.ranges) {
    if (!is_of(each, iomode) || !meets(each, range)) {
      left.push_back(each);
      continue;
    }
    const bool before = each.first < range.first;
    const bool behind = each.last > range.last;
    if (before && behind && layout.ranges.size() >= kMostRangesPerLayout) {
      left.push_back(each);
      continue;
    }
    if (before) left.push_back({each.iomode, each.first, range.first - 1});
    if (behind) left.push_back({each.iomode, range.last + 1, each.last});
  }
  layout.ranges = std::move(left);
}

bool overlaps(const LayoutState& layout, LayoutIomode iomode, ByteRange range) {
  return std::ranges::any_of(layout.ranges, [&](const LayoutRange& each) {
    return is_of(each, iomode) && meets(each, range);
  });
}

std::optional<ByteRange> covering(const LayoutState& layout, ByteRange range) {
  std::vector<LayoutRange> sorted = layout.ranges;
  std::ranges::sort(sorted, {}, &LayoutRange::first);
  std::optional<ByteRange> joined;
  for (const LayoutRange& each : sorted) {
    // Behind a gap another range begins; the largest octet has none behind it.
    const bool adjoins = joined && (each.first <= joined->last || each.first - 1 == joined->last);
    if (adjoins) {
      joined->last = std::max(joined->last, each.last);
    } else if (joined && joined->last >= range.last) {
      break;
    } else {
      joined = ByteRange{each.first, each.last};
    }
  }
  const bool covers = joined && joined->first <= range.first && joined->last >= range.last;
  return covers ? joined : std::nullopt;
}

bool recall_layouts(StateTables& tables, File& file, std::optional<ClientId> client) {
  bool waiting = false;
  for (LayoutState* each : file.layouts) {
    if (client && each->client->id == *client) continue;
    waiting = true;
    if (each->recalled) continue;
    each->seqid = next_seqid(each->seqid);
    start_recall(tables, *each);
  }
  return waiting;
}

void inherit_layouts(StateTables& tables, const Client& from, Client& to) {
  for (const auto& [number, layout] : from.layouts)
    tables.add_layout(to, *layout.file).ranges = layout.ranges;
}

}  // namespace steertag::peer
