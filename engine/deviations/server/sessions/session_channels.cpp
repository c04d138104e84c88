// Deviations in the limits of a session's fore channel: the server keeps others than it grants.
#include "deviations/families.h"
#include "deviations/server/compound.h"
#include "endpoint/limits.h"
#include "nfs/v4/session_ops.h"
#include "server/v4/state/limits.h"
#include "wire/header.h"

namespace steertag::deviations {
namespace {

using nfs4::ChannelAttrs;
using nfs4::Opnum;
using Limit = std::uint32_t ChannelAttrs::*;

constexpr auto kLargest = static_cast<std::uint32_t>(peer::kLargestCall);

std::uint32_t half(std::uint32_t asked) {
  return (std::min(asked, peer::kMostSlots) + 1) / 2;
}
std::uint32_t most_operations(std::uint32_t) {
  return peer::kMostOperationsPerCompound;
}
std::uint32_t largest(std::uint32_t) {
  return kLargest;
}
std::uint32_t smallest_at_least(std::uint32_t asked) {
  return std::max(asked, peer::kSmallestChannelSize);
}
std::uint32_t less_header(std::uint32_t asked) {
  constexpr std::uint32_t kHeader = wire::kSmallestHeaderBytes;
  return std::max(std::min(asked, kLargest), kHeader) - kHeader;
}

/// The server makes the session with `kept(asked)` as this limit.
template <Limit limit, std::uint32_t (*kept)(std::uint32_t)>
void keep(peer::CallStep& call) {
  change_arguments<nfs4::CreateSessionArgs>(
      call, Opnum::OP_CREATE_SESSION, [](nfs4::CreateSessionArgs& args) {
        args.csa_fore_chan_attrs.*limit = kept(args.csa_fore_chan_attrs.*limit);
      });
}

/// The client reads that it was granted what it asked for, `most` at most.
template <Limit limit, std::uint32_t most>
void grant_as_asked(peer::ReplyStep& reply) {
  const auto asked = arguments_of<nfs4::CreateSessionArgs>(reply.call, Opnum::OP_CREATE_SESSION);
  if (!asked) return;
  change_result<nfs4::CreateSessionResult>(reply, Opnum::OP_CREATE_SESSION, [&](auto& result) {
    ChannelAttrs& granted = result.resok4.csr_fore_chan_attrs;
    granted.*limit = std::min(asked->csa_fore_chan_attrs.*limit, most);
    granted.ca_maxresponsesize_cached =
        std::min(granted.ca_maxresponsesize_cached, granted.ca_maxresponsesize);
  });
}

constexpr Deviation kSessionChannels[] = {
    {.name = "granted-slots-missing",
     .breaks = {"RFC8881-18.36.3-1", "RFC8267-6.6-2", "RFC8881-2.10.3.1-2"},
     .sentence = "A session has half of the slots that it was granted.",
     .server = {.call = keep<&ChannelAttrs::ca_maxrequests, half>,
                .reply = grant_as_asked<&ChannelAttrs::ca_maxrequests, peer::kMostSlots>},
     .script_shows = false},
    {.name = "data-server-slots-missing",
     .breaks = {"RFC8881-18.36.3-1", "RFC8267-6.6-2"},
     .sentence = "A session at a data server has half of the slots that it was granted.",
     .server = {.call = keep<&ChannelAttrs::ca_maxrequests, half>,
                .reply = grant_as_asked<&ChannelAttrs::ca_maxrequests, peer::kMostSlots>},
     .script_shows = false,
     .at_data_servers = true},
    {.name = "too-many-operations-executed",
     .breaks = {"RFC8881-18.36.3-8"},
     .sentence = "A COMPOUND with more operations than granted is executed.",
     .server =
         {.call = keep<&ChannelAttrs::ca_maxoperations, most_operations>,
          .reply =
              grant_as_asked<&ChannelAttrs::ca_maxoperations, peer::kMostOperationsPerCompound>},
     .script_shows = false},
    {.name = "large-request-executed",
     .breaks = {"RFC8881-2.10.6.4-1"},
     .sentence = "A request above ca_maxrequestsize is executed.",
     .server = {.call = keep<&ChannelAttrs::ca_maxrequestsize, largest>,
                .reply = grant_as_asked<&ChannelAttrs::ca_maxrequestsize, kLargest>},
     .script_shows = false},
    {.name = "large-response-sent",
     .breaks = {"RFC8881-2.10.6.4-1"},
     .sentence = "Replies are larger than ca_maxresponsesize.",
     .server = {.call = keep<&ChannelAttrs::ca_maxresponsesize, largest>,
                .reply = grant_as_asked<&ChannelAttrs::ca_maxresponsesize, kLargest>},
     .script_shows = false},
    {.name = "tiny-response-granted",
     .breaks = {"RFC8881-18.36.3-14"},
     .sentence = "A ca_maxresponsesize in which nothing fits is granted.",
     .server = {.call = keep<&ChannelAttrs::ca_maxresponsesize, smallest_at_least>,
                .reply = grant_as_asked<&ChannelAttrs::ca_maxresponsesize, kLargest>},
     .script_shows = false},
    {.name = "transport-header-counted",
     .breaks = {"RFC8881-18.36.3-9"},
     .sentence = "The transport header counts in ca_maxrequestsize.",
     .server = {.call = keep<&ChannelAttrs::ca_maxrequestsize, less_header>,
                .reply = grant_as_asked<&ChannelAttrs::ca_maxrequestsize, kLargest>},
     .script_shows = false},
    {.name = "large-reply-cached",
     .breaks = {"RFC8881-2.10.6.4-2"},
     .sentence = "A reply above ca_maxresponsesize_cached is sent although it was to be cached.",
     .server =
         {.call = keep<&ChannelAttrs::ca_maxresponsesize_cached, largest>,
          .reply =
              grant_as_asked<&ChannelAttrs::ca_maxresponsesize_cached, peer::kLargestCachedReply>},
     .script_shows = false},
};

}  // namespace

std::span<const Deviation> session_channels_family() {
  return kSessionChannels;
}

}  // namespace steertag::deviations
