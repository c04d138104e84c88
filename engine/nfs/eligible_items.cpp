// Chooses the binding by the version of the program.
#include "nfs/eligible_items.h"

#include <utility>

#include "nfs/direct/binding.h"
#include "nfs/v4/binding.h"
#include "nfs/v4/compound.h"
#include "rpc/auth.h"
#include "rpc/message.h"
#include "wire/xdr.h"

namespace steertag::nfs {

namespace {

bool is_compound(std::uint32_t program, std::uint32_t version, std::uint32_t procedure) {
  return program == nfs4::kProgram && version == nfs4::kVersion &&
         procedure == nfs4::NFSPROC4_COMPOUND;
}

std::optional<direct::Procedure> direct_access(std::uint32_t program, std::uint32_t version,
                                               std::uint32_t procedure) {
  if (program != direct::kProgram || version != direct::kVersion) return std::nullopt;
  return rpc::value_numbered<direct::Procedure>(procedure);
}

std::vector<EligibleItem> finish(ItemWalk walk, wire::Fault* fault) {
  if (fault != nullptr) *fault = walk.fault;
  return std::move(walk.items);
}

/// A reply of version 2 or 3 that was accepted and reports an error.
bool has_failed(View rpc_reply) {
  wire::Reader reader(rpc_reply);
  rpc::ReplyHeader header;
  header.decode(reader);
  if (!reader.ok() || !header.success()) return false;
  return reader.u32("status") != 0;
}

}  // namespace

std::vector<EligibleItem> eligible_arguments(View rpc_call,
                                             std::span<const std::uint32_t> read_positions,
                                             wire::Fault* fault) {
  wire::Reader reader(rpc_call, wire::Values::any);
  rpc::CallHeader header;
  header.decode(reader);
  if (reader.ok() && header.rpcvers == rpc::kRpcVersion &&
      is_compound(header.program, header.version, header.procedure)) {
    if (fault != nullptr) *fault = {};
    if (rpc::wrapping_of(header.credential) != rpc::Wrapping::plain) return {};
    return finish(nfs4::eligible_arguments(reader, read_positions), fault);
  }
  const auto item = eligible_argument(rpc_call, fault);
  return item ? std::vector{*item} : std::vector<EligibleItem>{};
}

std::vector<EligibleItem> eligible_results(View rpc_reply, std::uint32_t program,
                                           std::uint32_t version, std::uint32_t procedure,
                                           std::span<const std::uint32_t> write_lengths,
                                           wire::Fault* fault) {
  const auto direct_procedure = direct_access(program, version, procedure);
  if (direct_procedure || is_compound(program, version, procedure)) {
    wire::Reader reader(rpc_reply, wire::Values::any);
    rpc::ReplyHeader header;
    header.decode(reader);
    if (fault != nullptr) *fault = reader.fault();
    if (!reader.ok() || !header.success()) return {};
    return finish(direct_procedure
                      ? direct::eligible_results(reader, *direct_procedure, write_lengths)
                      : nfs4::eligible_results(reader, write_lengths),
                  fault);
  }
  const auto item = eligible_result(rpc_reply, program, version, procedure, fault);
  if (item) return {*item};
  if (eligible_item(program, version, procedure, ItemIn::result) && has_failed(rpc_reply)) {
    return {EligibleItem{.absent = true}};
  }
  return {};
}

}  // namespace steertag::nfs
