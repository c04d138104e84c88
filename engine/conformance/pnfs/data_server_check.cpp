// Rules on I/O of files with layouts: checks and texts.
#include "conformance/pnfs/data_server_check.h"

#include <algorithm>

#include "conformance/pnfs/pnfs_rules.h"
#include "conformance/pnfs/server_end.h"
#include "conformance/text.h"

namespace steertag::conformance {

namespace {

using nfs4::LayoutIomode;
using nfs4::Opnum;

/// Whether the client may do it by a range with this iomode.
bool permits(const GrantedRange& range, const FileIo& io) {
  return io.operation == Opnum::OP_READ || range.iomode == LayoutIomode::LAYOUTIOMODE4_RW;
}

/// COMMIT may name no range at all, and a range of dense packing is one of the data server's.
bool is_of(const GrantedRange& range, const FileIo& io) {
  if (io.is_commit() || nfs4::is_dense(range.pattern->nfl_util)) return true;
  return range.covers(io.offset, io.count);
}

/// The places of a handle in a layout.
std::vector<std::size_t> places_of(const FileIo& io, const nfs4::FileLayout& pattern) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < pattern.nfl_fh_list.size(); ++i) {
    if (std::ranges::equal(pattern.nfl_fh_list[i].view(), io.handle_view())) places.push_back(i);
  }
  return places;
}

/// The lists of addresses whose servers have this handle; nothing if all have the same.
std::optional<std::vector<std::size_t>> lists_of(const FileIo& io, const GrantedRange& range) {
  const nfs4::FileLayout& pattern = *range.pattern;
  const bool is_dense = nfs4::is_dense(pattern.nfl_util);
  if (!is_dense && pattern.nfl_fh_list.size() < 2) return std::nullopt;
  std::vector<std::size_t> lists = places_of(io, pattern);
  if (is_dense) {
    const auto& indices = range.device->address.nflda_stripe_indices;
    for (std::size_t& each : lists) each = indices[each];
  }
  return lists;
}

bool contains(const std::vector<std::size_t>& numbers, std::size_t number) {
  return std::ranges::find(numbers, number) != numbers.end();
}

std::string pattern_text(const nfs4::FileLayout& pattern) {
  return say(nfs4::is_dense(pattern.nfl_util) ? "dense" : "sparse", " packing, stripe unit ",
             nfs4::stripe_unit(pattern.nfl_util));
}

}  // namespace

bool is_special(const nfs4::StateId& stateid) {
  const auto has = [&](std::byte octet) {
    return std::ranges::all_of(stateid.other, [=](std::byte each) { return each == octet; });
  };
  return has(std::byte{0}) || has(std::byte{0xff});
}

std::string DataServerCheck::text(const MessagePlace& place) const {
  return text_of(place, connection_.visibility.index_counts);
}

StripedFile* DataServerCheck::file_at_data_server(const FileIo& io) {
  if (!io.session.is_data_server()) return nullptr;
  StripedFile* file = layouts_.find_striped(io.session.client, io.handle_view());
  // A server of both roles may have one filehandle for both.
  const bool is_shared = file != nullptr && file->handle == io.handle;
  return is_shared && !io.session.is_data_server_only() ? nullptr : file;
}

void DataServerCheck::take_call(const FileIo& io) {
  StripedFile* file = file_at_data_server(io);
  if (!io.is_commit() && (io.session.is_data_server_only() || file != nullptr)) {
    const bool is_plain = judge_form(io);
    const bool is_layouts = file != nullptr && file->layout_stateid == io.stateid.other;
    if (is_plain && is_layouts) {
      if (Finding* finding = open(kDataServerStateidIsNoLayout)) {
        finding->expected = "the stateid of an open, a lock or a delegation";
        finding->observed =
            say(name(io), " with the stateid of the layout granted in ",
                text(file->ranges.empty() ? MessagePlace{} : file->ranges.back().granted));
      }
    }
  }
  if (file != nullptr) {
    judge_use(io, *file);
    judge_place(io, *file);
    if (io.is_commit()) file->unstable.erase(io.handle);
    return;
  }
  if (!io.is_commit() || io.session.is_data_server_only()) return;
  StripedFile* own = layouts_.find_file(io.session.client, io.session.server, io.handle_view());
  if (own != nullptr) judge_commit_at_metadata_server(io, *own);
}

/// Whether the stateid is no special one.
bool DataServerCheck::judge_form(const FileIo& io) {
  if (is_special(io.stateid)) {
    if (Finding* finding = open(kDataServerStateidIsNotSpecial)) {
      finding->expected = "the stateid of an open, a lock or a delegation";
      finding->observed = say(name(io), " with a special stateid");
    }
    return false;
  }
  if (io.stateid.seqid != 0) {
    if (Finding* finding = open(kDataServerStateidHasNoSeqid)) {
      finding->expected = "a stateid with seqid 0";
      finding->observed = say(name(io), " with a stateid of seqid ", io.stateid.seqid);
    }
  }
  return true;
}

void DataServerCheck::judge_use(const FileIo& io, const StripedFile& file) {
  const auto& revocation = layouts_.revocation(file.client);
  const GrantedRange* returned = nullptr;
  const GrantedRange* revoked = nullptr;
  const GrantedRange* forgotten = nullptr;
  const ClientIdUse* restart = layouts_.restart(file.client, file.server);
  for (const GrantedRange& each : file.ranges) {
    if (!permits(each, io) || !is_of(each, io)) continue;
    // The client sent the call after the answer on its slot, and that came after LAYOUTRETURN.
    if (each.returned && each.return_began < io.behind) {
      returned = &each;
    } else if (each.returned) {
      return;  // it may have been sent before
    } else if (revocation && each.moment < revocation->moment &&
               revocation->precedes(io.behind, each.pattern->nfl_deviceid)) {
      revoked = &each;
    } else if (restart != nullptr && each.moment < restart->moment && restart->moment < io.behind) {
      forgotten = &each;
    } else {
      return;  // it is held
    }
  }
  if (!file.complete || file.asking > 0 || !layouts_.sees_all()) return;
  if (revoked != nullptr) {
    if (Finding* finding = open(kRevocationEndsTheUse)) {
      finding->expected = "no use of a layout of before the revocation";
      finding->observed =
          say(name(io), " by the layout granted in ", text(revoked->granted), ", with the flags ",
              Hex{revocation->flags}, " of SEQUENCE in ", text(revocation->place));
    }
  } else if (forgotten != nullptr) {
    if (Finding* finding = open(kRestartEndsTheUse)) {
      finding->expected = "no use of a layout of before the restart of the metadata server";
      finding->observed = say(name(io), " by the layout granted in ", text(forgotten->granted),
                              ", with another client ID since ", text(restart->place));
    }
  } else if (returned != nullptr) {
    if (Finding* finding = open(kReturnEndsTheUse)) {
      finding->expected = "no use of a layout that was returned";
      finding->observed = say(name(io), " by the layout granted in ", text(returned->granted),
                              ", whose LAYOUTRETURN was answered in ", text(*returned->returned));
    }
  }
}

void DataServerCheck::judge_place(const FileIo& io, StripedFile& file) {
  if (!file.complete) return;
  if (io.is_commit() && file.commits_through_server()) {
    if (Finding* finding = open(kCommitGoesToTheMetadataServer)) {
      finding->expected = "COMMIT at the metadata server";
      finding->observed = say("COMMIT at a data server, with the layout granted in ",
                              text(file.ranges.back().granted));
    }
  }
  Fit fit = Fit::unknown;
  const GrantedRange* range = nullptr;
  for (GrantedRange& each : file.ranges) {
    layouts_.resolve(file, each);
    const Fit own = fit_of(io, each);
    if (own == Fit::fits || own == Fit::unknown) return;
    fit = own;
    range = &each;
  }
  if (range == nullptr) return;
  const bool is_handle = fit == Fit::other_handle;
  if (Finding* finding = open(is_handle ? kHandleIsOfTheDataServer : kStripeIsOfTheDataServer)) {
    finding->expected = is_handle ? "a filehandle that the layout has for this data server"
                                  : "an offset in a stripe unit of this data server";
    finding->observed = say(name(io), " of ", io.count, " octets at offset ", io.offset,
                            ", with the layout granted in ", text(range->granted), " (",
                            pattern_text(*range->pattern), ")");
  }
}

/// What a call breaks by this range.
DataServerCheck::Fit DataServerCheck::fit_of(const FileIo& io, const GrantedRange& range) const {
  if (!range.usable) return Fit::unknown;
  const nfs4::FileLayout& pattern = *range.pattern;
  const nfs4::FileLayoutDevice& device = range.device->address;
  const bool has_stripe = !nfs4::is_dense(pattern.nfl_util) && !io.is_commit() && io.count > 0;
  const auto part = nfs4::Striping(pattern, device).at(io.offset);
  if (has_stripe && !part) return Fit::unknown;
  const std::vector<std::size_t> lists = lists_with(server_end_, device);
  const auto handles = lists_of(io, range);
  if (handles && handles->empty()) return Fit::unknown;
  if (lists.empty()) {
    // Without its address, one list of its handle can say which data server it is.
    if (!handles || handles->size() != 1) return Fit::unknown;
    const Fit fit = fit_of_server(io, range, handles->front());
    const bool strays = has_stripe && part->list != handles->front();
    return fit == Fit::fits && strays ? Fit::other_stripe : fit;
  }
  const auto is_own = [&](std::size_t list) { return contains(lists, list); };
  if (handles && std::ranges::none_of(*handles, is_own)) return Fit::other_handle;
  return has_stripe && !is_own(part->list) ? Fit::other_stripe : Fit::fits;
}

/// Whether the server is the one that did I/O for this list before.
DataServerCheck::Fit DataServerCheck::fit_of_server(const FileIo& io, const GrantedRange& range,
                                                    std::size_t list) const {
  const std::size_t known = range.device->server_of_list[list];
  if (known == 0) return Fit::unknown;
  return known == io.session.server ? Fit::fits : Fit::other_handle;
}

/// Handle and stripe unit are of one data server, which has done the I/O.
void DataServerCheck::learn_server(const FileIo& io, StripedFile& file) {
  for (GrantedRange& each : file.ranges) {
    layouts_.resolve(file, each);
    const auto handles = each.usable ? lists_of(io, each) : std::nullopt;
    if (!handles || handles->size() != 1) continue;
    const nfs4::FileLayout& pattern = *each.pattern;
    const auto part = nfs4::Striping(pattern, each.device->address).at(io.offset);
    const bool agrees =
        nfs4::is_dense(pattern.nfl_util) || (part && part->list == handles->front());
    std::size_t& known = each.device->server_of_list[handles->front()];
    if (agrees && known == 0) known = io.session.server;
  }
}

/// COMMIT there is of WRITEs there. Without one, it is of those of data servers.
void DataServerCheck::judge_commit_at_metadata_server(const FileIo& io, const StripedFile& file) {
  const bool is_known = file.complete && layouts_.sees_all() && file.commits_at_data_servers();
  if (!is_known || file.unstable_at_metadata_server || file.unstable.empty()) return;
  if (Finding* finding = open(kCommitGoesToTheDataServer)) {
    finding->expected = "COMMIT at the data servers that took the WRITEs";
    finding->observed =
        say(name(io), " at the metadata server behind unstable WRITEs at data servers, with the ",
            "layout granted in ", text(file.ranges.back().granted));
  }
}

void DataServerCheck::take_result(const FileIo& io, const IoResult& result) {
  StripedFile* file = file_at_data_server(io);
  const bool at_data_server = file != nullptr;
  if (!io.is_commit() && (io.session.is_data_server_only() || at_data_server)) {
    judge_form_result(io, file);
  }
  if (!at_data_server && !io.session.is_data_server_only()) {
    file = layouts_.find_file(io.session.client, io.session.server, io.handle_view());
  }
  if (file == nullptr) return;
  IoOctets& octets = at_data_server ? file->at_data_servers : file->at_metadata_server;
  if (io.is_commit()) {
    if (!at_data_server) file->unstable_at_metadata_server = false;
  } else if (io.is_write()) {
    octets.written += result.count;
    if (result.unstable && at_data_server) file->unstable.insert(io.handle);
    if (result.unstable && !at_data_server) file->unstable_at_metadata_server = true;
  } else {
    octets.read += result.count;
  }
  if (at_data_server && !io.is_commit() && result.count > 0) {
    judge_hole(io, result, *file);
    learn_server(io, *file);
  }
  const bool is_unstable = io.is_write() && result.unstable;
  if (at_data_server ? is_unstable : io.is_commit()) judge_verifier(io, result, *file);
}

void DataServerCheck::judge_form_result(const FileIo& io, const StripedFile* file) {
  const bool special = is_special(io.stateid);
  const bool layouts = file != nullptr && file->layout_stateid == io.stateid.other;
  if (!special && !layouts && io.stateid.seqid == 0) return;
  if (Finding* finding = open(kBadStateidIsRefused)) {
    finding->expected = "NFS4ERR_BAD_STATEID";
    finding->observed = say("NFS4_OK for ", name(io), " with ",
                            special   ? "a special stateid"
                            : layouts ? "the stateid of a layout"
                                      : "a stateid whose seqid is not 0");
  }
}

void DataServerCheck::judge_hole(const FileIo& io, const IoResult& result, StripedFile& file) {
  if (!file.complete) return;
  const GrantedRange* range = nullptr;
  for (GrantedRange& each : file.ranges) {
    layouts_.resolve(file, each);
    const Fit fit = fit_of(io, each);
    if (fit != Fit::other_stripe) return;
    range = &each;
  }
  if (range == nullptr) return;
  if (Finding* finding = open(kHoleIsRefused)) {
    finding->expected = "NFS4ERR_PNFS_IO_HOLE";
    finding->observed =
        say("NFS4_OK for ", name(io), " of ", result.count, " octets at offset ", io.offset,
            ", a stripe unit of another data server by the layout ", "granted in ",
            text(range->granted), " (", pattern_text(*range->pattern), ")");
  }
}

/// A restart changes the verifier of all. One that was followed by another is not in use again.
void DataServerCheck::judge_verifier(const FileIo& io, const IoResult& result, StripedFile& file) {
  if (!file.complete || !file.commits_through_server()) return;
  auto& known = file.verifiers;
  if (!known.empty() && known.back() == result.verifier) return;
  const bool is_old = std::ranges::find(known, result.verifier) != known.end();
  if (!is_old) {
    if (known.size() == kMostVerifiers) known.erase(known.begin());
    known.push_back(result.verifier);
    file.latest_verifier = layouts_.next_moment();
    return;
  }
  if (io.moment < file.latest_verifier) return;  // it may have been done before the restart
  if (Finding* finding = open(kVerifierIsOfTheLayout)) {
    finding->expected = "the verifier of the latest WRITE by the layout";
    finding->observed = say(name(io), " with an earlier verifier, by the layout granted in ",
                            text(file.ranges.back().granted));
  }
}

}  // namespace steertag::conformance
