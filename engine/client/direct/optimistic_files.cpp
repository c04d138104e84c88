// Optimistic reads, and their way back to RPC.
#include "client/direct/optimistic_files.h"

#include <algorithm>

#include "client/direct/direct_calls.h"

namespace steertag::peer {
namespace {

using direct::Procedure;
using std::chrono::milliseconds;

/// A reference is used for this part of its lease: its memory is there for all of it.
constexpr int kUsedTenths = 9;

}  // namespace

OptimisticFiles::OptimisticFiles(std::unique_ptr<RemoteFiles> files, CallSchedule& schedule,
                                 fabric::Provider& provider, net::Url url,
                                 OptimisticOptions options)
    : ForwardedFiles(std::move(files)),
      schedule_(schedule),
      provider_(provider),
      url_(std::move(url)),
      options_(std::move(options)) {
  files_->keep_delegations([this](RemoteFile file) { take_recall(file); });
}

// --- HELLO and the connection

void OptimisticFiles::start() {
  say_hello();
  schedule_.run_until([&] { return program_ != Program::asked; });
  maintain();
  while (connection_ && !connection_->is_up() && !connection_->is_down())
    schedule_.step(schedule_.timeout());
}

void OptimisticFiles::say_hello() {
  program_ = Program::asked;
  direct::HelloArgs args;
  args.verifier = options_.verifier;
  args.clientid = files_->client_id();
  schedule_.call(direct_call(Procedure::DIRECTPROC1_HELLO, args, options_.identity),
                 [this](const Expected<CallReply, CallError>& reply) { take_hello(reply); });
}

void OptimisticFiles::take_hello(const Expected<CallReply, CallError>& reply) {
  if (reply && !reply->rpc.success()) {
    program_ = Program::missing;
    return;
  }
  if (!reply) return note_end();
  const auto result = decode_results<direct::HelloResult>(reply->results);
  const bool usable = result && result->status == nfs4::Status::NFS4_OK &&
                      result->resok4.frame_form == direct::kFrameForm &&
                      result->resok4.block_bytes >= kSmallestOptimisticBlock &&
                      result->resok4.block_bytes <= kLargestOptimisticBlock;
  if (!usable) return note_end();
  program_ = Program::there;
  ticket_ = result->resok4.ticket;
  block_bytes_ = result->resok4.block_bytes;
  usable_ = milliseconds(std::int64_t{result->resok4.lease_seconds} * 1000 * kUsedTenths / 10);
}

void OptimisticFiles::note_end() {
  program_ = Program::unknown;
  const Time now = schedule_.now();
  ends_.push_back(now);
  if (ends_.size() > kMostEnds) ends_.pop_front();
  if (!options_.policy.limits_hellos) return;
  const bool too_many = ends_.size() == kMostEnds && now - ends_.front() < kEndsInterval;
  next_hello_ = now + (too_many ? kEndsInterval : kHelloPause);
}

void OptimisticFiles::maintain() {
  if (connection_ && connection_->is_down()) {
    connection_.reset();
    directory_.clear();
    ahead_.clear();
    note_end();
    if (!options_.policy.ends_alone) schedule_.transport().abort_connection();
  }
  if (ticket_) {
    connection_ = std::make_unique<OptimisticConnection>(provider_, options_.policy);
    connection_->open(url_, *std::exchange(ticket_, std::nullopt), options_.crc,
                      options_.recoverable);
  }
  if (program_ == Program::unknown && schedule_.now() >= next_hello_) say_hello();
}

void OptimisticFiles::step(milliseconds timeout) {
  maintain();
  files_->step(timeout);
}

// --- references

Expected<RemoteFile, FileError> OptimisticFiles::open(const RemoteHandle& handle) {
  auto file = files_->open(handle);
  if (!file) return file;
  open_[*file] = handle;
  if (is_up()) ask_for_references(*file, handle);
  return file;
}

Expected<void, FileError> OptimisticFiles::close(RemoteFile file) {
  const auto closed = open_.extract(file);
  ahead_.erase(file);
  recalled_.erase(file);
  if (!options_.policy.forgets_closed) {
    if (!closed.empty()) closed_[file] = closed.mapped();
    return files_->close(file);
  }
  const std::vector<direct::Reference> references = directory_.take(file);
  // The server has one frame of a block for all opens. It ends a connection whose Read comes after
  // RETURN.
  const bool is_open_again = !closed.empty() && is_open_elsewhere(file, closed.mapped());
  if (is_up() && !is_open_again && connection_->in_flight() == 0) give_back(references);
  return files_->close(file);
}

bool OptimisticFiles::is_open_elsewhere(RemoteFile file, const RemoteHandle& handle) const {
  return std::ranges::any_of(
      open_, [&](const auto& other) { return other.first != file && other.second == handle; });
}

void OptimisticFiles::give_back(std::span<const direct::Reference> references) {
  while (!references.empty()) {
    const auto some = references.first(std::min(references.size(), direct::kMostReferences));
    direct::ReturnArgs args;
    args.refs.assign(some.begin(), some.end());
    statistics_.returned += some.size();
    schedule_.call(direct_call(Procedure::DIRECTPROC1_RETURN, args, options_.identity),
                   [](const Expected<CallReply, CallError>&) {});  // the lease ends them otherwise
    references = references.subspan(some.size());
  }
}

void OptimisticFiles::take_recall(RemoteFile file) {
  recalled_.insert(file);
  return_if_unused(file);
}

void OptimisticFiles::return_if_unused(RemoteFile file) {
  const bool waits = options_.policy.heeds_recalls && in_flight_.contains(file);
  if (!recalled_.contains(file) || waits) return;
  // Not inside of a notice: the answer to the recall goes first.
  schedule_.later(milliseconds{0}, [this, file] { files_->return_delegation(file); });
}

RemoteFile OptimisticFiles::keeper_of(RemoteFile file) const {
  const auto open = open_.find(file);
  const auto is_same = [&](const auto& closed) {
    return open != open_.end() && closed.second == open->second;
  };
  const auto found = std::ranges::find_if(closed_, is_same);
  return found == closed_.end() ? file : found->first;
}

void OptimisticFiles::call_refs(RemoteFile file, const RemoteHandle& handle, std::uint64_t block,
                                RefsDone done) {
  direct::RefsArgs args;
  args.file = direct::FileHandle(handle.view());
  args.state = files_->state_of(file);
  args.offset = block * block_bytes_;
  args.count = UINT64_MAX;
  args.want_refs = kEagerReferences;
  const Time asked = schedule_.now();
  schedule_.call(
      direct_call(Procedure::DIRECTPROC1_REFS, args, options_.identity),
      [this, file, asked, done = std::move(done)](const Expected<CallReply, CallError>& reply) {
        if (!reply || !reply->rpc.success()) return done(nullptr);
        const auto result = decode_results<direct::RefsResult>(reply->results);
        if (!result || result->status != nfs4::Status::NFS4_OK) return done(nullptr);
        remember(file, result->resok4.refs, asked);
        done(&result->resok4);
      });
}

void OptimisticFiles::ask_for_references(RemoteFile file, const RemoteHandle& handle) {
  bool answered = false;
  call_refs(file, handle, 0, [&](const direct::RefsOk* found) {
    answered = true;
    if (found) ahead_[file].asked(found->refs.size());
  });
  schedule_.run_until([&] { return answered; });
}

void OptimisticFiles::read_ahead(RemoteFile file, std::uint64_t block) {
  const auto from = may_refer(file) ? ahead_[file].read(block) : std::nullopt;
  if (!from) return;
  const RemoteHandle& handle = open_.at(file);
  call_refs(file, handle, *from, [this, file](const direct::RefsOk* found) {
    const auto ahead = ahead_.find(file);
    if (ahead == ahead_.end()) return;
    if (!found) return ahead->second.refused();
    const std::uint64_t blocks = (found->size + block_bytes_ - 1) / block_bytes_;
    const auto behind = ahead->second.granted(found->refs.size(), blocks);
    if (behind && is_up() && !is_open_elsewhere(file, open_.at(file)))
      give_back(directory_.take_before(keeper_of(file), *behind));
  });
}

void OptimisticFiles::remember(RemoteFile file, std::span<const direct::Reference> references,
                               Time asked) {
  if (!is_up() || !may_refer(file)) return;
  for (const direct::Reference& each : references) {
    const bool begins = !options_.policy.checks_offsets || each.offset % block_bytes_ == 0;
    const bool fits = begins && each.length <= block_bytes_;
    if (fits) directory_.put(keeper_of(file), each.offset / block_bytes_, each, asked + usable_);
  }
}

// --- data

TransferLimits OptimisticFiles::limits() const {
  TransferLimits limits = files_->limits();
  if (!is_up()) return limits;
  limits.read_bytes = std::min(limits.read_bytes, block_bytes_);
  limits.calls = std::min(limits.calls, static_cast<std::uint32_t>(kMostOptimisticReads));
  return limits;
}

void OptimisticFiles::read(RemoteFile file, std::uint64_t offset, std::uint32_t count,
                           ReadDone done) {
  auto read = std::make_shared<BlockRead>(BlockRead{file, offset, count, std::move(done)});
  if (!is_up() || !open_.contains(file)) return read_by_nfs(read);
  const auto left = static_cast<std::uint32_t>(block_bytes_ - offset % block_bytes_);
  read->count = std::min(count, left);
  read_ahead(file, offset / block_bytes_);
  if (!read_optimistically(read)) read_by_rpc(read);
}

bool OptimisticFiles::read_optimistically(const ReadRef& read) {
  if (!may_refer(read->file)) return false;
  const std::uint64_t block = read->offset / block_bytes_;
  const RemoteFile keeper = keeper_of(read->file);
  const auto reference = directory_.find(keeper, block, schedule_.now());
  if (!reference) return false;
  const bool started = connection_->read(
      *reference, [this, read, keeper, block, reference = *reference](std::optional<View> data) {
        end_read(read->file);
        if (data) return deliver(*read, reference, *data);
        ++statistics_.failed;
        directory_.erase(keeper, block);
        fall_back(read);
      });
  if (started) ++in_flight_[read->file];
  return started;
}

void OptimisticFiles::end_read(RemoteFile file) {
  const auto found = in_flight_.find(file);
  if (found == in_flight_.end() || --found->second > 0) return;
  in_flight_.erase(found);
  return_if_unused(file);
}

void OptimisticFiles::fall_back(const ReadRef& read) {
  if (options_.policy.reports_faults)
    return read->done(
        tl::unexpected(FileError{FileErrc::call_failed, "the RDMA Read of a block", 0, {}}));
  read_by_rpc(read);
  if (options_.policy.asks_once) return;
  auto again = std::make_shared<BlockRead>(*read);
  again->done = [](const Expected<ReadOutcome, FileError>&) {};
  read_by_rpc(again);
}

void OptimisticFiles::deliver(const BlockRead& read, const direct::Reference& reference,
                              View data) {
  ++statistics_.valid;
  const std::size_t within = std::min<std::size_t>(read.offset - reference.offset, data.size());
  const std::size_t count = std::min<std::size_t>(read.count, data.size() - within);
  // A frame with less than a block has the end of the file.
  const bool eof = data.size() < block_bytes_ && within + count == data.size();
  read.done(ReadOutcome{data.subspan(within, count), eof});
}

void OptimisticFiles::read_by_rpc(const ReadRef& read) {
  const auto handle = open_.find(read->file);
  if (program_ != Program::there || handle == open_.end()) return read_by_nfs(read);
  direct::ReadArgs args;
  args.file = direct::FileHandle(handle->second.view());
  args.state = files_->state_of(read->file);
  args.offset = read->offset;
  args.count = read->count;
  args.want_refs = is_up() && may_refer(read->file) ? kLazyReferences : 0;
  const Time asked = schedule_.now();
  schedule_.call(direct_call(Procedure::DIRECTPROC1_READ, args, options_.identity),
                 [this, read, asked](const Expected<CallReply, CallError>& reply) {
                   if (!reply || !reply->rpc.success()) return read_by_nfs(read);
                   const auto result = decode_direct_read(*reply);
                   const bool good = result && result->status == nfs4::Status::NFS4_OK &&
                                     result->resok4.data.size() <= read->count;
                   if (!good) return read_by_nfs(read);
                   ++statistics_.rpc_reads;
                   remember(read->file, result->resok4.refs, asked);
                   if (!options_.policy.evicts && directory_.size() == kMostKeptReferences)
                     return refuse(read, "the directory of references is full");
                   read->done(ReadOutcome{result->resok4.data, result->resok4.eof});
                 });
}

void OptimisticFiles::read_by_nfs(const ReadRef& read) {
  ++statistics_.nfs_reads;
  if (options_.policy.uses_nfs)
    return files_->read(read->file, read->offset, read->count, read->done);
  refuse(read, "no direct access");
}

void OptimisticFiles::refuse(const ReadRef& read, const char* why) {
  schedule_.later(milliseconds{0}, [read, why] {
    read->done(tl::unexpected(FileError{FileErrc::call_failed, why, 0, {}}));
  });
}

}  // namespace steertag::peer
