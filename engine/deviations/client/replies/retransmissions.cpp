// Deviations of the client: what it sends again, gives up or closes.
#include "deviations/families.h"
#include "endpoint/session_request.h"
#include "wire/xdr.h"

namespace steertag::deviations {
namespace {

void increase_word(MutableView stream, std::size_t at) {
  wire::store_u32(stream.data() + at, wire::load_u32(stream.data() + at) + 1);
}

void advance_sequence(peer::RequestStep& step, ClientHistory& /*history*/) {
  Bytes& stream = step.request.stream;
  const auto request = step.again ? peer::session_request(stream) : std::nullopt;
  if (request) increase_word(stream, request->sequence_at);
}

void advance_create(peer::RequestStep& step, ClientHistory& /*history*/) {
  Bytes& stream = step.request.stream;
  const auto at = step.again ? peer::create_sequence_at(stream) : std::nullopt;
  if (at) increase_word(stream, *at);
}

bool is_session_read(const wire::Header& header, View stream) {
  return !header.write_list.empty() && peer::session_request(stream);
}

void send_twice(DepartingCall& call) {
  if (!is_session_read(call.header(), call.step.request.stream)) return;
  Bytes message;
  wire::encode(call.header(), message);
  for (std::size_t part = 1; part < call.step.parts.size(); ++part)
    message.insert(message.end(), call.step.parts[part].begin(), call.step.parts[part].end());
  call.step.behind.push_back(std::move(message));
}

void fail_earlier(ArrivingMessage& arriving) {
  const auto decoded = decode(arriving.message());
  const SentCall* answered =
      decoded && decoded->is_reply() ? arriving.history.find(decoded->header.xid) : nullptr;
  if (!answered || answered->header.write_list.empty()) return;
  for (const auto& [xid, call] : arriving.history.waiting) {
    const auto sent = decode(call.message);
    if (call.number < answered->number && sent && is_session_read(sent->header, sent->payload))
      arriving.step.then.push_back(error_message(xid, decoded->header.credit));
  }
}

constexpr Deviation kRetransmissions[] = {
    {.name = "gives-up-on-third-connection",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.5.5-1"},
     .sentence = "A call is tried on three connections, those that are rejected among them.",
     .client = {.options = [](peer::FileClientOptions& options) { options.attempts = 3; }}},
    {.name = "resent-as-new-request",
     .side = trace::Role::client,
     .breaks = {"RFC8267-6.7.2-3", "RFC8881-2.10.13.1.2-1"},
     .sentence =
         "A request that is sent again on another connection has the next sequence id of its slot.",
     .client = {.request = advance_sequence}},
    {.name = "resent-under-new-xid",
     .side = trace::Role::client,
     .breaks = {"RFC1813-4.5-4"},
     .sentence =
         "A call that was under way when its connection was lost is sent again under another XID.",
     .client = {.options =
                    [](peer::FileClientOptions& options) { options.requester.keeps_xid = false; }}},
    {.name = "create-retry-renumbered",
     .side = trace::Role::client,
     .breaks = {"RFC8881-18.36.4-3"},
     .sentence = "CREATE_SESSION is sent again under the next csa_sequence.",
     .client = {.request = advance_create}},
    {.name = "gives-up-after-loss",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.5.5-1"},
     .sentence = "A call that was under way when its connection was lost fails.",
     .client = {.options = [](peer::FileClientOptions& options) { options.attempts = 1; }}},
    {.name = "idle-connection-closed",
     .side = trace::Role::client,
     .breaks = {"RFC8881-2.10.11.2-1", "RFC8167-5.4-2", "RFC8881-2.9.2-1"},
     .sentence = "The connection is closed when no call is under way.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.requester.keeps_idle = false;
                    }}},
    {.name = "request-sent-twice",
     .side = trace::Role::client,
     .breaks = {"RFC8881-2.9.2-2", "RFC8167-2.4-1"},
     .sentence = "Each READ of a session is sent twice on its connection.",
     .client = {.departure = send_twice}},
    {.name = "overtaken-read-given-up",
     .side = trace::Role::client,
     .breaks = {"RFC8881-2.9.2-8"},
     .sentence = "A READ of a session fails when a later one is answered before it.",
     .client = {.arrival = fail_earlier}},
};

}  // namespace

std::span<const Deviation> retransmissions_family() {
  return kRetransmissions;
}

}  // namespace steertag::deviations
