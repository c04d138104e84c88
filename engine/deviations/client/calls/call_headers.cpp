// Deviations of the client: the fixed words and the presence words of its calls (RFC 8166 4.2).
#include "deviations/families.h"

namespace steertag::deviations {
namespace {

bool inline_calls(const DepartingCall& call) {
  return calls_of_small_thresholds(call) && call.header().proc == wire::Procedure::msg;
}

constexpr Deviation kCallHeaders[] = {
    {.name = "call-xid-differs",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.2.1-1"},
     .sentence = "With thresholds of 1024 octets rdma_xid is one more than the XID of the call.",
     .client = {.mutation = {calls_of_small_thresholds, "xid.plus-1"}}},
    {.name = "call-vers-two",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.2.2-1"},
     .sentence = "With thresholds of 1024 octets calls carry 2 in rdma_vers.",
     .client = {.mutation = {calls_of_small_thresholds, "version.2"}}},
    {.name = "call-msgp",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.6.1-1"},
     .sentence = "With thresholds of 1024 octets RDMA_MSGP takes the place of RDMA_MSG.",
     .client = {.mutation = {inline_calls, "procedure.msgp"}}},
    {.name = "call-presence-word-swapped",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4-1"},
     .sentence = "With thresholds of 1024 octets the word before the read list is little-endian.",
     .client = {.mutation = {calls_of_small_thresholds, "read-list.presence-0x01000000"}}},
};

}  // namespace

std::span<const Deviation> call_headers_family() {
  return kCallHeaders;
}

}  // namespace steertag::deviations
