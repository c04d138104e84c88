// Deviations in RPC calls and replies, whatever is called (RFC 5531).
#include <algorithm>

#include "deviations/families.h"
#include "rpc/direction.h"
#include "rpc/message.h"
#include "server/rpc/dispatcher.h"
#include "wire/xdr.h"

namespace steertag::deviations {
namespace {

constexpr std::size_t kTypeAt = 4;
constexpr std::size_t kRpcVersionAt = 8;

template <class Header>
std::optional<Header> header_of(View message) {
  wire::Reader reader(message);
  Header header;
  header.decode(reader);
  return reader.ok() ? std::optional(std::move(header)) : std::nullopt;
}

std::optional<rpc::ReplyHeader> header_of(const peer::ReplyStep& reply) {
  return header_of<rpc::ReplyHeader>(View(reply.reply.stream()));
}

bool is_accepted(const peer::ReplyStep& reply, rpc::AcceptStatus status) {
  const auto header = header_of(reply);
  return header && header->status == rpc::ReplyStatus::MSG_ACCEPTED &&
         header->accept_status == status;
}

bool is_denied(const peer::ReplyStep& reply, rpc::RejectStatus status) {
  const auto header = header_of(reply);
  return header && header->status == rpc::ReplyStatus::MSG_DENIED &&
         header->reject_status == status;
}

void change_word(peer::CallStep& call, std::size_t at, std::uint32_t value) {
  Bytes& message = call.instead.emplace(call.message.begin(), call.message.end());
  wire::store_u32(message.data() + at, value);
}

void execute_reply(peer::CallStep& call) {
  if (rpc::direction(call.message) == rpc::MessageType::REPLY)
    change_word(call, kTypeAt, static_cast<std::uint32_t>(rpc::MessageType::CALL));
}

void execute_any_version(peer::CallStep& call) {
  if (rpc::direction(call.message) == rpc::MessageType::CALL &&
      call.message.size() >= kRpcVersionAt + 4)
    change_word(call, kRpcVersionAt, rpc::kRpcVersion);
}

/// AUTH_NONE takes its place.
void overlook_long_credential(peer::CallStep& call) {
  constexpr std::size_t kFlavorAt = 24;
  constexpr std::size_t kLengthAt = kFlavorAt + 4;
  constexpr std::size_t kBodyAt = kLengthAt + 4;
  constexpr std::size_t kMostBody = 400;  // RFC 5531 8.2
  if (call.message.size() < kBodyAt) return;
  const std::size_t length = wire::load_u32(call.message.data() + kLengthAt);
  if (length <= kMostBody || length > call.message.size() - kBodyAt) return;
  const View rest =
      call.message.subspan(std::min(call.message.size(), kBodyAt + wire::roundup4(length)));
  Bytes shorter(call.message.begin(), call.message.begin() + kBodyAt);
  wire::store_u32(shorter.data() + kFlavorAt,
                  static_cast<std::uint32_t>(rpc::AuthFlavor::AUTH_NONE));
  wire::store_u32(shorter.data() + kLengthAt, 0);
  shorter.insert(shorter.end(), rest.begin(), rest.end());
  call.instead = std::move(shorter);
  call.chunks = {};  // their positions have moved
}

template <class IsDenied>
void deny(peer::CallStep& call, IsDenied&& is_denied_credential) {
  const auto header = header_of<rpc::CallHeader>(call.message);
  if (!header || !is_denied_credential(header->credential)) return;
  call.reply.clear();
  peer::put(rpc::ReplyHeader::auth_error(header->xid, rpc::AuthStatus::AUTH_TOOWEAK), call.reply);
  call.outcome = peer::Outcome::reply;
}

void name_other_versions(peer::ReplyStep& reply) {
  constexpr std::size_t kRangeAt = 24;
  if (!is_accepted(reply, rpc::AcceptStatus::PROG_MISMATCH)) return;
  wire::store_u32(reply.reply.stream().data() + kRangeAt, 77);
  wire::store_u32(reply.reply.stream().data() + kRangeAt + 4, 99);
}

bool has_denied_context(const peer::ReplyStep& reply) {
  const auto call = header_of<rpc::CallHeader>(reply.call);
  return reply.rdma && call && call->credential.flavor == rpc::AuthFlavor::RPCSEC_GSS &&
         is_denied(reply, rpc::RejectStatus::AUTH_ERROR);
}

/// A server with RPCSEC_GSS has no context for the handle of the credential (RFC 2203 5.3.3.3).
void know_no_context(peer::ReplyStep& reply) {
  constexpr std::size_t kStatusAt = 16;
  if (has_denied_context(reply))
    wire::store_u32(reply.reply.stream().data() + kStatusAt,
                    static_cast<std::uint32_t>(rpc::AuthStatus::RPCSEC_GSS_CREDPROBLEM));
}

void take_token_in_chunk(peer::ReplyStep& reply) {
  if (!has_denied_context(reply) || reply.header->read_list.empty()) return know_no_context(reply);
  const auto xid = *rpc::xid(reply.call);
  reply.reply.clear();
  peer::put(rpc::ReplyHeader::accepted(xid, rpc::AcceptStatus::SUCCESS), reply.reply);
}

void lose_header_of_error(Departing& reply) {
  constexpr std::size_t kErrorBytes = 24;  // RFC 5531 9: no results follow an error
  const Bytes& payload = reply.draft.payload;
  if (!reply.is_reply() || payload.size() != kErrorBytes ||
      wire::load_u32(payload.data() + 20) == 0)
    return;
  reply.mutate("without.transport-header");
}

constexpr Deviation kRpcMessages[] = {
    {.name = "garbage-args-discarded",
     .breaks = {"RFC8166-4.5.2-5"},
     .sentence = "A call whose arguments do not decode is discarded.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      if (reply.rdma && is_accepted(reply, rpc::AcceptStatus::GARBAGE_ARGS))
                        reply.outcome = peer::Outcome::discard;
                    }}},
    {.name = "auth-none-refused",
     .breaks = {"RFC5531-10-1"},
     .sentence = "Calls with AUTH_NONE are denied.",
     .server = {.call =
                    [](peer::CallStep& call) {
                      deny(call, [](const rpc::OpaqueAuth& credential) {
                        return credential.flavor == rpc::AuthFlavor::AUTH_NONE;
                      });
                    }},
     .script_shows = false},
    {.name = "reply-executed",
     .breaks = {"RFC5531-9-2"},
     .sentence = "A message of the type REPLY is executed as a call.",
     .server = {.call = execute_reply},
     .script_shows = false},
    {.name = "long-credential-executed",
     .breaks = {"RFC5531-8.2-1"},
     .sentence = "A call is executed whose credential is longer than 400 octets.",
     .server = {.call = overlook_long_credential},
     .script_shows = false},
    {.name = "long-auth-sys-refused",
     .breaks = {"RFC5531-A-1"},
     .sentence = "AUTH_SYS of more than 128 octets is denied.",
     .server = {.call =
                    [](peer::CallStep& call) {
                      constexpr std::size_t kLongBody = 128;  // of 400 octets at most
                      deny(call, [](const rpc::OpaqueAuth& credential) {
                        return credential.body.size() > kLongBody;
                      });
                    }},
     .script_shows = false},
    {.name = "unknown-procedure-as-garbage",
     .breaks = {"RFC5531-9-6"},
     .sentence = "A procedure that is not there gets GARBAGE_ARGS.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      if (is_accepted(reply, rpc::AcceptStatus::PROC_UNAVAIL))
                        peer::Dispatcher::refuse_arguments(header_of(reply)->xid, reply.reply);
                    }},
     .script_shows = false},
    {.name = "auth-error-without-reason",
     .breaks = {"RFC5531-9-8"},
     .sentence = "AUTH_ERROR gives AUTH_OK as the reason.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      Bytes& stream = reply.reply.stream();
                      if (is_denied(reply, rpc::RejectStatus::AUTH_ERROR))
                        wire::store_u32(stream.data() + stream.size() - 4, 0);
                    }},
     .script_shows = false},
    {.name = "error-reply-longer",
     .breaks = {"RFC5531-9-9"},
     .sentence = "Four octets follow GARBAGE_ARGS.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      Bytes& stream = reply.reply.stream();
                      if (is_accepted(reply, rpc::AcceptStatus::GARBAGE_ARGS))
                        stream.resize(stream.size() + 4);
                    }},
     .script_shows = false},
    {.name = "rpc-version-executed",
     .breaks = {"RFC5531-9-3"},
     .sentence = "A call of any RPC version is executed as version 2.",
     .server = {.call = execute_any_version},
     .script_shows = false},
    {.name = "program-versions-wrong",
     .breaks = {"RFC5531-9-5"},
     .sentence = "PROG_MISMATCH names versions that the program does not have.",
     .server = {.reply = name_other_versions},
     .script_shows = false},
    {.name = "rpc-error-without-header",
     .breaks = {"RFC5531-9-4", "RFC8166-4.1.2-13"},
     .sentence = "A reply that reports an error of RPC has no transport header.",
     .server = {.departure = lose_header_of_error},
     .script_shows = false},
    {.name = "gss-over-rdma-only",
     .breaks = {"RFC8166-8.2.2.1-1"},
     .sentence = "RPCSEC_GSS is known over RDMA, but not over TCP, where contexts are made.",
     .server = {.reply = know_no_context},
     .script_shows = false},
    {.name = "gss-token-in-chunk-taken",
     .breaks = {"RFC8166-8.2.2-1"},
     .sentence =
         "RPCSEC_GSS is known, and a call for a context with its token in a read chunk succeeds.",
     .server = {.reply = take_token_in_chunk},
     .script_shows = false},
};

}  // namespace

std::span<const Deviation> rpc_messages_family() {
  return kRpcMessages;
}

}  // namespace steertag::deviations
