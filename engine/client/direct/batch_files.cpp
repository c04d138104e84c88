// Calls of BATCH, and what becomes of their results.
#include "client/direct/batch_files.h"

#include <algorithm>

#include "client/direct/direct_calls.h"
#include "client/files/file_client.h"

namespace steertag::peer {

Expected<RemoteFile, FileError> BatchFiles::open(const RemoteHandle& handle) {
  auto file = files_->open(handle);
  if (file) open_[*file] = handle;
  return file;
}

Expected<void, FileError> BatchFiles::close(RemoteFile file) {
  open_.erase(file);
  return files_->close(file);
}

TransferLimits BatchFiles::limits() const {
  TransferLimits limits = files_->limits();
  if (missing_) return limits;
  limits.read_bytes = std::min(limits.read_bytes, kMostBatchedRead);
  limits.calls = kMostInFlight;
  return limits;
}

void BatchFiles::read(RemoteFile file, std::uint64_t offset, std::uint32_t count, ReadDone done) {
  Read read{file, offset, std::min(count, kMostBatchedRead), std::move(done)};
  if (missing_ || count == 0 || !open_.contains(file)) return read_by_nfs(read);
  waiting_.push_back(std::move(read));
}

void BatchFiles::step(std::chrono::milliseconds timeout) {
  while (!waiting_.empty()) {
    const auto count = std::min(waiting_.size(), direct::kMostReads);
    const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
    Reads reads(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end));
    waiting_.erase(waiting_.begin(), end);
    send(std::move(reads));
  }
  files_->step(timeout);
}

void BatchFiles::send(Reads reads) {
  direct::BatchArgs args;
  for (const Read& read : reads) {
    const auto handle = open_.find(read.file);
    direct::ReadArgs& each = args.reads.emplace_back();
    if (handle != open_.end()) each.file = direct::FileHandle(handle->second.view());
    each.state = files_->state_of(read.file);
    each.offset = read.offset;
    each.count = read.count;
  }
  schedule_.call(batch_call(args, identity_),
                 [this, reads = std::move(reads)](const Expected<CallReply, CallError>& reply) {
                   take(reads, reply);
                 });
}

void BatchFiles::take(const Reads& reads, const Expected<CallReply, CallError>& reply) {
  Expected<direct::BatchResult, CallError> batch = direct::BatchResult{};
  if (reply && reply->rpc.success()) {
    batch = decode_direct_batch(*reply);
    ++statistics_.batches;
  } else if (reply) {
    missing_ = true;
  }
  const bool whole = batch && batch->results.size() == reads.size();
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const direct::ReadResult* const result = whole ? &batch->results[i] : nullptr;
    const bool good = result && result->status == nfs4::Status::NFS4_OK &&
                      result->resok4.data.size() <= reads[i].count;
    if (!good) {
      read_by_nfs(reads[i]);
      continue;
    }
    ++statistics_.reads;
    reads[i].done(ReadOutcome{result->resok4.data, result->resok4.eof});
  }
}

void BatchFiles::read_by_nfs(const Read& read) {
  ++statistics_.nfs_reads;
  files_->read(read.file, read.offset, read.count, read.done);
}

}  // namespace steertag::peer
