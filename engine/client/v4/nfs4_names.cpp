// Names, attributes and directories of remote files over NFS version 4.1.
#include <algorithm>

#include "client/files/cookie_watch.h"
#include "client/files/path_walk.h"
#include "client/v4/nfs4_files.h"
#include "client/v4/remote_attributes.h"
#include "nfs/v4/attribute_numbers.h"

namespace steertag::peer {
namespace {

using nfs4::Opnum;
using nfs4::Status;
using Done = Expected<void, FileError>;

/// Largest listing that is asked for.
constexpr std::uint32_t kMostListing = 65536;

}  // namespace

Expected<RemoteObject, FileError> Nfs4Files::lookup(const RemoteHandle& directory,
                                                    std::string_view name) {
  ClientCompound call;
  call.add_handle(directory);
  call.add(Opnum::OP_LOOKUP, nfs4::LookupArgs{name});
  call.add(Opnum::OP_GETFH);
  call.add(Opnum::OP_GETATTR, nfs4::GetattrArgs{object_attributes()});
  return session_.wait(
      std::move(call), [](CompoundReply& reply) -> Expected<RemoteObject, FileError> {
        if (auto skipped = reply.skip({Opnum::OP_PUTFH, Opnum::OP_LOOKUP}); !skipped)
          return tl::unexpected(std::move(skipped.error()));
        return take_object(reply);
      });
}

Expected<RemoteObject, FileError> Nfs4Files::find(std::string_view path, bool follow) {
  const PathSteps steps{[this](const RemoteHandle& directory, std::string_view name) {
                          return lookup(directory, name);
                        },
                        [this](const RemoteHandle& link) { return read_link(link); }};
  return walk_path(root_, path, follow, steps);
}

Expected<RemoteAttributes, FileError> Nfs4Files::attributes(const RemoteHandle& object) {
  ClientCompound call;
  call.add_handle(object);
  call.add(Opnum::OP_GETATTR, nfs4::GetattrArgs{object_attributes()});
  return session_.wait(std::move(call),
                       [](CompoundReply& reply) -> Expected<RemoteAttributes, FileError> {
                         if (auto skipped = reply.skip(Opnum::OP_PUTFH); !skipped)
                           return tl::unexpected(std::move(skipped.error()));
                         return take_attributes(reply);
                       });
}

Expected<std::string, FileError> Nfs4Files::read_link(const RemoteHandle& link) {
  ClientCompound call;
  call.add_handle(link);
  call.add(Opnum::OP_READLINK);
  return session_.wait(std::move(call),
                       [](CompoundReply& reply) -> Expected<std::string, FileError> {
                         if (auto skipped = reply.skip(Opnum::OP_PUTFH); !skipped)
                           return tl::unexpected(std::move(skipped.error()));
                         return reply.next_link();
                       });
}

Done Nfs4Files::list_by(const RemoteHandle& directory, const nfs4::Bitmap& attributes,
                        const EntryVisit& visit) {
  nfs4::ReaddirArgs args;
  args.dircount = args.maxcount = std::min(kMostListing, limits().read_bytes);
  args.attr_request = attributes;
  std::uint64_t listed = 0;
  CookieWatch watch;
  const auto take = [&](CompoundReply& reply) -> Expected<bool, FileError> {  // whether more follow
    if (auto skipped = reply.skip(Opnum::OP_PUTFH); !skipped)
      return tl::unexpected(std::move(skipped.error()));
    const auto result = reply.next<nfs4::ReaddirResult>(Opnum::OP_READDIR);
    if (!result) return tl::unexpected(result.error());
    for (const nfs4::Entry& entry : result->resok4.entries.items) {
      ++listed;
      args.cookie = entry.cookie;
      const auto wanted = visit(entry);
      if (!wanted || !*wanted) return wanted;
    }
    args.cookieverf = result->resok4.cookieverf;
    if (!result->resok4.eof && result->resok4.entries.items.empty())
      return tl::unexpected(
          FileError{FileErrc::bad_results, "READDIR: no entry, and no end", 0, {}});
    if (!result->resok4.eof && !watch.goes_on(args.cookie))
      return tl::unexpected(
          FileError{FileErrc::bad_results, "READDIR: the cookies go round", 0, {}});
    return !result->resok4.eof;
  };
  while (listed < kMostListed) {
    ClientCompound call;
    call.add_handle(directory);
    call.add(Opnum::OP_READDIR, args);
    const auto more = session_.wait(std::move(call), take);
    if (!more) return tl::unexpected(more.error());
    if (!*more) return {};
  }
  return tl::unexpected(FileError{FileErrc::too_long, "a directory", 0, {}});
}

Done Nfs4Files::list(const RemoteHandle& directory, const EntrySink& sink) {
  return list_by(directory, entry_attributes(),
                 [&](const nfs4::Entry& entry) -> Expected<bool, FileError> {
                   const auto values = typed(entry.attrs, "READDIR");
                   if (!values) return tl::unexpected(values.error());
                   RemoteEntry told{entry.name, std::nullopt, {}};
                   if (values->type) told.attributes = from_nfs4(*values);
                   if (values->filehandle) told.handle = RemoteHandle(values->filehandle->view());
                   return sink(told);
                 });
}

Done Nfs4Files::list_names(const RemoteHandle& directory, const NameSink& sink) {
  const auto visit = [&](const nfs4::Entry& entry) { return sink(entry.name); };
  return list_by(directory, name_attributes(), visit);
}

Done Nfs4Files::remove(const RemoteHandle& directory, std::string_view name) {
  ClientCompound call;
  call.add_handle(directory);
  call.add(Opnum::OP_REMOVE, nfs4::RemoveArgs{name});
  call.keep_reply();
  return session_.wait(std::move(call), [](CompoundReply& reply) {
    return reply.skip({Opnum::OP_PUTFH, Opnum::OP_REMOVE});
  });
}

Done Nfs4Files::rename(const RemoteHandle& directory, std::string_view from, std::string_view to) {
  const auto source = lookup(directory, from);
  if (!source) return tl::unexpected(source.error());
  ClientCompound call;
  call.add_handle(directory);
  call.add(Opnum::OP_SAVEFH);
  call.add(Opnum::OP_RENAME, nfs4::RenameArgs{from, to});
  call.keep_reply();
  Done renamed = session_.wait(std::move(call), [](CompoundReply& reply) {
    return reply.skip({Opnum::OP_PUTFH, Opnum::OP_SAVEFH, Opnum::OP_RENAME});
  });
  if (renamed) return renamed;
  // A call that was made again in another session may have been executed before.
  if (renamed.error().status == static_cast<std::uint32_t>(Status::NFS4ERR_NOENT)) {
    const auto moved = lookup(directory, to);
    if (moved && moved->handle == source->handle) return {};
  }
  return renamed;
}

}  // namespace steertag::peer
