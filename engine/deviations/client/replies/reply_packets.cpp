// Deviations of the client's roce provider: how it takes the packets of the server.
#include "deviations/families.h"
#include "fabric/roce/packets/policy.h"

namespace steertag::deviations {
namespace {

using PacketPolicy = fabric::roce::Policy;

template <bool PacketPolicy::*kCheck>
void leave_out(peer::ConnectStep& step) {
  step.endpoint.connection.roce.*kCheck = false;
}

constexpr Deviation kReplyPackets[] = {
    {.name = "client-psn-unchecked",
     .side = trace::Role::client,
     .breaks = {"IBA-9.7-1"},
     .sentence = "Packets of the server with any later PSN are taken.",
     .client = {.connect = leave_out<&PacketPolicy::checks_sequence>}},
    {.name = "client-psn-gap-unreported",
     .side = trace::Role::client,
     .breaks = {"IBA-9.7-2"},
     .sentence = "A gap in the server's PSNs is not reported.",
     .client = {.connect = leave_out<&PacketPolicy::reports_gaps>}},
    {.name = "client-opcode-sequence-unchecked",
     .side = trace::Role::client,
     .breaks = {"IBA-9.7-5"},
     .sentence = "A Middle or Last packet of the server may begin a message.",
     .client = {.connect = leave_out<&PacketPolicy::checks_opcodes>}},
    {.name = "client-partition-unchecked",
     .side = trace::Role::client,
     .breaks = {"IBA-10.9-1"},
     .sentence = "Packets of any partition are taken.",
     .client = {.connect = leave_out<&PacketPolicy::checks_partition>}},
    {.name = "client-invariant-crc-unchecked",
     .side = trace::Role::client,
     .breaks = {"IBA-A17-1"},
     .sentence = "Packets with a wrong invariant CRC are taken.",
     .client = {.connect = leave_out<&PacketPolicy::checks_crc>}},
};

}  // namespace

std::span<const Deviation> reply_packets_family() {
  return kReplyPackets;
}

}  // namespace steertag::deviations
