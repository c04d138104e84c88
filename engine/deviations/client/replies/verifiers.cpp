// Deviations of the client: status and verifiers of replies (RFC 5531 9, appendix A).
#include <algorithm>

#include "deviations/families.h"
#include "rpc/message.h"
#include "wire/xdr.h"

namespace steertag::deviations {
namespace {

constexpr std::size_t kCallCredentialAt = 24;  // in a call
constexpr std::size_t kReplyStatusAt = 8;      // in a reply

/// The verifier of AUTH_SHORT of a reply.
std::optional<View> shorthand_of(const ArrivingMessage& arriving) {
  const auto decoded = decode(arriving.message());
  if (!decoded || decoded->header.proc != wire::Procedure::msg || !decoded->is_reply())
    return std::nullopt;
  wire::Reader reader(decoded->payload);
  rpc::ReplyHeader reply;
  reply.decode(reader);
  const bool is_short = reader.ok() && reply.status == rpc::ReplyStatus::MSG_ACCEPTED &&
                        reply.verifier.flavor == rpc::AuthFlavor::AUTH_SHORT;
  return is_short ? std::optional(reply.verifier.body) : std::nullopt;
}

void refuse_shorthand(ArrivingMessage& arriving) {
  const auto decoded = shorthand_of(arriving) ? decode(arriving.message()) : std::nullopt;
  if (decoded && arriving.history.find(decoded->header.xid)) arriving.fail(decoded->header.xid);
}

void keep_shorthand(ArrivingMessage& arriving) {
  if (const auto body = shorthand_of(arriving))
    arriving.history.shorthand.emplace(body->begin(), body->end());
}

/// The credential is AUTH_SHORT, without the last octet that the server gave.
void send_cut_shorthand(peer::RequestStep& step, ClientHistory& history) {
  if (step.again || !history.shorthand || history.shorthand->empty()) return;
  Bytes& stream = step.request.stream;
  wire::Reader reader(View(stream).subspan(kCallCredentialAt));
  rpc::OpaqueAuth credential;
  credential.decode(reader);
  if (!reader.ok() || credential.flavor != rpc::AuthFlavor::AUTH_SYS) return;
  const std::size_t end = kCallCredentialAt + reader.offset();
  Bytes made(stream.begin(), stream.begin() + kCallCredentialAt);
  wire::Writer writer(made);
  const View body = View(*history.shorthand).first(history.shorthand->size() - 1);
  rpc::OpaqueAuth{rpc::AuthFlavor::AUTH_SHORT, body}.encode(writer);
  made.insert(made.end(), stream.begin() + static_cast<std::ptrdiff_t>(end), stream.end());
  stream = std::move(made);
}

/// The client sees zero in place of this word of the RPC message.
void clear_word(ArrivingMessage& arriving, const Decoded& decoded, std::size_t at) {
  if (decoded.payload.size() < at + 4) return;
  const View message = arriving.message();
  Bytes made(message.begin(), message.end());
  const std::size_t behind = decoded.payload.size() - at;
  std::fill_n(made.end() - static_cast<std::ptrdiff_t>(behind), 4, std::byte{0});
  arriving.replace(std::move(made));
}

/// Any accepted reply is one with SUCCESS.
void take_any_accepted(ArrivingMessage& arriving) {
  const auto decoded = decode(arriving.message());
  if (!decoded || !decoded->is_reply()) return;
  wire::Reader reader(decoded->payload);
  rpc::ReplyHeader reply;
  reply.decode(reader);
  if (!reader.ok() || reply.status != rpc::ReplyStatus::MSG_ACCEPTED) return;
  const std::size_t verifier_octets = 8 + (reply.verifier.body.size() + 3) / 4 * 4;
  clear_word(arriving, *decoded, kReplyStatusAt + 4 + verifier_octets);
}

/// Any reply is an accepted one.
void take_denied(ArrivingMessage& arriving) {
  const auto decoded = decode(arriving.message());
  if (decoded && decoded->is_reply()) clear_word(arriving, *decoded, kReplyStatusAt);
}

constexpr Deviation kVerifiers[] = {
    {.name = "accept-status-ignored",
     .side = trace::Role::client,
     .breaks = {"RFC5531-9-10"},
     .sentence = "What follows any status of an accepted reply is taken for results.",
     .client = {.arrival = take_any_accepted}},
    {.name = "denial-taken",
     .side = trace::Role::client,
     .breaks = {"RFC5531-9-11"},
     .sentence = "A denied reply is read as an accepted one.",
     .client = {.arrival = take_denied}},
    {.name = "short-verifier-refused",
     .side = trace::Role::client,
     .breaks = {"RFC5531-A-2"},
     .sentence = "A reply with a verifier of AUTH_SHORT fails its call.",
     .client = {.arrival = refuse_shorthand}},
    {.name = "shorthand-cut",
     .side = trace::Role::client,
     .breaks = {"RFC5531-A-3"},
     .sentence = "Calls have a credential of AUTH_SHORT without its last octet.",
     .client = {.request = send_cut_shorthand, .arrival = keep_shorthand}},
};

}  // namespace

std::span<const Deviation> verifiers_family() {
  return kVerifiers;
}

}  // namespace steertag::deviations
