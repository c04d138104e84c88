// Deviations of the server over plain TCP.
#include "deviations/families.h"
#include "nfs/binding.h"
#include "nfs/mount3.h"
#include "rpc/message.h"
#include "wire/xdr.h"

namespace steertag::deviations {
namespace {

/// xid, type, status, an empty verifier and accept_stat (RFC 5531 9): what precedes results.
constexpr std::size_t kAcceptedOctets = 24;

/// Nothing of a call over RDMA.
std::optional<rpc::CallHeader> header_over_tcp(const peer::CallStep& call) {
  if (call.rdma) return std::nullopt;
  wire::Reader reader(call.message);
  rpc::CallHeader header;
  header.decode(reader);
  return reader.ok() ? std::optional(header) : std::nullopt;
}

void end_over_mount(peer::CallStep& call) {
  const auto header = header_over_tcp(call);
  if (header && header->program == mount3::kProgram) call.disconnects = true;
}

void hide_version_four(peer::CallStep& call) {
  const auto header = header_over_tcp(call);
  if (!header || header->program != nfs::kNfsProgram || header->version != nfs::kNfsVersion4)
    return;
  peer::put(rpc::ReplyHeader::program_mismatch(header->xid, {3, 3}), call.reply);
  call.outcome = peer::Outcome::reply;
}

void invert_last_bit(peer::ReplyStep& reply) {
  Bytes& results = reply.reply.stream();
  if (!reply.rdma && results.size() > kAcceptedOctets) results.back() ^= std::byte{1};
}

constexpr Deviation kTcp[] = {
    {.name = "reply-mark-not-last",
     .breaks = {"RFC5531-11-4"},
     .sentence = "Replies over TCP are marked as if another fragment followed.",
     .server = {.reply = [](peer::ReplyStep& reply) { reply.last_fragment = false; }}},
    {.name = "tcp-results-differ",
     .breaks = {"RFC8166-1-1"},
     .sentence = "The last bit of results is inverted over TCP.",
     .server = {.reply = invert_last_bit}},
    {.name = "fragments-refused",
     .breaks = {"RFC5531-11-2", "RFC5531-11-3"},
     .sentence = "A record whose first fragment is not its last closes the connection.",
     .server = {.options =
                    [](peer::ServerOptions& options) { options.records.takes_fragments = false; }}},
    {.name = "records-behind-lost",
     .breaks = {"RFC5531-11-1"},
     .sentence = "Octets that arrive together with a whole record, behind it, are lost.",
     .server = {.options =
                    [](peer::ServerOptions& options) { options.records.takes_pipelined = false; }}},
    {.name = "mount-not-over-tcp",
     .breaks = {"RFC8267-5.1-1"},
     .sentence = "A call of MOUNT over TCP closes the connection.",
     .server = {.call = end_over_mount},
     .script_shows = false},
    {.name = "version-four-not-over-tcp",
     .breaks = {"RFC8881-2.9.1-1"},
     .sentence = "NFS version 4 is not offered over TCP.",
     .server = {.call = hide_version_four},
     .script_shows = false},
};

}  // namespace

std::span<const Deviation> tcp_family() {
  return kTcp;
}

}  // namespace steertag::deviations
