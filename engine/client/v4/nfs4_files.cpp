// Remote files over NFS version 4.1.
#include "client/v4/nfs4_files.h"

#include <algorithm>

#include "client/v4/remote_attributes.h"
#include "nfs/v4/attribute_numbers.h"

namespace steertag::peer {
namespace {

using nfs4::Opnum;
using nfs4::Status;

/// The server does not know the stateid any more: after a restart, an expired lease, or because its
/// administrator wanted so.
bool lost_state(const FileError& error) {
  if (error.code != FileErrc::refused) return false;
  switch (static_cast<Status>(error.status)) {
    case Status::NFS4ERR_BAD_STATEID:
    case Status::NFS4ERR_STALE_STATEID:
    case Status::NFS4ERR_OLD_STATEID:
    case Status::NFS4ERR_EXPIRED:
    case Status::NFS4ERR_ADMIN_REVOKED:
      return true;
    default:
      return false;
  }
}

bool is_too_big(const FileError& error) {
  return error.code == FileErrc::refused &&
         static_cast<Status>(error.status) == Status::NFS4ERR_REQ_TOO_BIG;
}

WriteVerifier to_number(const nfs4::Verifier& verifier) {
  return wire::load_u64(verifier.data());
}

using Done = Expected<void, FileError>;

}  // namespace

struct Nfs4Files::DataCall {
  RemoteFile number = 0;
  OpenRef file;
  std::uint32_t opened = 0;  // the file's count when the call was made
  bool again = false;        // it was made with another stateid before
  bool smaller = false;      // it was larger before
  std::function<ClientCompound(const OpenFile&)> build;
  /// Decodes and tells a good outcome; an error is not told.
  std::function<Done(CompoundReply&)> take;
  std::function<void(FileError)> fail;
};

Nfs4Files::Nfs4Files(CallSchedule& schedule, SessionOptions options)
    : schedule_(schedule), session_(schedule, answering_recalls(std::move(options))) {}

Done Nfs4Files::start() {
  ClientCompound call;
  call.add(Opnum::OP_PUTROOTFH);
  call.add(Opnum::OP_GETFH);
  call.add(Opnum::OP_GETATTR, nfs4::GetattrArgs{object_attributes()});
  auto root =
      session_.wait(std::move(call), [](CompoundReply& reply) -> Expected<RemoteObject, FileError> {
        if (auto skipped = reply.skip(Opnum::OP_PUTROOTFH); !skipped)
          return tl::unexpected(skipped.error());
        return take_object(reply);
      });
  if (!root) return tl::unexpected(std::move(root.error()));
  root_ = std::move(*root);
  const nfs4::ChannelAttrs& channel = session_.channel();
  limits_.read_bytes = channel.ca_maxresponsesize - kCompoundOverhead;
  limits_.write_bytes = channel.ca_maxrequestsize - kCompoundOverhead;
  limits_.calls = session_.slots();
  limits_.transfer_bytes = schedule_.transport().limits().transfer_bytes;
  return {};
}

// RFC 8881 18.36.3: a later session may have other sizes than the first one.
TransferLimits Nfs4Files::limits() const {
  TransferLimits limits = limits_;
  const nfs4::ChannelAttrs& channel = session_.channel();
  if (!session_.policy().heeds_later_sizes) return limits;
  limits.read_bytes = std::min(limits.read_bytes, channel.ca_maxresponsesize - kCompoundOverhead);
  limits.write_bytes = std::min(limits.write_bytes, channel.ca_maxrequestsize - kCompoundOverhead);
  return limits;
}

Done Nfs4Files::end() {
  return session_.end();
}

// --- opens

nfs4::OpenArgs Nfs4Files::open_args(const RemoteFile& file, std::uint32_t share_access) const {
  nfs4::OpenArgs args;
  const bool wants = on_recall_ && share_access == nfs4::OPEN4_SHARE_ACCESS_READ;
  args.share_access = share_access | (wants ? nfs4::OPEN4_SHARE_ACCESS_WANT_READ_DELEG
                                            : nfs4::OPEN4_SHARE_ACCESS_WANT_NO_DELEG);
  args.owner.clientid = session_.client_id();
  // An owner for each open: two with one owner would share a stateid (RFC 8881 18.16.3).
  args.owner.owner = std::as_bytes(std::span(&file, 1));
  args.claim.claim = nfs4::ClaimType::CLAIM_FH;
  return args;
}

Done Nfs4Files::learn_limits(CompoundReply& reply) {
  const auto attributes = reply.next<nfs4::GetattrResult>(Opnum::OP_GETATTR);
  if (!attributes) return tl::unexpected(attributes.error());
  const auto values = typed(attributes->resok4.obj_attributes, "GETATTR");
  if (!values) return tl::unexpected(values.error());
  const auto lower = [](std::uint32_t& limit, const std::optional<std::uint64_t>& offered) {
    if (offered && *offered > 0)
      limit = static_cast<std::uint32_t>(std::min<std::uint64_t>(limit, *offered));
  };
  lower(limits_.read_bytes, values->maxread);
  lower(limits_.write_bytes, values->maxwrite);
  if (values->lease_time && *values->lease_time > 0)
    session_.learn_lease(std::chrono::seconds{*values->lease_time});
  return {};
}

void Nfs4Files::step(std::chrono::milliseconds timeout) {
  if (!open_.empty()) session_.renew_lease();
  schedule_.step(timeout);
}

Expected<RemoteFile, FileError> Nfs4Files::open(const RemoteHandle& handle) {
  const RemoteFile number = next_file_++;
  auto file = std::make_shared<OpenFile>();
  file->handle = handle;
  file->share_access = nfs4::OPEN4_SHARE_ACCESS_READ;
  ClientCompound call;
  call.add_handle(handle);
  call.add(Opnum::OP_OPEN, open_args(number, file->share_access));
  call.add(Opnum::OP_GETATTR, nfs4::GetattrArgs{limit_attributes()});
  call.keep_reply();
  if (on_recall_) opening_[number] = {handle, {}};
  const auto opened = session_.wait(std::move(call), [&](CompoundReply& reply) -> Done {
    if (auto skipped = reply.skip(Opnum::OP_PUTFH); !skipped) return skipped;
    const auto result = reply.next<nfs4::OpenResult>(Opnum::OP_OPEN);
    if (!result) return tl::unexpected(result.error());
    file->stateid = result->resok4.stateid;
    if (keeps(result->resok4.delegation)) {
      file->delegation = result->resok4.delegation;
    } else {
      give_back(result->resok4.delegation, handle);
    }
    return learn_limits(reply);
  });
  const auto opening = opening_.extract(number);
  if (!opened) return tl::unexpected(opened.error());
  const bool is_recalled = !opening.empty() && keeps(file->delegation) &&
                           opening.mapped().recalled.contains(file->delegation.read.stateid.other);
  open_[number] = std::move(file);
  if (is_recalled) on_recall_(number);
  return number;
}

Expected<RemoteFile, FileError> Nfs4Files::create(const RemoteHandle& directory,
                                                  std::string_view name, std::uint32_t mode) {
  const RemoteFile number = next_file_++;
  auto file = std::make_shared<OpenFile>();
  file->share_access = nfs4::OPEN4_SHARE_ACCESS_BOTH;
  nfs4::OpenArgs args = open_args(number, file->share_access);
  nfs4::Attributes wished;
  wished.mode = mode;
  Bytes storage;
  args.openhow.opentype = nfs4::OpenType::OPEN4_CREATE;
  args.openhow.how.mode = nfs4::CreateMode::GUARDED4;
  args.openhow.how.createattrs =
      nfs4::fattr_of(wished, nfs4::Bitmap::of({nfs4::FATTR4_MODE}), storage);
  args.claim.claim = nfs4::ClaimType::CLAIM_NULL;
  args.claim.file = name;
  const bool apart = session_.policy().created_handle == HandleQuery::apart;
  const bool late = session_.policy().created_handle == HandleQuery::last;
  ClientCompound call;
  call.add_handle(directory);
  call.add(Opnum::OP_OPEN, args);
  if (!apart && !late) call.add(Opnum::OP_GETFH);
  call.add(Opnum::OP_GETATTR, nfs4::GetattrArgs{limit_attributes()});
  if (late) call.add(Opnum::OP_GETFH);
  call.keep_reply();
  const auto opened = session_.wait(std::move(call), [&](CompoundReply& reply) -> Done {
    if (auto skipped = reply.skip(Opnum::OP_PUTFH); !skipped) return skipped;
    const auto result = reply.next<nfs4::OpenResult>(Opnum::OP_OPEN);
    if (!result) return tl::unexpected(result.error());
    file->stateid = result->resok4.stateid;
    if (apart) return learn_limits(reply);
    if (auto learned = late ? learn_limits(reply) : Done{}; !learned) return learned;
    const auto handle = reply.next<nfs4::GetfhResult>(Opnum::OP_GETFH);
    if (!handle) return tl::unexpected(handle.error());
    file->handle = RemoteHandle(handle->resok4.object.view());
    give_back(result->resok4.delegation, file->handle);
    return late ? Done{} : learn_limits(reply);
  });
  if (!opened) return tl::unexpected(opened.error());
  if (apart) {
    const auto found = lookup(directory, name);
    if (!found) return tl::unexpected(found.error());
    file->handle = found->handle;
  }
  open_[number] = std::move(file);
  return number;
}

void Nfs4Files::open_again(RemoteFile number, const OpenRef& file, std::function<void(Done)> done) {
  file->waiting.push_back(std::move(done));
  if (std::exchange(file->opening, true)) return;
  ClientCompound call;
  call.add_handle(file->handle);
  call.add(Opnum::OP_OPEN, open_args(number, file->share_access));
  call.keep_reply();
  session_.call(std::move(call), [this, file](Expected<CompoundReply, FileError> reply) {
    Done outcome;
    if (!reply) {
      outcome = tl::unexpected(std::move(reply.error()));
    } else if (auto skipped = reply->skip(Opnum::OP_PUTFH); !skipped) {
      outcome = std::move(skipped);
    } else if (const auto result = reply->next<nfs4::OpenResult>(Opnum::OP_OPEN); !result) {
      outcome = tl::unexpected(result.error());
    } else {
      file->stateid = result->resok4.stateid;
      ++file->opened;
      give_back(result->resok4.delegation, file->handle);
    }
    file->opening = false;
    for (const auto& each : std::exchange(file->waiting, {})) each(outcome);
  });
}

Nfs4Files::OpenRef Nfs4Files::open_file(RemoteFile file) const {
  const auto found = open_.find(file);
  // The server refuses its handle, which is empty.
  return found == open_.end() ? std::make_shared<OpenFile>() : found->second;
}

Done Nfs4Files::set_size(RemoteFile number, std::uint64_t size) {
  std::optional<Done> outcome;
  auto call = std::make_shared<DataCall>();
  call->number = number;
  call->file = open_file(number);
  call->build = [size](const OpenFile& file) {
    nfs4::Attributes wished;
    wished.size = size;
    Bytes storage;
    nfs4::SetattrArgs args{file.stateid, {}};
    args.obj_attributes = nfs4::fattr_of(wished, nfs4::Bitmap::of({nfs4::FATTR4_SIZE}), storage);
    ClientCompound compound;
    compound.add_handle(file.handle);
    compound.add(Opnum::OP_SETATTR, args);
    return compound;
  };
  call->take = [&](CompoundReply& reply) {
    Done done = reply.skip({Opnum::OP_PUTFH, Opnum::OP_SETATTR});
    if (done) outcome = done;
    return done;
  };
  call->fail = [&](FileError error) { outcome = tl::unexpected(std::move(error)); };
  submit(call);
  schedule_.run_until([&] { return outcome.has_value(); });
  return std::move(*outcome);
}

Done Nfs4Files::close(RemoteFile number) {
  return_delegation(number);
  const OpenRef file = open_file(number);
  open_.erase(number);
  ClientCompound call;
  call.add_handle(file->handle);
  call.add(Opnum::OP_CLOSE, nfs4::CloseArgs{0, file->stateid});
  call.keep_reply();
  const Done closed = session_.wait(std::move(call), [](CompoundReply& reply) {
    return reply.skip({Opnum::OP_PUTFH, Opnum::OP_CLOSE});
  });
  // What the server has forgotten is closed.
  if (!closed && lost_state(closed.error())) return {};
  return closed;
}

// --- data

void Nfs4Files::submit(const std::shared_ptr<DataCall>& call) {
  call->opened = call->file->opened;
  session_.call(call->build(*call->file), [this, call](Expected<CompoundReply, FileError> reply) {
    if (!reply) {
      // It was made for a session with more room.
      if (is_too_big(reply.error()) && !std::exchange(call->smaller, true)) return submit(call);
      return call->fail(std::move(reply.error()));
    }
    auto taken = call->take(*reply);
    if (taken) return;
    if (!lost_state(taken.error()) || std::exchange(call->again, true))
      return call->fail(std::move(taken.error()));
    if (call->opened != call->file->opened) return submit(call);  // another call has repaired it
    open_again(call->number, call->file, [this, call](Done opened) {
      if (opened) return submit(call);
      call->fail(std::move(opened.error()));
    });
  });
}

void Nfs4Files::read(RemoteFile number, std::uint64_t offset, std::uint32_t count, ReadDone done) {
  auto call = std::make_shared<DataCall>();
  call->number = number;
  call->file = open_file(number);
  call->build = [offset, count](const OpenFile& file) {
    ClientCompound compound;
    compound.add_handle(file.handle);
    compound.add(Opnum::OP_READ, nfs4::ReadArgs{file.stateid, offset, count});
    return compound;
  };
  call->take = [done, count](CompoundReply& reply) -> Done {
    if (auto skipped = reply.skip(Opnum::OP_PUTFH); !skipped) return skipped;
    auto outcome = reply.next_read();
    if (!outcome) return tl::unexpected(std::move(outcome.error()));
    if (outcome->data.size() > count)
      return tl::unexpected(FileError{FileErrc::bad_results, "READ: more than asked for", 0, {}});
    done(*outcome);
    return {};
  };
  call->fail = [done](FileError error) { done(tl::unexpected(std::move(error))); };
  submit(call);
}

void Nfs4Files::write(RemoteFile number, std::uint64_t offset, View data, Stability stability,
                      WriteDone done) {
  auto call = std::make_shared<DataCall>();
  call->number = number;
  call->file = open_file(number);
  call->build = [this, offset, data, stability](const OpenFile& file) {
    // The others are written behind them, as behind any WRITE that takes fewer.
    const View fitting = data.first(std::min<std::size_t>(data.size(), limits().write_bytes));
    ClientCompound compound;
    compound.add_handle(file.handle);
    compound.add_write({file.stateid, offset, static_cast<nfs4::StableHow>(stability), fitting});
    return compound;
  };
  call->take = [done](CompoundReply& reply) -> Done {
    if (auto skipped = reply.skip(Opnum::OP_PUTFH); !skipped) return skipped;
    const auto result = reply.next<nfs4::WriteResult>(Opnum::OP_WRITE);
    if (!result) return tl::unexpected(result.error());
    const nfs4::WriteOk& ok = result->resok4;
    done(WriteOutcome{ok.count, ok.committed != nfs4::StableHow::UNSTABLE4,
                      to_number(ok.writeverf)});
    return {};
  };
  call->fail = [done](FileError error) { done(tl::unexpected(std::move(error))); };
  submit(call);
}

void Nfs4Files::commit(RemoteFile number, CommitDone done) {
  auto call = std::make_shared<DataCall>();
  call->number = number;
  call->file = open_file(number);
  call->build = [](const OpenFile& file) {
    ClientCompound compound;
    compound.add_handle(file.handle);
    compound.add(Opnum::OP_COMMIT, nfs4::CommitArgs{});
    return compound;
  };
  call->take = [done](CompoundReply& reply) -> Done {
    if (auto skipped = reply.skip(Opnum::OP_PUTFH); !skipped) return skipped;
    const auto result = reply.next<nfs4::CommitResult>(Opnum::OP_COMMIT);
    if (!result) return tl::unexpected(result.error());
    done(to_number(result->resok4.writeverf));
    return {};
  };
  call->fail = [done](FileError error) { done(tl::unexpected(std::move(error))); };
  submit(call);
}

}  // namespace steertag::peer
