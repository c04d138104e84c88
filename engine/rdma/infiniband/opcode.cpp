// The table of opcodes.
#include "rdma/infiniband/opcode.h"

#include <array>

#include "rdma/infiniband/transport.h"

namespace steertag::rdma::infiniband {
namespace {

struct Row {
  Opcode opcode;
  std::string_view name;
  OpcodeTraits traits;
};

constexpr OpcodeTraits part(Operation operation, bool first, bool last) {
  OpcodeTraits traits;
  traits.operation = operation;
  traits.first = first;
  traits.last = last;
  return traits;
}
constexpr OpcodeTraits with(OpcodeTraits traits, bool OpcodeTraits::*extension) {
  traits.*extension = true;
  return traits;
}

constexpr OpcodeTraits kSendLast = part(Operation::send, false, true);
constexpr OpcodeTraits kSendOnly = part(Operation::send, true, true);
constexpr OpcodeTraits kWriteLast = part(Operation::write, false, true);
constexpr OpcodeTraits kWriteOnly = with(part(Operation::write, true, true), &OpcodeTraits::reth);
constexpr OpcodeTraits kResponseMiddle = part(Operation::read_response, false, false);
constexpr OpcodeTraits kAcknowledge =
    with(part(Operation::acknowledge, true, true), &OpcodeTraits::aeth);
constexpr OpcodeTraits kAtomic =
    with(part(Operation::atomic_request, true, true), &OpcodeTraits::atomic);
constexpr OpcodeTraits kDatagram =
    with(part(Operation::datagram, true, true), &OpcodeTraits::datagram);

constexpr std::array kRows = {
    Row{Opcode::send_first, "SEND First", part(Operation::send, true, false)},
    Row{Opcode::send_middle, "SEND Middle", part(Operation::send, false, false)},
    Row{Opcode::send_last, "SEND Last", kSendLast},
    Row{Opcode::send_last_immediate, "SEND Last with Immediate",
        with(kSendLast, &OpcodeTraits::immediate)},
    Row{Opcode::send_only, "SEND Only", kSendOnly},
    Row{Opcode::send_only_immediate, "SEND Only with Immediate",
        with(kSendOnly, &OpcodeTraits::immediate)},
    Row{Opcode::write_first, "RDMA WRITE First",
        with(part(Operation::write, true, false), &OpcodeTraits::reth)},
    Row{Opcode::write_middle, "RDMA WRITE Middle", part(Operation::write, false, false)},
    Row{Opcode::write_last, "RDMA WRITE Last", kWriteLast},
    Row{Opcode::write_last_immediate, "RDMA WRITE Last with Immediate",
        with(kWriteLast, &OpcodeTraits::immediate)},
    Row{Opcode::write_only, "RDMA WRITE Only", kWriteOnly},
    Row{Opcode::write_only_immediate, "RDMA WRITE Only with Immediate",
        with(kWriteOnly, &OpcodeTraits::immediate)},
    Row{Opcode::read_request, "RDMA READ Request",
        with(part(Operation::read_request, true, true), &OpcodeTraits::reth)},
    Row{Opcode::read_response_first, "RDMA READ Response First",
        with(part(Operation::read_response, true, false), &OpcodeTraits::aeth)},
    Row{Opcode::read_response_middle, "RDMA READ Response Middle", kResponseMiddle},
    Row{Opcode::read_response_last, "RDMA READ Response Last",
        with(part(Operation::read_response, false, true), &OpcodeTraits::aeth)},
    Row{Opcode::read_response_only, "RDMA READ Response Only",
        with(part(Operation::read_response, true, true), &OpcodeTraits::aeth)},
    Row{Opcode::acknowledge, "Acknowledge", kAcknowledge},
    Row{Opcode::atomic_acknowledge, "ATOMIC Acknowledge",
        with(kAcknowledge, &OpcodeTraits::atomic_ack)},
    Row{Opcode::compare_swap, "CmpSwap", kAtomic},
    Row{Opcode::fetch_add, "FetchAdd", kAtomic},
    Row{Opcode::send_last_invalidate, "SEND Last with Invalidate",
        with(kSendLast, &OpcodeTraits::invalidate)},
    Row{Opcode::send_only_invalidate, "SEND Only with Invalidate",
        with(kSendOnly, &OpcodeTraits::invalidate)},
    Row{Opcode::datagram_send_only, "UD SEND Only", kDatagram},
    Row{Opcode::datagram_send_only_immediate, "UD SEND Only with Immediate",
        with(kDatagram, &OpcodeTraits::immediate)},
    Row{Opcode::congestion_notification, "CNP", part(Operation::congestion, true, true)},
};

struct Table {
  std::array<OpcodeTraits, 256> traits{};
  std::array<std::string_view, 256> names{};
};
constexpr Table make_table() {
  Table table;
  for (std::string_view& name : table.names) name = "unknown opcode";
  for (const Row& row : kRows) {
    table.traits[static_cast<std::size_t>(row.opcode)] = row.traits;
    table.names[static_cast<std::size_t>(row.opcode)] = row.name;
  }
  return table;
}
constexpr Table kTable = make_table();

}  // namespace

std::string_view name(Opcode opcode) {
  return kTable.names[static_cast<std::size_t>(opcode)];
}

const OpcodeTraits& traits(Opcode opcode) {
  return kTable.traits[static_cast<std::size_t>(opcode)];
}

std::size_t OpcodeTraits::extension_bytes() const {
  return (datagram ? kDatagramBytes : 0) + (reth ? kRdmaBytes : 0) + (atomic ? kAtomicBytes : 0) +
         (aeth ? kAckBytes : 0) + (atomic_ack ? kAtomicAckBytes : 0) +
         (immediate ? kImmediateBytes : 0) + (invalidate ? kInvalidateBytes : 0);
}

}  // namespace steertag::rdma::infiniband
