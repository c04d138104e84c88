// READ and WRITE at data servers.
#include "client/v4/pnfs/striped_files.h"

#include <algorithm>
#include <array>
#include <set>

namespace steertag::peer {
namespace {

/// `options` for data servers, which get no calls while the lease is in doubt (RFC 8881 12.7.2).
SessionOptions within_lease(SessionOptions options, const ClientSession& metadata) {
  if (options.policy.data_servers.heeds_lease)
    options.may_call = [&metadata] { return !metadata.is_lease_in_doubt(); };
  return options;
}

using nfs4::LayoutIomode;
using nfs4::Opnum;

/// The octets of a hole, which no data server has (RFC 8881 13.10).
constexpr std::array<std::byte, 65536> kZeros{};

Expected<ReadOutcome, FileError> take_read(Expected<CompoundReply, FileError>& reply,
                                           std::uint32_t count) {
  if (!reply) return tl::unexpected(reply.error());
  if (auto skipped = reply->skip(Opnum::OP_PUTFH); !skipped)
    return tl::unexpected(std::move(skipped.error()));
  auto outcome = reply->next_read();
  if (outcome && outcome->data.size() > count)
    return tl::unexpected(FileError{FileErrc::bad_results, "READ: more than asked for", 0, {}});
  return outcome;
}

Expected<nfs4::WriteOk, FileError> take_write(Expected<CompoundReply, FileError>& reply,
                                              std::size_t count) {
  if (!reply) return tl::unexpected(reply.error());
  if (auto skipped = reply->skip(Opnum::OP_PUTFH); !skipped)
    return tl::unexpected(std::move(skipped.error()));
  const auto result = reply->next<nfs4::WriteResult>(Opnum::OP_WRITE);
  if (!result) return tl::unexpected(result.error());
  if (result->resok4.count == 0 || result->resok4.count > count)
    return tl::unexpected(FileError{FileErrc::bad_results, "WRITE: count", 0, {}});
  return result->resok4;
}

}  // namespace

StripedFiles::StripedFiles(std::unique_ptr<Nfs4Files> files, DataServerConnector connect,
                           SessionOptions options)
    : ForwardedFiles(std::move(files)),
      nfs4_(static_cast<Nfs4Files&>(*files_)),
      servers_(nfs4_.schedule(), std::move(connect),
               within_lease(std::move(options), nfs4_.session())),
      layouts_(nfs4_.schedule(), nfs4_.session(), servers_) {}

// --- opens

StripedFileRef StripedFiles::striped(RemoteFile file) const {
  const auto found = open_.find(file);
  return found == open_.end() ? nullptr : found->second;
}

void StripedFiles::add(RemoteFile number, LayoutIomode iomode) {
  auto file = layouts_.open(nfs4_.handle_of(number), nfs4_.state_of(number), iomode);
  if (file) open_[number] = std::move(file);
}

Expected<RemoteFile, FileError> StripedFiles::open(const RemoteHandle& handle) {
  auto opened = files_->open(handle);
  // RFC 8881 13.8: the iomode is what the open is for.
  if (opened) add(*opened, LayoutIomode::LAYOUTIOMODE4_READ);
  return opened;
}

Expected<RemoteFile, FileError> StripedFiles::create(const RemoteHandle& directory,
                                                     std::string_view name, std::uint32_t mode) {
  auto opened = files_->create(directory, name, mode);
  if (opened) add(*opened, LayoutIomode::LAYOUTIOMODE4_RW);
  return opened;
}

Expected<void, FileError> StripedFiles::set_size(RemoteFile number, std::uint64_t size) {
  const StripedFileRef file = striped(number);
  if (!file) return files_->set_size(number, size);
  // RFC 8881 12.5.4: the metadata server is to know of what was written before.
  bool done = false;
  layouts_.commit(file, [&](const Expected<void, FileError>&) { done = true; });
  nfs4_.schedule().run_until([&] { return done; });
  auto sized = files_->set_size(number, size);
  if (sized) file->size = size;
  return sized;
}

Expected<void, FileError> StripedFiles::close(RemoteFile number) {
  Expected<void, FileError> returned;
  // The stateid of the open is of use to calls in flight until then.
  if (const auto opened = open_.extract(number)) returned = layouts_.close(opened.mapped());
  auto closed = files_->close(number);
  return closed ? returned : closed;
}

Expected<void, FileError> StripedFiles::end() {
  servers_.end();
  return files_->end();
}

TransferLimits StripedFiles::limits_of(RemoteFile number) const {
  TransferLimits limits = files_->limits();
  const StripedFileRef file = striped(number);
  if (!file || file->segments.empty()) return limits;
  std::set<const DataServer*> servers;
  for (const SegmentRef& segment : file->segments) {
    const std::uint32_t unit = nfs4::stripe_unit(segment->layout.nfl_util);
    limits.read_bytes = std::min(limits.read_bytes, unit);
    limits.write_bytes = std::min(limits.write_bytes, unit);
    servers.insert(segment->device->servers.begin(), segment->device->servers.end());
  }
  limits.calls = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(limits.calls * servers.size(), kMostStripedCalls));
  limits.transfer_bytes *= servers.size();
  return limits;
}

void StripedFiles::ask_restarted() {
  const std::uint64_t client_id = nfs4_.session().client_id();
  if (asked_as_ == client_id) return;
  bool all = true;
  for (const auto& [number, file] : open_)
    all = layouts_.ask_again(file, nfs4_.state_of(number)) && all;
  if (all) asked_as_ = client_id;
}

void StripedFiles::step(std::chrono::milliseconds timeout) {
  ask_restarted();
  files_->step(timeout);
}

// --- data

nfs4::StateId StripedFiles::stateid_for_io(RemoteFile number) const {
  const StripedFileRef file = striped(number);
  if (file && !policy().by_open_stateid) return file->stateid;
  nfs4::StateId stateid = nfs4_.state_of(number);
  stateid.seqid = 0;
  return stateid;
}

void StripedFiles::note_failure(const StripedFileRef& file, const ServerPart& part, bool answered) {
  if (answered) {
    layouts_.abandon(file);
  } else {
    layouts_.lose_server(part);
  }
}

void StripedFiles::read(RemoteFile number, std::uint64_t offset, std::uint32_t count,
                        ReadDone done) {
  const StripedFileRef file = striped(number);
  auto found = file ? find_part(*file, offset, count, false) : std::nullopt;
  if (!found) return read_at_server(number, offset, count, std::move(done));
  const auto part = std::make_shared<const ServerPart>(std::move(*found));
  ClientCompound call;
  call.add_handle(part->handle);
  call.add(Opnum::OP_READ, nfs4::ReadArgs{stateid_for_io(number), part->offset, part->length});
  layouts_.begin_call(*file);
  part->session->call(std::move(call), [this, number, file, part, offset, count,
                                        done](Expected<CompoundReply, FileError> reply) {
    const bool answered = reply.has_value();
    const bool in_doubt = !answered && reply.error().code == FileErrc::lease_in_doubt;
    const auto outcome = take_read(reply, part->length);
    if (outcome) {
      ++part->server->counts().reads;
      part->server->counts().read_bytes += outcome->data.size();
      done(of_file(*file, offset, part->length, *outcome));
    } else {
      if (!in_doubt) note_failure(file, *part, answered);
      if (in_doubt || (answered ? policy().turns_back : policy().survives_loss)) {
        read_at_server(number, offset, count, done);
      } else {
        done(tl::unexpected(outcome.error()));
      }
    }
    layouts_.end_call(file);
  });
}

ReadOutcome StripedFiles::of_file(const StripedFile& file, std::uint64_t offset,
                                  std::uint32_t count, const ReadOutcome& part) const {
  const std::uint64_t end = offset + part.data.size();
  if (!part.eof || end >= file.size || !policy().fills_holes) return part;
  if (!part.data.empty()) return {part.data, false};
  // Nothing was written here, and the file goes on elsewhere.
  const std::uint64_t zeros = std::min<std::uint64_t>({count, file.size - offset, kZeros.size()});
  return {View(kZeros).first(zeros), offset + zeros == file.size};
}

void StripedFiles::read_at_server(RemoteFile number, std::uint64_t offset, std::uint32_t count,
                                  ReadDone done) {
  files_->read(number, offset, count,
               [this, done](const Expected<ReadOutcome, FileError>& outcome) {
                 if (outcome) {
                   ++at_metadata_server_.reads;
                   at_metadata_server_.read_bytes += outcome->data.size();
                 }
                 done(outcome);
               });
}

void StripedFiles::write(RemoteFile number, std::uint64_t offset, View data, Stability stability,
                         WriteDone done) {
  const StripedFileRef file = striped(number);
  const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(data.size(), UINT32_MAX));
  auto found = file ? find_part(*file, offset, count, true) : std::nullopt;
  // RFC 8881 12.7.6: for a data server that is lost, the metadata server, and stable.
  const Stability elsewhere = policy().stable_elsewhere ? Stability::file_sync : stability;
  if (!found && file && !file->segments.empty()) stability = elsewhere;
  if (!found) return write_at_server(number, file, offset, data, stability, std::move(done));
  const auto part = std::make_shared<const ServerPart>(std::move(*found));
  ClientCompound call;
  call.add_handle(part->handle);
  call.add_write({stateid_for_io(number), part->offset, static_cast<nfs4::StableHow>(stability),
                  data.first(part->length)});
  layouts_.begin_call(*file);
  part->session->call(std::move(call), [this, number, file, part, offset, data, stability,
                                        elsewhere, done](Expected<CompoundReply, FileError> reply) {
    const bool answered = reply.has_value();
    const bool in_doubt = !answered && reply.error().code == FileErrc::lease_in_doubt;
    const auto written = take_write(reply, part->length);
    if (written) {
      ++part->server->counts().writes;
      part->server->counts().written_bytes += written->count;
      const std::uint64_t end = offset + written->count;
      file->last_offset = std::max(file->last_offset.value_or(0), end - 1);
      file->size = std::max(file->size, end);
      const WriteVerifier verifier =
          policy().compares_verifiers ? wire::load_u64(written->writeverf.data()) : 0;
      const bool through = nfs4::commits_through_server(part->segment->layout.nfl_util);
      if (written->committed == nfs4::StableHow::UNSTABLE4)
        note_unstable(*file, part->place(), {verifier, through});
      // Never stable: the metadata server has to hear of it by `commit`.
      done(WriteOutcome{written->count, false, file->verifier});
    } else {
      if (!in_doubt) note_failure(file, *part, answered);
      if (in_doubt || (answered ? policy().turns_back : policy().survives_loss)) {
        write_at_server(number, file, offset, data, answered ? stability : elsewhere, done);
      } else {
        done(tl::unexpected(written.error()));
      }
    }
    layouts_.end_call(file);
  });
}

void StripedFiles::write_at_server(RemoteFile number, const StripedFileRef& file,
                                   std::uint64_t offset, View data, Stability stability,
                                   WriteDone done) {
  files_->write(number, offset, data, stability,
                [this, file, offset, done](Expected<WriteOutcome, FileError> outcome) {
                  if (!outcome) return done(std::move(outcome));
                  ++at_metadata_server_.writes;
                  at_metadata_server_.written_bytes += outcome->count;
                  if (file) {
                    file->size = std::max(file->size, offset + outcome->count);
                    const WrittenPlace place{nullptr, octets_of(file->handle)};
                    if (!outcome->stable) note_unstable(*file, place, {outcome->verifier, false});
                    outcome->verifier = file->verifier;
                  }
                  done(std::move(outcome));
                });
}

void StripedFiles::commit(RemoteFile number, CommitDone done) {
  const StripedFileRef file = striped(number);
  if (!file) return files_->commit(number, std::move(done));
  layouts_.commit(file, [file, done](const Expected<void, FileError>& outcome) {
    if (!outcome) return done(tl::unexpected(outcome.error()));
    done(file->verifier);
  });
}

}  // namespace steertag::peer
