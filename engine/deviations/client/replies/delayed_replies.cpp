// Deviations of the client: what it does about a request that the server puts off.
// RFC 1813 2.6, RFC 8881 15.1.1.3.
#include "deviations/client/client_compound.h"
#include "deviations/families.h"
#include "wire/xdr.h"

namespace steertag::deviations {
namespace {

constexpr std::size_t kCallVersionAt = 16;  // in a call
constexpr std::size_t kCallProcedureAt = 20;
constexpr std::size_t kReplyStatusAt = 24;  // in a reply with an empty verifier
constexpr std::size_t kResultCountAt = 32;  // of the results of a COMPOUND with an empty tag
constexpr std::uint32_t kTryLater = 10008;  // NFS3ERR_JUKEBOX and NFS4ERR_DELAY
constexpr std::uint32_t kCommitProcedure = 21;

/// The call of version 3 that is put off, or that of version 4.1 with an operation behind SEQUENCE
/// that is.
SentCall* delayed_call(const ArrivingMessage& arriving, std::uint32_t version) {
  const auto reply = decode(arriving.message());
  if (!reply || !reply->is_reply() || reply->header.proc != wire::Procedure::msg) return nullptr;
  const View payload = reply->payload;
  const auto has = [&](std::size_t at) { return payload.size() >= at + 4; };
  if (!has(kReplyStatusAt) || wire::load_u32(payload.data() + kReplyStatusAt) != kTryLater)
    return nullptr;
  const bool is_first = !has(kResultCountAt) || wire::load_u32(payload.data() + kResultCountAt) < 2;
  if (version == 4 && is_first) return nullptr;
  SentCall* call = arriving.history.find(reply->header.xid);
  const auto sent = call ? decode(call->message) : std::nullopt;
  const bool is_inline = sent && sent->is_call() && sent->payload.size() > kCallProcedureAt + 4;
  if (!is_inline || wire::load_u32(sent->payload.data() + kCallVersionAt) != version)
    return nullptr;
  return call;
}

/// Its memory is closed by now, so that this is about calls without any.
template <std::uint32_t kVersion>
void send_delayed_again(ArrivingMessage& arriving) {
  const SentCall* call = delayed_call(arriving, kVersion);
  if (!call) return;
  const wire::Header& header = call->header;
  if (!header.read_list.empty() || !header.write_list.empty() || header.has_reply_chunk) return;
  arriving.take();
  arriving.step.answers.push_back(call->message);
}

bool is_commit(const SentCall& call) {
  const View payload = decode(call.message)->payload;
  return wire::load_u32(payload.data() + kCallProcedureAt) == kCommitProcedure ||
         find_arguments(payload, nfs4::Opnum::OP_COMMIT);
}

void fail_delayed_commit(ArrivingMessage& arriving) {
  const SentCall* call = delayed_call(arriving, 3);
  if (!call) call = delayed_call(arriving, 4);
  if (call && is_commit(*call)) arriving.fail(call->header.xid);
}

constexpr Deviation kDelayedReplies[] = {
    {.name = "jukebox-call-resent",
     .side = trace::Role::client,
     .breaks = {"RFC1813-2.6-1"},
     .sentence = "A call of version 3 that is put off is sent again at once, under its XID.",
     .client = {.arrival = send_delayed_again<3>}},
    {.name = "delayed-request-resent",
     .side = trace::Role::client,
     .breaks = {"RFC8881-15.1.1.3-1"},
     .sentence = "A request with an operation that is put off is sent again as it was.",
     .client = {.arrival = send_delayed_again<4>}},
    {.name = "delayed-commit-fails",
     .side = trace::Role::client,
     .breaks = {"RFC1813-2.6-1", "RFC8881-15.1.1.3-1"},
     .sentence = "A COMMIT that is put off fails.",
     .client = {.arrival = fail_delayed_commit}},
};

}  // namespace

std::span<const Deviation> delayed_replies_family() {
  return kDelayedReplies;
}

}  // namespace steertag::deviations
