// Deviations in what becomes of messages that RFC 8166 4.5 has refused or discarded.
#include <algorithm>

#include "deviations/families.h"
#include "nfs/nfs3_args.h"
#include "nfs/nfs3_procedures.h"
#include "nfs/v4/compound.h"
#include "rpc/direction.h"
#include "rpc/message.h"
#include "wire/xdr.h"

namespace steertag::deviations {
namespace {

using wire::Procedure;

bool has_procedure(const Arriving& arriving, Procedure procedure) {
  const auto words = wire::peek(arriving.message());
  return words && arriving.message().size() >= wire::kSmallestHeaderBytes &&
         words->vers == wire::kVersion && words->proc == static_cast<std::uint32_t>(procedure);
}

bool has_unknown_procedure(const Arriving& arriving) {
  const auto words = wire::peek(arriving.message());
  return words && arriving.message().size() >= wire::kSmallestHeaderBytes &&
         words->vers == wire::kVersion &&
         words->proc > static_cast<std::uint32_t>(Procedure::error);
}

/// A call of version 1 whose chunk lists do not decode, or whose rdma_proc has no meaning.
bool is_broken(const Arriving& arriving) {
  const View message = arriving.message();
  const auto words = wire::peek(message);
  if (!words || message.size() < wire::kSmallestHeaderBytes || words->vers != wire::kVersion)
    return false;
  for (const Procedure apart : {Procedure::msgp, Procedure::done, Procedure::error}) {
    if (words->proc == static_cast<std::uint32_t>(apart)) return false;
  }
  wire::Header header;
  return !wire::decode(message, header);
}

void execute_any_header_version(Arriving& arriving) {
  const auto words = wire::peek(arriving.message());
  if (words && words->vers != wire::kVersion) arriving.mutate("version.1");
}

void execute_any_procedure(Arriving& arriving) {
  if (has_unknown_procedure(arriving)) arriving.mutate("procedure.0");
}

/// Whether a call ends inside its RPC header, the arguments of WRITE or the tag of COMPOUND.
bool call_ends_early(View payload) {
  wire::Reader reader(payload);
  rpc::CallHeader call;
  call.decode(reader);
  if (!reader.ok()) return true;
  if (call.program == nfs4::kProgram && call.version == nfs4::kVersion &&
      call.procedure == nfs4::NFSPROC4_COMPOUND) {
    nfs4::CompoundArgs compound;
    compound.decode(reader);
    return !reader.ok();
  }
  if (call.program != nfs3::kProgram || call.version != nfs3::kVersion ||
      call.procedure != static_cast<std::uint32_t>(nfs3::Procedure::NFSPROC3_WRITE))
    return false;
  nfs3::WriteArgs args;
  args.decode(reader);
  return !reader.ok();
}

/// A short message, one that ends in its chunk lists, or an inline call that ends early.
bool ends_early(View message) {
  if (message.size() < wire::kSmallestHeaderBytes) return true;
  wire::Header header;
  const auto payload = wire::decode(message, header);
  if (!payload) return wire::peek(message)->vers == wire::kVersion;
  return header.proc == Procedure::msg && header.read_list.empty() &&
         rpc::direction(*payload) != rpc::MessageType::REPLY && call_ends_early(*payload);
}

void note_long_call(Arriving& arriving) {
  if (has_procedure(arriving, Procedure::nomsg))
    arriving.history.server->long_call = wire::peek(arriving.message())->xid;
}

/// All long calls are pulled to the same memory, which keeps what earlier ones have left there.
void keep_old_pulled(peer::CallStep& call, ServerHistory& server) {
  if (!server.long_call || rpc::xid(call.message) != server.long_call) return;
  Bytes& pulled = server.pulled;
  const bool early = call_ends_early(call.message) && call.message.size() < pulled.size();
  pulled.resize(std::max(pulled.size(), call.message.size()));
  std::ranges::copy(call.message, pulled.begin());
  if (early) call.instead = pulled;
}

/// All receives are one, in which the octets behind a message are those of earlier ones.
void keep_old_length(Arriving& arriving, Bytes& receive) {
  const View message = arriving.message();
  const bool early = ends_early(message) && message.size() < receive.size();
  receive.resize(std::max(receive.size(), message.size()));
  std::ranges::copy(message, receive.begin());
  if (early) arriving.replace(receive);
}

/// Walks the chunk lists of a message and rewrites single words; stops at the end of the message.
class ListWalk {
 public:
  explicit ListWalk(View message) : message_(message.begin(), message.end()) {}

  Bytes with_presence_words_of_one() {
    run([](std::byte* word) { wire::store_u32(word, 1); }, [](std::byte* /*word*/) {});
    return std::move(message_);
  }
  Bytes with_aligned_positions() {
    run([](std::byte* /*word*/) {},
        [](std::byte* word) { wire::store_u32(word, wire::load_u32(word) & ~3U); });
    return std::move(message_);
  }

 private:
  template <class Present, class Position>
  void run(Present&& present, Position&& position) {
    while (has_entry(present)) {
      if (at_ + wire::kReadSegmentBytes > message_.size()) return;
      position(word());
      at_ += wire::kReadSegmentBytes;
    }
    while (has_entry(present)) skip_chunk();
    has_entry(present);
  }
  template <class Present>
  bool has_entry(Present&& present) {
    if (at_ + 4 > message_.size()) return false;
    const bool found = wire::load_u32(word()) != 0;
    if (found) present(word());
    at_ += 4;
    return found;
  }
  void skip_chunk() {
    if (at_ + 4 > message_.size()) return;
    const std::uint64_t bytes = wire::kSegmentBytes * std::uint64_t{wire::load_u32(word())};
    at_ = bytes > message_.size() ? message_.size() : at_ + 4 + static_cast<std::size_t>(bytes);
  }
  std::byte* word() { return message_.data() + at_; }

  Bytes message_;
  std::size_t at_ = wire::kFixedBytes;
};

/// Without a Position Zero chunk that holds octets.
bool holds_no_call(const Arriving& arriving) {
  wire::Header header;
  if (!wire::decode(arriving.message(), header) || header.proc != Procedure::nomsg) return false;
  for (const wire::ReadSegment& segment : header.read_list) {
    if (segment.position == 0 && segment.target.length > 0) return false;
  }
  return true;
}

/// Discarded by a server that conforms.
void lose_receive(Arriving& arriving) {
  const View message = arriving.message();
  wire::Header header;
  const auto payload = wire::decode(message, header);
  const bool discarded = message.size() < wire::kSmallestHeaderBytes ||
                         has_procedure(arriving, Procedure::done) ||
                         has_procedure(arriving, Procedure::error) ||
                         (payload && rpc::direction(*payload) == rpc::MessageType::REPLY);
  if (discarded) arriving.take_with_receive();
}

constexpr Deviation kHeaderFaults[] = {
    {.name = "version-executed",
     .breaks = {"RFC8166-4.5.1-1"},
     .sentence = "A call of any version is executed as version 1.",
     .server = {.arrival = execute_any_header_version}},
    {.name = "short-message-answered",
     .breaks = {"RFC8166-4.5-1"},
     .sentence = "A message below 28 octets is answered with ERR_CHUNK.",
     .server = {.arrival =
                    [](Arriving& arriving) {
                      if (arriving.message().size() < wire::kSmallestHeaderBytes) arriving.refuse();
                    }}},
    {.name = "receive-keeps-old-length",
     .breaks = {"RFC5531-9-7", "RFC8166-4.5-1", "RFC8166-4.5.2-1"},
     .sentence = "A message that ends early goes on with the octets of an earlier one.",
     .server = {.arrival =
                    [](Arriving& arriving) {
                      keep_old_length(arriving, arriving.history.receive);
                    }},
     .script_shows = false},
    {.name = "receive-keeps-others-octets",
     .breaks = {"RFC5531-9-7"},
     .sentence = "A message that ends early goes on with the octets of one of another connection.",
     .server = {.arrival =
                    [](Arriving& arriving) {
                      keep_old_length(arriving, arriving.history.server->receive);
                    }},
     .script_shows = false},
    {.name = "long-call-keeps-old-length",
     .breaks = {"RFC5531-9-7"},
     .sentence = "A long call that ends early goes on with the octets of an earlier one.",
     .server = {.arrival = note_long_call, .later_call = keep_old_pulled},
     .script_shows = false},
    {.name = "done-answered",
     .breaks = {"RFC8166-4.6.2-2"},
     .sentence = "RDMA_DONE is answered with ERR_CHUNK.",
     .server = {.arrival =
                    [](Arriving& arriving) {
                      if (has_procedure(arriving, Procedure::done)) arriving.refuse();
                    }}},
    {.name = "error-answered",
     .breaks = {"RFC8166-4.2.4-5", "RFC8166-4.5-9"},
     .sentence = "RDMA_ERROR is answered with ERR_CHUNK.",
     .server = {.arrival =
                    [](Arriving& arriving) {
                      if (has_procedure(arriving, Procedure::error)) arriving.refuse();
                    }}},
    {.name = "error-disconnects",
     .breaks = {"RFC8166-4.2.4-5"},
     .sentence = "An RDMA_ERROR of the client ends the connection.",
     .server = {.arrival =
                    [](Arriving& arriving) {
                      const auto words = wire::peek(arriving.message());
                      if (words && words->proc == static_cast<std::uint32_t>(Procedure::error))
                        arriving.abort();
                    }},
     .script_shows = false},
    {.name = "msgp-discarded",
     .breaks = {"RFC8166-4.6.1-2"},
     .sentence = "RDMA_MSGP is discarded.",
     .server = {.arrival =
                    [](Arriving& arriving) {
                      if (has_procedure(arriving, Procedure::msgp)) arriving.take();
                    }}},
    {.name = "unknown-proc-discarded",
     .breaks = {"RFC8166-4.5.2-2"},
     .sentence = "A message with an unknown rdma_proc is discarded.",
     .server = {.arrival =
                    [](Arriving& arriving) {
                      if (has_unknown_procedure(arriving)) arriving.take();
                    }}},
    {.name = "unknown-proc-executed",
     .breaks = {"RFC8166-4.5.2-2"},
     .sentence = "A message with an unknown rdma_proc is executed as RDMA_MSG.",
     .server = {.arrival = execute_any_procedure}},
    {.name = "broken-list-discarded",
     .breaks = {"RFC8166-4.5.2-1"},
     .sentence = "A call whose chunk lists do not decode is discarded.",
     .server = {.arrival =
                    [](Arriving& arriving) {
                      if (is_broken(arriving)) arriving.take();
                    }}},
    {.name = "broken-list-disconnects",
     .breaks = {"RFC8166-4.5-2"},
     .sentence = "A call whose chunk lists do not decode closes the connection.",
     .server = {.arrival =
                    [](Arriving& arriving) {
                      if (!is_broken(arriving)) return;
                      arriving.take();
                      arriving.connection->disconnect();
                    }}},
    {.name = "exits-on-broken-list",
     .breaks = {"RFC8166-4.5-2"},
     .sentence = "A call whose chunk lists do not decode ends the server.",
     .server = {.arrival =
                    [](Arriving& arriving) {
                      if (is_broken(arriving)) arriving.history.server->ends = true;
                    }}},
    {.name = "hangs-on-broken-list",
     .breaks = {"RFC8166-4.5-2"},
     .sentence = "After a call whose chunk lists do not decode the server does nothing any more.",
     .server = {.arrival =
                    [](Arriving& arriving) {
                      if (is_broken(arriving)) arriving.history.server->hangs = true;
                    }}},
    {.name = "presence-word-truthy",
     .breaks = {"RFC8166-4.5.2-1"},
     .sentence = "Any presence word but 0 counts as 1.",
     .server = {.arrival =
                    [](Arriving& arriving) {
                      if (is_broken(arriving))
                        arriving.replace(ListWalk(arriving.message()).with_presence_words_of_one());
                    }}},
    {.name = "position-unaligned-accepted",
     .breaks = {"RFC8166-4.5.2-1"},
     .sentence = "A read segment's position is rounded down to a multiple of four.",
     .server = {.arrival =
                    [](Arriving& arriving) {
                      if (is_broken(arriving))
                        arriving.replace(ListWalk(arriving.message()).with_aligned_positions());
                    }}},
    {.name = "nomsg-without-chunk-discarded",
     .breaks = {"RFC8166-4.5.2-3"},
     .sentence = "RDMA_NOMSG without any chunk is discarded.",
     .server = {.arrival =
                    [](Arriving& arriving) {
                      if (has_procedure(arriving, Procedure::nomsg) &&
                          arriving.message().size() == wire::kSmallestHeaderBytes)
                        arriving.take();
                    }}},
    {.name = "nomsg-without-call-discarded",
     .breaks = {"RFC8166-4.2.4-8"},
     .sentence = "RDMA_NOMSG whose chunks hold no RPC call is discarded.",
     .server = {.arrival =
                    [](Arriving& arriving) {
                      if (holds_no_call(arriving)) arriving.take();
                    }},
     .script_shows = false},
    {.name = "empty-send-disconnects",
     .breaks = {"RFC8166-4.5-1"},
     .sentence = "A Send without an octet ends the connection.",
     .server = {.arrival =
                    [](Arriving& arriving) {
                      if (arriving.message().empty()) arriving.abort();
                    }},
     .script_shows = false},
    {.name = "receive-not-reposted",
     .breaks = {"RFC8166-3.3.1-9"},
     .sentence = "A receive that carried a discarded message is never posted again.",
     .server = {.arrival = lose_receive}},
    {.name = "receive-lost-to-error",
     .breaks = {"RFC8166-3.3.1-9"},
     .sentence = "A receive that carried a message answered with ERR_CHUNK is never posted again.",
     .server = {.arrival =
                    [](Arriving& arriving) {
                      if (!is_broken(arriving) && !has_procedure(arriving, Procedure::msgp)) return;
                      arriving.refuse();
                      arriving.take_with_receive();
                    }},
     .script_shows = false},
};

}  // namespace

std::span<const Deviation> header_faults_family() {
  return kHeaderFaults;
}

}  // namespace steertag::deviations
