// Remote files over NFS version 3.
#include "client/nfs3/nfs3_files.h"

#include <algorithm>

#include "client/files/cookie_watch.h"
#include "client/files/path_walk.h"

namespace steertag::peer {
namespace {

/// Largest READ and WRITE, and largest listing, that the client asks for, whatever is offered.
constexpr std::uint32_t kMostTransfer = 1U << 20;
constexpr std::uint32_t kMostListing = 65536;
/// Of `mode`: some servers put the type of the object before these.
constexpr std::uint32_t kModeBits = 07777;
/// Room for the reply to EXPORT, which the protocol does not bound.
constexpr std::size_t kMostExportList = 65536;

nfs3::FileHandle to_nfs3(const RemoteHandle& handle) {
  return nfs3::FileHandle(handle.view());
}

RemoteAttributes from_nfs3(const nfs3::Fattr& fattr) {
  RemoteAttributes attributes;
  attributes.type = static_cast<RemoteType>(fattr.type);
  attributes.mode = fattr.mode & kModeBits;
  attributes.links = fattr.nlink;
  attributes.owner = std::to_string(fattr.uid);
  attributes.group = std::to_string(fattr.gid);
  attributes.size = fattr.size;
  attributes.used = fattr.used;
  attributes.modified_s = fattr.mtime.seconds;
  attributes.modified_ns = fattr.mtime.nseconds;
  return attributes;
}

WriteVerifier to_number(const nfs3::Verifier& verifier) {
  return wire::load_u64(verifier.data());
}

/// AUTH_NONE and AUTH_SYS calls of a version that the program does not have.
bool is_unsupported(const rpc::ReplyHeader& reply) {
  return reply.status == rpc::ReplyStatus::MSG_ACCEPTED &&
         (reply.accept_status == rpc::AcceptStatus::PROG_UNAVAIL ||
          reply.accept_status == rpc::AcceptStatus::PROG_MISMATCH);
}

std::optional<FileError> error_of(const Expected<CallReply, CallError>& reply,
                                  std::string_view what) {
  if (!reply) return failed(reply.error(), what);
  if (reply->rpc.success()) return std::nullopt;
  if (is_unsupported(reply->rpc))
    return FileError{FileErrc::unsupported_version, std::string(what), 0, {}};
  return failed({CallErrc::rpc_error, std::string(refusal(reply->rpc))}, what);
}

/// READ3res, whose data may have come in a write chunk.
Expected<ReadOutcome, FileError> decode_read(const CallReply& reply, nfs3::Status& status) {
  wire::Reader reader(reply.results);
  rpc::decode_value(reader, status, "status", 0);
  nfs3::PostOpAttr attributes;
  rpc::decode_value(reader, attributes, "file_attributes", 0);
  ReadOutcome outcome;
  if (status == nfs3::Status::NFS3_OK) {
    const std::uint32_t count = reader.u32("count");
    outcome.eof = reader.boolean("eof");
    if (reply.item_reduced) {
      reader.u32("data");
      outcome.data = reply.item;
    } else {
      outcome.data = reader.opaque(nfs3::kMostDataOctets, "data");
    }
    if (reader.ok() && outcome.data.size() != count)
      return tl::unexpected(
          FileError{FileErrc::bad_results, "READ: count is not that of data", 0, {}});
  }
  if (!reader.ok())
    return tl::unexpected(
        FileError{FileErrc::bad_results, "READ: " + reader.fault().message(), 0, {}});
  return outcome;
}

}  // namespace

struct Nfs3Files::DataCall {
  Request request;
  std::string_view what;
  /// Decodes and tells the outcome; false when the server asks for a retry later.
  std::function<bool(const CallReply&)> take;
  std::function<void(FileError)> fail;
  Delay delay;
};

Nfs3Files::Nfs3Files(CallSchedule& schedule, Identity identity, CallSchedule* mount_schedule)
    : schedule_(schedule),
      mount_schedule_(mount_schedule ? *mount_schedule : schedule),
      identity_(std::move(identity)) {}

// --- calls that wait

Expected<Bytes, FileError> Nfs3Files::results_of(CallSchedule& schedule, const Request& request,
                                                 std::string_view what) {
  std::optional<Expected<Bytes, FileError>> outcome;
  schedule.call(request, [&](Expected<CallReply, CallError> reply) {
    if (auto error = error_of(reply, what)) {
      outcome = tl::unexpected(std::move(*error));
      return;
    }
    Bytes results(reply->results.begin(), reply->results.end());
    if (reply->item_reduced) {
      // The eligible result ends the results of both procedures that have one (RFC 8267 4).
      results.insert(results.end(), reply->item.begin(), reply->item.end());
      results.resize(roundup4(results.size()));
    }
    outcome = std::move(results);
  });
  schedule.run_until([&] { return outcome.has_value(); });
  return std::move(*outcome);
}

template <class Result, class Args>
Expected<Result, FileError> Nfs3Files::call(nfs3::Procedure procedure, const Args& args) {
  const std::string_view what = rpc::name(procedure);
  const Request request = nfs3_call(procedure, args, identity_);
  Delay delay;
  for (;;) {  // until kMostDelay has passed
    auto octets = results_of(schedule_, request, what);
    if (!octets) return tl::unexpected(std::move(octets.error()));
    kept_ = std::move(*octets);
    auto result = decode_results<Result>(kept_);
    if (!result) return tl::unexpected(failed(result.error(), what));
    if (result->status == nfs3::Status::NFS3_OK) return std::move(*result);
    if (result->status != nfs3::Status::NFS3ERR_JUKEBOX)
      return tl::unexpected(refused(result->status, what));
    const auto pause = delay.next(schedule_.now());
    if (!pause) return tl::unexpected(refused(result->status, what));
    bool due = false;
    schedule_.later(*pause, [&] { due = true; });
    schedule_.run_until([&] { return due; });
  }
}

template <class Result, class Args>
Expected<Result, FileError> Nfs3Files::call_mount(mount3::Procedure procedure, const Args& args) {
  const std::string_view what = rpc::name(procedure);
  Request request = mount3_call(procedure, args, identity_);
  if (request.reply.payload == 0) request.reply.payload = kMostExportList;
  auto octets = results_of(mount_schedule_, request, what);
  if (!octets) {
    if (octets.error().code == FileErrc::unsupported_version)
      octets.error().code = FileErrc::no_mount;
    return tl::unexpected(std::move(octets.error()));
  }
  kept_ = std::move(*octets);
  auto result = decode_results<Result>(kept_);
  if (!result) return tl::unexpected(failed(result.error(), what));
  return std::move(*result);
}

// --- mounting

Expected<std::string, FileError> Nfs3Files::choose_export(std::string_view path) {
  const auto list =
      call_mount<mount3::ExportList>(mount3::Procedure::MOUNTPROC3_EXPORT, mount3::Void{});
  if (!list) return tl::unexpected(list.error());
  const std::vector<std::string> wanted = components(path);
  std::string best;
  std::size_t best_length = 0;
  for (const auto& entry : list->exports.items) {
    const std::vector<std::string> names = components(entry.dir);
    const bool leads =
        names.size() <= wanted.size() && std::equal(names.begin(), names.end(), wanted.begin());
    if (leads && (best.empty() || names.size() > best_length)) {
      best = entry.dir;
      best_length = names.size();
    }
  }
  return best.empty() ? std::string(path) : best;
}

Expected<void, FileError> Nfs3Files::mount(std::string_view path) {
  auto chosen = choose_export(path);
  if (!chosen) return tl::unexpected(std::move(chosen.error()));
  const auto mounted =
      call_mount<mount3::MntResult>(mount3::Procedure::MOUNTPROC3_MNT, mount3::DirPath{*chosen});
  if (!mounted) return tl::unexpected(mounted.error());
  if (mounted->status != mount3::Status::MNT3_OK)
    return tl::unexpected(refused(mounted->status, "MNT \"" + *chosen + "\""));
  export_path_ = *chosen;
  root_.handle = RemoteHandle(mounted->fhandle.view());
  auto found = attributes(root_.handle);
  if (!found) return tl::unexpected(std::move(found.error()));
  root_.attributes = std::move(*found);
  return learn_limits();
}

Expected<void, FileError> Nfs3Files::learn_limits() {
  const auto info = call<nfs3::FsinfoResult>(nfs3::Procedure::NFSPROC3_FSINFO,
                                             nfs3::FsinfoArgs{to_nfs3(root_.handle)});
  if (!info) return tl::unexpected(info.error());
  const TransportLimits transport = schedule_.transport().limits();
  if (info->ok.rtmax == 0 || info->ok.wtmax == 0)
    return tl::unexpected(FileError{FileErrc::bad_results, "FSINFO: rtmax or wtmax is 0", 0, {}});
  limits_.read_bytes = std::min(info->ok.rtmax, kMostTransfer);
  limits_.write_bytes = std::min(info->ok.wtmax, kMostTransfer);
  limits_.calls = transport.calls;
  limits_.transfer_bytes = transport.transfer_bytes;
  list_bytes_ = std::clamp<std::uint32_t>(info->ok.dtpref, 4096, kMostListing);
  return {};
}

Expected<void, FileError> Nfs3Files::end() {
  // RFC 1813 5.2.3: UMNT has no result but that it was made.
  const auto octets = results_of(
      mount_schedule_,
      mount3_call(mount3::Procedure::MOUNTPROC3_UMNT, mount3::DirPath{export_path_}, identity_),
      "UMNT");
  if (!octets) return tl::unexpected(octets.error());
  return {};
}

// --- names

Expected<RemoteAttributes, FileError> Nfs3Files::attributes(const RemoteHandle& object) {
  const auto result = call<nfs3::GetattrResult>(nfs3::Procedure::NFSPROC3_GETATTR,
                                                nfs3::GetattrArgs{to_nfs3(object)});
  if (!result) return tl::unexpected(result.error());
  return from_nfs3(result->ok.obj_attributes);
}

Expected<RemoteObject, FileError> Nfs3Files::lookup(const RemoteHandle& directory,
                                                    std::string_view name) {
  const auto result = call<nfs3::LookupResult>(nfs3::Procedure::NFSPROC3_LOOKUP,
                                               nfs3::LookupArgs{{to_nfs3(directory), name}});
  if (!result) return tl::unexpected(result.error());
  RemoteObject object;
  object.handle = RemoteHandle(result->ok.object.view());
  if (result->ok.obj_attributes) {
    object.attributes = from_nfs3(*result->ok.obj_attributes);
    return object;
  }
  auto found = attributes(object.handle);
  if (!found) return tl::unexpected(std::move(found.error()));
  object.attributes = std::move(*found);
  return object;
}

Expected<std::string, FileError> Nfs3Files::below_export(std::string_view path) const {
  const std::vector<std::string> names = components(path);
  const std::vector<std::string> mounted = components(export_path_);
  if (names.size() < mounted.size() || !std::equal(mounted.begin(), mounted.end(), names.begin()))
    return tl::unexpected(
        FileError{FileErrc::outside_export, "\"" + std::string(path) + "\"", 0, {}});
  std::string below = "/";
  for (std::size_t i = mounted.size(); i < names.size(); ++i) below += names[i] + "/";
  return below;
}

Expected<RemoteObject, FileError> Nfs3Files::find(std::string_view path, bool follow) {
  const auto below = below_export(path);
  if (!below) return tl::unexpected(below.error());
  const PathSteps steps{[this](const RemoteHandle& directory, std::string_view name) {
                          return lookup(directory, name);
                        },
                        [this](const RemoteHandle& link) -> Expected<std::string, FileError> {
                          auto text = read_link(link);
                          if (!text || !text->starts_with('/')) return text;
                          return below_export(*text);
                        }};
  return walk_path(root_, *below, follow, steps);
}

Expected<std::string, FileError> Nfs3Files::read_link(const RemoteHandle& link) {
  const auto result = call<nfs3::ReadlinkResult>(nfs3::Procedure::NFSPROC3_READLINK,
                                                 nfs3::ReadlinkArgs{to_nfs3(link)});
  if (!result) return tl::unexpected(result.error());
  return std::string(result->ok.data);
}

template <class Result, class Args, class Visit>
Expected<void, FileError> Nfs3Files::list_by(nfs3::Procedure procedure, Args args,
                                             const Visit& visit) {
  const auto bad = [procedure](const char* what) {
    return tl::unexpected(
        FileError{FileErrc::bad_results, std::string(rpc::name(procedure)) + ": " + what, 0, {}});
  };
  std::uint64_t listed = 0;
  CookieWatch watch;
  while (listed < kMostListed) {
    const auto result = call<Result>(procedure, args);
    if (!result) return tl::unexpected(result.error());
    for (const auto& entry : result->ok.entries.items) {
      ++listed;
      args.cookie = entry.cookie;
      if (entry.name == "." || entry.name == "..") continue;
      if (!visit(entry)) return {};
    }
    if (result->ok.eof) return {};
    if (result->ok.entries.items.empty()) return bad("no entry, and no end");
    if (!watch.goes_on(args.cookie)) return bad("the cookies go round");
    args.cookieverf = result->ok.cookieverf;
  }
  return tl::unexpected(FileError{FileErrc::too_long, "a directory", 0, {}});
}

Expected<void, FileError> Nfs3Files::list(const RemoteHandle& directory, const EntrySink& sink) {
  nfs3::ReaddirplusArgs args;
  args.dir = to_nfs3(directory);
  args.dircount = args.maxcount = list_bytes_;
  return list_by<nfs3::ReaddirplusResult>(nfs3::Procedure::NFSPROC3_READDIRPLUS, args,
                                          [&](const nfs3::EntryPlus& entry) {
                                            RemoteEntry told{entry.name, std::nullopt, {}};
                                            if (entry.name_attributes)
                                              told.attributes = from_nfs3(*entry.name_attributes);
                                            if (entry.name_handle)
                                              told.handle = RemoteHandle(entry.name_handle->view());
                                            return sink(told);
                                          });
}

Expected<void, FileError> Nfs3Files::list_names(const RemoteHandle& directory,
                                                const NameSink& sink) {
  nfs3::ReaddirArgs args;
  args.dir = to_nfs3(directory);
  args.count = list_bytes_;
  return list_by<nfs3::ReaddirResult>(nfs3::Procedure::NFSPROC3_READDIR, args,
                                      [&](const nfs3::Entry& entry) { return sink(entry.name); });
}

Expected<void, FileError> Nfs3Files::remove(const RemoteHandle& directory, std::string_view name) {
  const auto result = call<nfs3::RemoveResult>(nfs3::Procedure::NFSPROC3_REMOVE,
                                               nfs3::RemoveArgs{{to_nfs3(directory), name}});
  if (!result) return tl::unexpected(result.error());
  return {};
}

Expected<void, FileError> Nfs3Files::rename(const RemoteHandle& directory, std::string_view from,
                                            std::string_view to) {
  const auto source = lookup(directory, from);
  if (!source) return tl::unexpected(source.error());
  const nfs3::FileHandle handle = to_nfs3(directory);
  const auto result = call<nfs3::RenameResult>(nfs3::Procedure::NFSPROC3_RENAME,
                                               nfs3::RenameArgs{{handle, from}, {handle, to}});
  if (result) return {};
  // A call that was sent again after a loss may have been executed before.
  if (result.error().status == static_cast<std::uint32_t>(nfs3::Status::NFS3ERR_NOENT)) {
    const auto moved = lookup(directory, to);
    if (moved && moved->handle == source->handle) return {};
  }
  return tl::unexpected(result.error());
}

// --- files

Expected<RemoteFile, FileError> Nfs3Files::open(const RemoteHandle& file) {
  open_[next_file_] = to_nfs3(file);
  return next_file_++;
}

Expected<RemoteFile, FileError> Nfs3Files::create(const RemoteHandle& directory,
                                                  std::string_view name, std::uint32_t mode) {
  nfs3::CreateArgs args;
  args.where = {to_nfs3(directory), name};
  args.how.mode = nfs3::CreateMode::GUARDED;
  args.how.obj_attributes.mode = mode;
  const auto result = call<nfs3::CreateResult>(nfs3::Procedure::NFSPROC3_CREATE, args);
  if (!result) return tl::unexpected(result.error());
  if (result->ok.obj) return open(RemoteHandle(result->ok.obj->view()));
  const auto found = lookup(directory, name);
  if (!found) return tl::unexpected(found.error());
  return open(found->handle);
}

Expected<void, FileError> Nfs3Files::set_size(RemoteFile file, std::uint64_t size) {
  nfs3::SetattrArgs args;
  args.object = handle_of(file);
  args.new_attributes.size = size;
  const auto result = call<nfs3::SetattrResult>(nfs3::Procedure::NFSPROC3_SETATTR, args);
  if (!result) return tl::unexpected(result.error());
  return {};
}

Expected<void, FileError> Nfs3Files::close(RemoteFile file) {
  open_.erase(file);
  return {};
}

nfs3::FileHandle Nfs3Files::handle_of(RemoteFile file) const {
  const auto found = open_.find(file);
  return found == open_.end() ? nfs3::FileHandle() : found->second;  // NFS3ERR_BADHANDLE
}

// --- data

void Nfs3Files::submit(std::shared_ptr<DataCall> call) {
  schedule_.call(call->request, [this, call](Expected<CallReply, CallError> reply) {
    if (auto error = error_of(reply, call->what)) return call->fail(std::move(*error));
    if (call->take(*reply)) return;
    const auto pause = call->delay.next(schedule_.now());
    if (!pause) return call->fail(refused(nfs3::Status::NFS3ERR_JUKEBOX, call->what));
    schedule_.later(*pause, [this, call] { submit(call); });
  });
}

void Nfs3Files::read(RemoteFile file, std::uint64_t offset, std::uint32_t count, ReadDone done) {
  auto call = std::make_shared<DataCall>();
  call->what = "READ";
  call->request = nfs3_call(nfs3::Procedure::NFSPROC3_READ,
                            nfs3::ReadArgs{handle_of(file), offset, count}, identity_);
  call->fail = [done](FileError error) { done(tl::unexpected(std::move(error))); };
  call->take = [done, count](const CallReply& reply) {
    nfs3::Status status{};
    auto outcome = decode_read(reply, status);
    if (outcome && status == nfs3::Status::NFS3ERR_JUKEBOX) return false;
    if (outcome && status != nfs3::Status::NFS3_OK)
      outcome = tl::unexpected(refused(status, "READ"));
    if (outcome && outcome->data.size() > count)
      outcome =
          tl::unexpected(FileError{FileErrc::bad_results, "READ: more than asked for", 0, {}});
    done(std::move(outcome));
    return true;
  };
  submit(std::move(call));
}

void Nfs3Files::write(RemoteFile file, std::uint64_t offset, View data, Stability stability,
                      WriteDone done) {
  nfs3::WriteArgs args;
  args.file = handle_of(file);
  args.offset = offset;
  args.count = static_cast<std::uint32_t>(data.size());
  args.stable = static_cast<nfs3::StableHow>(stability);
  args.data = data;
  auto call = std::make_shared<DataCall>();
  call->what = "WRITE";
  call->request = nfs3_call(nfs3::Procedure::NFSPROC3_WRITE, args, identity_);
  call->fail = [done](FileError error) { done(tl::unexpected(std::move(error))); };
  call->take = [done](const CallReply& reply) {
    const auto result = decode_results<nfs3::WriteResult>(reply.results);
    if (!result) {
      done(tl::unexpected(failed(result.error(), "WRITE")));
    } else if (result->status == nfs3::Status::NFS3ERR_JUKEBOX) {
      return false;
    } else if (result->status != nfs3::Status::NFS3_OK) {
      done(tl::unexpected(refused(result->status, "WRITE")));
    } else {
      done(WriteOutcome{result->ok.count, result->ok.committed != nfs3::StableHow::UNSTABLE,
                        to_number(result->ok.verf)});
    }
    return true;
  };
  submit(std::move(call));
}

void Nfs3Files::commit(RemoteFile file, CommitDone done) {
  auto call = std::make_shared<DataCall>();
  call->what = "COMMIT";
  call->request = nfs3_call(nfs3::Procedure::NFSPROC3_COMMIT,
                            nfs3::CommitArgs{handle_of(file), 0, 0}, identity_);
  call->fail = [done](FileError error) { done(tl::unexpected(std::move(error))); };
  call->take = [done](const CallReply& reply) {
    const auto result = decode_results<nfs3::CommitResult>(reply.results);
    if (!result) {
      done(tl::unexpected(failed(result.error(), "COMMIT")));
    } else if (result->status == nfs3::Status::NFS3ERR_JUKEBOX) {
      return false;
    } else if (result->status != nfs3::Status::NFS3_OK) {
      done(tl::unexpected(refused(result->status, "COMMIT")));
    } else {
      done(to_number(result->ok.verf));
    }
    return true;
  };
  submit(std::move(call));
}

}  // namespace steertag::peer
