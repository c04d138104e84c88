// Slots that are used again, and the opcodes of a message.
#include "fabric/roce/reliable/outgoing.h"

#include <utility>

namespace steertag::fabric::roce {

void Outgoing::reset(Operation new_kind, WorkId new_id) {
  std::vector<View> kept = std::move(parts);
  kept.clear();
  *this = {};
  parts = std::move(kept);
  kind = new_kind;
  id = new_id;
}

Opcode opcode_of(const Outgoing& operation, std::uint32_t packet) {
  const bool first = packet == 0;
  const bool last = packet + 1 == operation.packets;
  if (operation.kind == Operation::rdma_write) {
    return first ? (last ? Opcode::write_only : Opcode::write_first)
                 : (last ? Opcode::write_last : Opcode::write_middle);
  }
  if (last && operation.invalidate) {
    return first ? Opcode::send_only_invalidate : Opcode::send_last_invalidate;
  }
  return first ? (last ? Opcode::send_only : Opcode::send_first)
               : (last ? Opcode::send_last : Opcode::send_middle);
}

}  // namespace steertag::fabric::roce
