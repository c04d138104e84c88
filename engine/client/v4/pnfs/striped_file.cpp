// Parts of a striped file.
#include "client/v4/pnfs/striped_file.h"

#include <algorithm>

namespace steertag::peer {
namespace {

/// What the channel of a data server's session has room for; before there is one, anything.
std::uint32_t room_of(const ClientSession& session, bool writes) {
  const nfs4::ChannelAttrs& channel = session.channel();
  const std::uint32_t size = writes ? channel.ca_maxrequestsize : channel.ca_maxresponsesize;
  return size <= kCompoundOverhead ? UINT32_MAX : size - kCompoundOverhead;
}

RemoteHandle handle_of(const StripedFile& file, const LayoutSegment& segment,
                       const nfs4::StripePart& part) {
  return part.handle ? RemoteHandle(segment.layout.nfl_fh_list[*part.handle].view()) : file.handle;
}

}  // namespace

std::uint64_t LayoutScope::left_from(std::uint64_t at) const {
  if (at < offset) return 0;
  const std::uint64_t into = at - offset;
  return length == kToTheEnd ? kToTheEnd - into : length - std::min(into, length);
}

bool LayoutScope::overlaps(const LayoutScope& other) const {
  const auto any = nfs4::LayoutIomode::LAYOUTIOMODE4_ANY;
  if (iomode != other.iomode && iomode != any && other.iomode != any) return false;
  return left_from(other.offset) > 0 || other.left_from(offset) > 0;
}

std::string octets_of(const RemoteHandle& handle) {
  return {reinterpret_cast<const char*>(handle.view().data()), handle.size()};
}

bool patch(LayoutSegment& segment) {
  constexpr std::uint32_t kSomeUnit = 65536;
  nfs4::FileLayout& layout = segment.layout;
  layout.nfl_util = kSomeUnit;
  if (layout.nfl_fh_list.size() > 1) layout.nfl_fh_list.resize(1);
  return !nfs4::find_striping_fault(layout, segment.device->pattern);
}

void end_with_unit(LayoutSegment& segment) {
  const std::uint64_t unit = nfs4::stripe_unit(segment.layout.nfl_util);
  const std::uint64_t end = segment.scope.offset + segment.scope.length;
  if (unit > 0 && segment.scope.length < kToTheEnd / 2)
    segment.scope.length += (unit - end % unit) % unit;
}

void misread(LayoutSegment& segment, const LayoutPolicy& policy) {
  nfs4::FileLayout& layout = segment.layout;
  if (!policy.heeds_iomode) segment.scope.iomode = nfs4::LayoutIomode::LAYOUTIOMODE4_RW;
  if (!policy.heeds_pattern_offset) layout.nfl_pattern_offset = 0;
  if (!policy.heeds_packing) layout.nfl_util &= ~nfs4::kDense;
  if (!policy.heeds_commit_place) layout.nfl_util ^= nfs4::kCommitThroughServer;
  if (!policy.heeds_end) end_with_unit(segment);
  if (!policy.heeds_handles && !layout.nfl_fh_list.empty())
    std::ranges::fill(layout.nfl_fh_list, layout.nfl_fh_list.front());
}

WrittenPlace ServerPart::place() const {
  return {server, octets_of(handle)};
}

std::optional<ServerPart> find_part(const StripedFile& file, std::uint64_t offset,
                                    std::uint32_t count, bool writes) {
  // RFC 8881 12.2.9: LAYOUTIOMODE4_RW allows both.
  const auto found = std::ranges::find_if(file.segments, [&](const SegmentRef& segment) {
    return segment->scope.left_from(offset) > 0 &&
           (!writes || segment->scope.iomode == nfs4::LayoutIomode::LAYOUTIOMODE4_RW);
  });
  if (found == file.segments.end() || count == 0) return std::nullopt;
  const LayoutSegment& segment = **found;
  const auto place = nfs4::Striping(segment.layout, segment.device->pattern).at(offset);
  if (!place) return std::nullopt;
  DataServer* const server = segment.device->servers[place->list];
  ClientSession* const session = server->session();
  if (!session) return std::nullopt;
  const std::uint64_t most = std::min(place->length, segment.scope.left_from(offset));
  ServerPart part{*found, server, session, handle_of(file, segment, *place), place->offset, 0};
  part.length =
      static_cast<std::uint32_t>(std::min<std::uint64_t>({count, most, room_of(*session, writes)}));
  return part;
}

void note_unstable(StripedFile& file, const WrittenPlace& place, const Unstable& octets) {
  const auto [known, first] = file.unstable.try_emplace(place, octets);
  // RFC 8881 18.32.3.
  if (!first && known->second.verifier != octets.verifier) ++file.verifier;
  known->second = octets;
}

}  // namespace steertag::peer
