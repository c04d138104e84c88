// Deviations in calls that are repeated after a lost connection (RFC 1813 4.5, RFC 7530 9.1.7).
#include <algorithm>

#include "deviations/families.h"
#include "deviations/server/compound.h"
#include "nfs/nfs3_args.h"
#include "nfs/nfs3_procedures.h"
#include "nfs/v4/directory_ops.h"
#include "nfs/v4/open_ops.h"
#include "rpc/message.h"
#include "wire/header.h"
#include "wire/xdr.h"

namespace steertag::deviations {
namespace {

/// `change(nfs3::Verifier&, xid)` of an exclusive CREATE.
template <class Change>
void change_verifier(peer::CallStep& call, Change&& change) {
  wire::Reader reader(call.message);
  rpc::CallHeader header;
  header.decode(reader);
  if (!reader.ok() || header.program != nfs3::kProgram || header.version != nfs3::kVersion ||
      header.procedure != static_cast<std::uint32_t>(nfs3::Procedure::NFSPROC3_CREATE))
    return;
  const std::size_t arguments_at = call.message.size() - reader.remaining();
  nfs3::CreateArgs args;
  args.decode(reader);
  if (!reader.ok() || args.how.mode != nfs3::CreateMode::EXCLUSIVE) return;
  change(args.how.verf, header.xid);
  Bytes& message = call.instead.emplace(call.message.begin(),
                                        call.message.begin() + std::ptrdiff_t(arguments_at));
  wire::Writer writer(message);
  args.encode(writer);
}

/// Its last word is the XID's.
void mix_xid_into_verifier(peer::CallStep& call) {
  change_verifier(call, [](nfs3::Verifier& verifier, std::uint32_t xid) {
    wire::store_u32(verifier.data() + verifier.size() - 4, xid);
  });
}

void clear_half_verifier(peer::CallStep& call) {
  change_verifier(call, [](nfs3::Verifier& verifier, std::uint32_t) {
    std::fill(verifier.begin() + verifier.size() / 2, verifier.end(), std::byte{0});
  });
}

void clear_verifier(peer::CallStep& call) {
  change_verifier(call, [](nfs3::Verifier& verifier, std::uint32_t) { verifier.fill({}); });
}

/// The last word of the verifier, which WRITE and COMMIT have at the end of their results.
void mix_connection_into_verifier(peer::ReplyStep& reply) {
  wire::Reader call(reply.call);
  rpc::CallHeader header;
  header.decode(call);
  const auto is = [&](nfs3::Procedure procedure) {
    return header.procedure == static_cast<std::uint32_t>(procedure);
  };
  if (!call.ok() || header.program != nfs3::kProgram || header.version != nfs3::kVersion ||
      (!is(nfs3::Procedure::NFSPROC3_WRITE) && !is(nfs3::Procedure::NFSPROC3_COMMIT)))
    return;
  Bytes& stream = reply.reply.stream();
  wire::Reader results(stream);
  rpc::ReplyHeader head;
  head.decode(results);
  if (!results.ok() || !head.success() || results.u32("status") != 0) return;
  std::byte* const last = stream.data() + stream.size() - 4;
  wire::store_u32(last, wire::load_u32(last) + static_cast<std::uint32_t>(reply.connection));
}

/// An owner of minor version 0 gets the number of the connection as its name.
void bind_owner_to_connection(peer::CallStep& call) {
  if (find_arguments(message_of(call), nfs4::Opnum::OP_SEQUENCE)) return;
  Bytes name;
  wire::Writer(name).u64(call.connection);
  change_arguments<nfs4::OpenArgs>(call, nfs4::Opnum::OP_OPEN,
                                   [&](nfs4::OpenArgs& args) { args.owner.owner = View(name); });
}

void note_calls_of_lost_connection(const fabric::CloseReason& /*reason*/, History& history) {
  history.server->lost_calls.insert(history.calls.begin(), history.calls.end());
}

/// The call with RENAME of version 3 the other way; nothing of another call.
std::optional<Bytes> undone_nfs3(View call) {
  wire::Reader reader(call);
  rpc::CallHeader header;
  header.decode(reader);
  if (!reader.ok() || header.program != nfs3::kProgram || header.version != nfs3::kVersion ||
      header.procedure != static_cast<std::uint32_t>(nfs3::Procedure::NFSPROC3_RENAME))
    return std::nullopt;
  const std::size_t arguments_at = call.size() - reader.remaining();
  nfs3::RenameArgs args;
  args.decode(reader);
  if (!reader.ok()) return std::nullopt;
  std::swap(args.from, args.to);
  Bytes undone(call.begin(), call.begin() + std::ptrdiff_t(arguments_at));
  wire::Writer writer(undone);
  args.encode(writer);
  return undone;
}

/// The same of a COMPOUND of minor version 0.
std::optional<Bytes> undone_nfs4(View call) {
  if (find_arguments(call, nfs4::Opnum::OP_SEQUENCE)) return std::nullopt;
  const auto span = find_arguments(call, nfs4::Opnum::OP_RENAME);
  const auto octets = changed<nfs4::RenameArgs>(
      call, span, [](nfs4::RenameArgs& args) { std::swap(args.oldname, args.newname); });
  if (!octets) return std::nullopt;
  Bytes undone(call.begin(), call.begin() + std::ptrdiff_t(span->begin));
  undone.insert(undone.end(), octets->begin(), octets->end());
  undone.insert(undone.end(), call.begin() + std::ptrdiff_t(span->end), call.end());
  return undone;
}

/// The repeated RENAME goes the other way: it succeeds, and nothing is renamed any more.
void undo_repeated_rename(Arriving& arriving) {
  wire::Header header;
  const auto payload = wire::decode(arriving.message(), header);
  if (!payload || !arriving.history.server->lost_calls.contains(header.xid)) return;
  std::optional<Bytes> undone = undone_nfs3(*payload);
  if (!undone) undone = undone_nfs4(*payload);
  if (!undone) return;
  Bytes message;
  wire::encode(header, message);
  message.insert(message.end(), undone->begin(), undone->end());
  arriving.replace(std::move(message));
}

constexpr Deviation kRetries[] = {
    {.name = "retries-executed-again",
     .breaks = {"RFC1813-4.5-1", "RFC7530-16.33.5-1"},
     .sentence = "A call that is repeated over another connection is executed again.",
     .server = {.options =
                    [](peer::ServerOptions& options) { options.retries.keeps_replies = false; }},
     .script_shows = false},
    {.name = "retries-known-by-port",
     .breaks = {"RFC1813-4.5-1"},
     .sentence = "A call that is repeated from another port is executed again.",
     .server = {.options =
                    [](peer::ServerOptions& options) { options.retries.takes_any_port = false; }},
     .script_shows = false},
    {.name = "retries-known-by-xid",
     .breaks = {"RFC1813-4.5-2"},
     .sentence = "Another call with the XID of an earlier one gets the reply of that one.",
     .server = {.options =
                    [](peer::ServerOptions& options) { options.retries.compares_calls = false; }},
     .script_shows = false},
    {.name = "retries-executed-behind-reply",
     .breaks = {"RFC1813-4.5-3"},
     .sentence = "A call that is repeated gets its first reply, and is executed again.",
     .server = {.options =
                    [](peer::ServerOptions& options) { options.retries.executes_once = false; }},
     .script_shows = false},
    {.name = "retries-get-last-reply",
     .breaks = {"RFC1813-4.5-1"},
     .sentence = "A call that is repeated gets the reply that was kept last.",
     .server = {.options =
                    [](peer::ServerOptions& options) { options.retries.gives_own_reply = false; }},
     .script_shows = false},
    {.name = "large-retries-executed-again",
     .breaks = {"RFC1813-4.5-1"},
     .sentence = "A call of more than 512 octets that is repeated is executed again.",
     .server = {.options =
                    [](peer::ServerOptions& options) { options.retries.keeps_large = false; }},
     .script_shows = false},
    {.name = "repeated-rename-undone",
     .breaks = {"RFC1813-4.5-1", "RFC7530-16.33.5-1"},
     .sentence =
         "RENAME that is repeated over another connection succeeds, and nothing is renamed.",
     .server = {.arrival = undo_repeated_rename, .down = note_calls_of_lost_connection},
     .script_shows = false},
    {.name = "exclusive-create-by-xid",
     .breaks = {"RFC1813-3.3.8-1"},
     .sentence = "The verifier of an exclusive CREATE is another one under each XID.",
     .server = {.call = mix_xid_into_verifier},
     .script_shows = false},
    {.name = "exclusive-create-of-anyone",
     .breaks = {"RFC1813-3.3.8-2"},
     .sentence = "The verifier of an exclusive CREATE is not compared.",
     .server = {.call = clear_verifier},
     .script_shows = false},
    {.name = "exclusive-create-half-verifier",
     .breaks = {"RFC1813-3.3.8-2"},
     .sentence = "Only the first half of the verifier of an exclusive CREATE is compared.",
     .server = {.call = clear_half_verifier},
     .script_shows = false},
    {.name = "write-verifier-of-connection",
     .breaks = {"RFC1813-3.3.7-1", "RFC8166-1-1"},
     .sentence = "The write verifier of version 3 is another one on each connection.",
     .server = {.reply = mix_connection_into_verifier},
     .script_shows = false},
    {.name = "failed-seqid-left",
     .breaks = {"RFC7530-9.1.7-1", "RFC7530-9.1.7-2"},
     .sentence = "A request of minor version 0 that fails does not use up its seqid.",
     .server = {.options =
                    [](peer::ServerOptions& options) {
                      options.states.failures_use_seqids = false;
                    }},
     .script_shows = false},
    {.name = "open-owner-of-connection",
     .breaks = {"RFC7530-9.1.7-1"},
     .sentence = "An open-owner of minor version 0 is another one on each connection.",
     .server = {.call = bind_owner_to_connection},
     .script_shows = false},
};

}  // namespace

std::span<const Deviation> retries_family() {
  return kRetries;
}

}  // namespace steertag::deviations
