// Deviations of the client: the fixed words and the presence words of its calls (RFC 8166 4.2).
#include <algorithm>

#include "deviations/families.h"

namespace steertag::deviations {
namespace {

constexpr std::size_t kReadListAt = 16;  // in a header of RDMA_MSG or RDMA_NOMSG

template <void (*kChange)(wire::Header&)>
void when_small(DepartingCall& call) {
  if (is_small(call.step.limits)) kChange(call.header());
}

void other_xid(wire::Header& header) {
  ++header.xid;
}

void version_two(wire::Header& header) {
  header.vers = 2;
}

void as_msgp(wire::Header& header) {
  if (header.proc == wire::Procedure::msg) header.proc = wire::Procedure::msgp;
}

void swap_presence_word(DepartingCall& call) {
  if (!is_small(call.step.limits)) return;
  Bytes octets;
  wire::encode(call.header(), octets);
  const auto word = octets.begin() + kReadListAt;
  std::reverse(word, word + 4);
  call.step.header_octets = std::move(octets);
}

constexpr Deviation kFamily[] = {
    {.name = "call-xid-differs",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.2.1-1"},
     .sentence = "With thresholds of 1024 octets rdma_xid is one more than the XID of the call.",
     .client = {.departure = when_small<other_xid>}},
    {.name = "call-vers-two",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.2.2-1"},
     .sentence = "With thresholds of 1024 octets calls carry 2 in rdma_vers.",
     .client = {.departure = when_small<version_two>}},
    {.name = "call-msgp",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.6.1-1"},
     .sentence = "With thresholds of 1024 octets RDMA_MSGP takes the place of RDMA_MSG.",
     .client = {.departure = when_small<as_msgp>}},
    {.name = "call-presence-word-swapped",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4-1"},
     .sentence = "With thresholds of 1024 octets the word before the read list is little-endian.",
     .client = {.departure = swap_presence_word}},
};

}  // namespace

std::span<const Deviation> call_headers_family() {
  return kFamily;
}

}  // namespace steertag::deviations
