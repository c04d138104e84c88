// What a client owes the servers before it gives a layout up: COMMIT, LAYOUTCOMMIT, LAYOUTRETURN.
#include <algorithm>
#include <utility>

#include "client/v4/pnfs/layouts.h"

namespace steertag::peer {
namespace {

using nfs4::Opnum;
using Outcome = Expected<void, FileError>;

Expected<WriteVerifier, FileError> take_commit(Expected<CompoundReply, FileError>& reply) {
  if (!reply) return tl::unexpected(reply.error());
  if (auto skipped = reply->skip(Opnum::OP_PUTFH); !skipped)
    return tl::unexpected(std::move(skipped.error()));
  const auto result = reply->next<nfs4::CommitResult>(Opnum::OP_COMMIT);
  if (!result) return tl::unexpected(result.error());
  return wire::load_u64(result->resok4.writeverf.data());
}

Expected<nfs4::NewSize, FileError> take_layout_commit(Expected<CompoundReply, FileError>& reply) {
  if (!reply) return tl::unexpected(reply.error());
  if (auto skipped = reply->skip(Opnum::OP_PUTFH); !skipped)
    return tl::unexpected(std::move(skipped.error()));
  const auto result = reply->next<nfs4::LayoutcommitResult>(Opnum::OP_LAYOUTCOMMIT);
  if (!result) return tl::unexpected(result.error());
  return result->resok4.locr_newsize;
}

/// Without a handle: of all file systems, or of the root's.
ClientCompound return_call(const nfs4::LayoutreturnArgs& args,
                           const std::optional<RemoteHandle>& handle) {
  ClientCompound call;
  if (handle) {
    call.add_handle(*handle);
  } else {
    call.add(Opnum::OP_PUTROOTFH);
  }
  call.add(Opnum::OP_LAYOUTRETURN, args);
  call.keep_reply();
  return call;
}

}  // namespace

/// The commits of one file.
struct Layouts::Flush {
  StripedFileRef file;
  Done done;
  std::size_t left = 1;  // COMMITs without a reply, and the loop that sends them
  bool lost = false;     // something has to be written again
  bool behind_return = false;
  std::optional<FileError> error;  // of the metadata server
};

// --- commits

void Layouts::commit(const StripedFileRef& file, Done done) {
  if (file->busy) {
    file->waiting.push_back([this, file, done] { commit(file, done); });
    return;
  }
  // Callbacks come from a step, also where there is nothing to do.
  if (!file->is_dirty())
    return schedule_.later(std::chrono::milliseconds{0}, [done] { done(Outcome{}); });
  file->busy = true;
  flush(file, [this, file, done](const Outcome& outcome) {
    file->busy = false;
    done(outcome);
    resume(file);
  });
}

void Layouts::flush(const StripedFileRef& file, Done done) {
  auto flush = std::make_shared<Flush>();
  flush->file = file;
  flush->done = std::move(done);
  // RFC 8881 13.7: at the metadata server what was written there, or under layouts that want it.
  std::vector<WriteVerifier> at_server;
  const auto unstable = std::exchange(file->unstable, {});
  for (const auto& [place, octets] : unstable) {
    if (place.first && !octets.through_server) {
      const View handle = std::as_bytes(std::span(place.second));
      commit_at(flush, place.first, RemoteHandle(handle), {octets.verifier});
    } else {
      at_server.push_back(octets.verifier);
    }
  }
  if (!at_server.empty()) commit_at(flush, nullptr, file->handle, std::move(at_server));
  end_commit(flush);
}

void Layouts::commit_at(const FlushRef& flush, DataServer* server, const RemoteHandle& handle,
                        std::vector<WriteVerifier> expected) {
  ClientSession* const session = server ? server->session() : &session_;
  if (!session) {
    flush->lost = true;
    return;
  }
  ClientCompound call;
  call.add_handle(handle);
  call.add(Opnum::OP_COMMIT, nfs4::CommitArgs{});
  ++flush->left;
  session->call(std::move(call), [this, flush, server, session,
                                  expected](Expected<CompoundReply, FileError> reply) {
    const bool answered = reply || reply.error().code == FileErrc::lease_in_doubt;
    if (!answered && server) server->failed(session);
    const auto verifier = take_commit(reply);
    if (verifier && server) ++server->counts().commits;
    const bool any = !session_.policy().data_servers.compares_verifiers;
    const auto same = [&](WriteVerifier each) { return verifier && (any || each == *verifier); };
    if (!std::ranges::all_of(expected, same)) flush->lost = true;
    // What it refuses is written again elsewhere.
    if (!verifier && server && answered) abandon(flush->file);
    const DataServerPolicy& data_servers = session_.policy().data_servers;
    const bool goes_on = answered ? data_servers.turns_back : data_servers.survives_loss;
    if (!verifier && (!server || !goes_on)) flush->error = verifier.error();
    end_commit(flush);
  });
}

void Layouts::end_commit(const FlushRef& flush) {
  if (--flush->left > 0) return;
  if (flush->lost) ++flush->file->verifier;
  if (flush->error) return flush->done(tl::unexpected(*flush->error));
  layout_commit(flush);
}

// RFC 8881 12.5.4: behind the COMMITs, and before the return. It does not wait for what is to be
// written again, but for what was.
void Layouts::layout_commit(const FlushRef& flush) {
  const StripedFileRef file = flush->file;
  const bool early = !policy().commits_first && !flush->behind_return;
  const bool needless = !file->last_offset || !policy().commits_at_all;
  if (needless || !file->held || early) return flush->done(Outcome{});
  nfs4::LayoutcommitArgs args;
  args.loca_length = kToTheEnd;
  args.loca_stateid = file->stateid;
  args.loca_last_write_offset = {true, *file->last_offset};
  ClientCompound call;
  call.add_handle(file->handle);
  call.add(Opnum::OP_LAYOUTCOMMIT, args);
  call.keep_reply();
  file->last_offset.reset();
  ++counts_.commits;
  session_.call(std::move(call), [this, flush, file](Expected<CompoundReply, FileError> reply) {
    const auto size = take_layout_commit(reply);
    if (size && size->ns_sizechanged) file->size = size->ns_size;
    if (!size) {
      // The metadata server does not know of the octets: they are written again, through it.
      ++file->verifier;
      abandon(file);
    }
    flush->done(Outcome{});
  });
}

// --- returns

void Layouts::leave(const StripedFileRef& file) {
  if (policy().stops_at_return) file->segments.clear();
  file->leaving = true;
  settle(file);
}

void Layouts::leave_later(const StripedFileRef& file) {
  if (policy().stops_at_return) file->segments.clear();
  schedule_.later(std::chrono::milliseconds{0}, [this, file] { leave(file); });
}

void Layouts::settle(const StripedFileRef& file) {
  // RFC 8881 12.5.5: after the return nothing is sent by the layout.
  const bool waits = file->in_flight > 0 && policy().waits_for_io;
  if (!file->leaving || file->busy || waits) return;
  file->busy = true;
  // RFC 8881 20.3.3: where the layout changes, nothing is committed by it.
  const auto at_data_server = [](const auto& each) { return each.first.first != nullptr; };
  const bool in_bulk = std::exchange(file->bulk_changed, false);
  const bool changed = in_bulk || (file->recall && file->recall->changed);
  if (changed && std::erase_if(file->unstable, at_data_server) > 0) ++file->verifier;
  // What a COMMIT has lost is written again; the metadata server's errors come with the next one.
  flush(file, [this, file](const Outcome&) { give_back(file); });
}

void Layouts::drop(const StripedFileRef& file) {
  file->busy = file->leaving = file->held = false;
  file->granted.clear();
  file->recall.reset();
  resume(file);
}

void Layouts::give_back(const StripedFileRef& file) {
  // RFC 8881 12.5.5.2.1.5: no layout stateid behind a bulk recall, whose return is that of all
  // files.
  const bool in_bulk = bulk_ && file->bulk && policy().returns_at_once;
  file->bulk = false;
  if (!file->held || in_bulk || (file->recall && !policy().returns_recalled)) return drop(file);
  nfs4::LayoutreturnArgs args;
  const LayoutScope scope = file->recall ? file->recall->scope : LayoutScope{};
  args.lora_iomode = scope.iomode;
  const bool recalled = file->recall.has_value();
  // RFC 8881 12.5.5.2.1.2: a recall is answered with its own stateid.
  args.lora_layoutreturn.lr_layout = {scope.offset, scope.length, file->stateid, {}};
  file->recall.reset();
  ++counts_.returns;
  session_.call(return_call(args, file->handle),
                [this, file, recalled](Expected<CompoundReply, FileError> reply) {
                  returned(file, recalled, std::move(reply));
                });
}

void Layouts::returned(const StripedFileRef& file, bool recalled,
                       Expected<CompoundReply, FileError> reply) {
  if (!policy().commits_first) {
    auto late = std::make_shared<Flush>();
    late->file = file;
    late->done = [](const Outcome&) {};
    late->behind_return = true;
    layout_commit(late);
  }
  file->busy = file->leaving = file->held = false;
  if (reply && reply->skip(Opnum::OP_PUTFH)) {
    const auto result = reply->next<nfs4::LayoutreturnResult>(Opnum::OP_LAYOUTRETURN);
    // Behind a return of all, something is left only for a recall that has come meanwhile.
    if (result && result->resok4.lrs_present && (recalled || file->recall)) {
      file->held = true;
      file->stateid = result->resok4.lrs_stateid;
    }
  }
  if (!file->held) file->granted.clear();
  // What came meanwhile, or what a recall of a part has left to the last close.
  if (file->recall || (file->held && file->opens == 0)) file->leaving = true;
  resume(file);
}

void Layouts::resume(const StripedFileRef& file) {
  while (!file->busy && !file->waiting.empty()) {
    const auto next = std::move(file->waiting.front());
    file->waiting.erase(file->waiting.begin());
    next();
  }
  settle(file);
  settle_bulk();
}

void Layouts::settle_bulk() {
  if (!bulk_) return;
  const bool ready = std::ranges::none_of(files_, [&](const auto& each) {
    const StripedFile& file = *each.second;
    return file.held && file.leaving;
  });
  if (!ready) return;
  const BulkRecall bulk = *std::exchange(bulk_, std::nullopt);
  if (!policy().returns_recalled) return;
  nfs4::LayoutreturnArgs args;
  args.lora_iomode = bulk.iomode;
  const bool all = bulk.type == nfs4::LayoutrecallType::LAYOUTRECALL4_ALL;
  args.lora_layoutreturn.lr_returntype =
      all ? nfs4::LayoutreturnType::LAYOUTRETURN4_ALL : nfs4::LayoutreturnType::LAYOUTRETURN4_FSID;
  ++counts_.returns;
  session_.call(return_call(args, all ? std::nullopt : bulk.handle),
                [](const Expected<CompoundReply, FileError>&) {});
}

}  // namespace steertag::peer
