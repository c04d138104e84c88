// The binding table and the walk to the eligible item's count word.
#include "nfs/binding.h"

#include <algorithm>
#include <array>
#include <limits>

#include "nfs/mount3.h"
#include "nfs/nfs3_types.h"
#include "rpc/message.h"
#include "wire/xdr.h"

namespace steertag::nfs {

namespace {

/// The walk looks at structure only, so that it also finds the item of a hostile call. The payload
/// bounds counts, not the protocol.
constexpr std::size_t kAnyLength = std::numeric_limits<std::uint32_t>::max();

// NFS version 2 (RFC 1094 2.3): fixed sizes of fhandle, sattr and fattr, in octets.
constexpr std::size_t kHandle2 = 32;
constexpr std::size_t kSattr2 = 32;
constexpr std::size_t kFattr2 = 68;

void skip_write3_args(wire::Reader& reader) {
  reader.opaque(kAnyLength, "file");
  reader.u64("offset");
  reader.u32("count");
  reader.u32("stable");
}

void skip_symlink3_args(wire::Reader& reader) {
  reader.opaque(kAnyLength, "dir");
  reader.opaque(kAnyLength, "name");
  nfs3::Sattr attributes;
  attributes.decode(reader);
}

void skip_post_op_attr(wire::Reader& reader) {
  constexpr std::size_t kFattr3 = 84;
  if (reader.boolean("attributes_follow")) reader.skip(kFattr3, "attributes");
}

void skip_readlink3_ok(wire::Reader& reader) {
  skip_post_op_attr(reader);
}

void skip_read3_ok(wire::Reader& reader) {
  skip_post_op_attr(reader);
  reader.u32("count");
  reader.boolean("eof");
}

void skip_write2_args(wire::Reader& reader) {
  reader.skip(kHandle2, "file");
  reader.u32("beginoffset");
  reader.u32("offset");
  reader.u32("totalcount");
}

void skip_symlink2_args(wire::Reader& reader) {
  reader.skip(kHandle2, "dir");
  reader.opaque(kAnyLength, "name");
}

void skip_readlink2_ok(wire::Reader&) {}

void skip_read2_ok(wire::Reader& reader) {
  reader.skip(kFattr2, "attributes");
}

constexpr std::array<BindingRow, 8> kTable{{
    {kNfsProgram, 2, 5, ItemIn::result, "data"},
    {kNfsProgram, 2, 6, ItemIn::result, "data"},
    {kNfsProgram, 2, 8, ItemIn::argument, "data"},
    {kNfsProgram, 2, 13, ItemIn::argument, "to"},
    {kNfsProgram, 3, 5, ItemIn::result, "data"},
    {kNfsProgram, 3, 6, ItemIn::result, "data"},
    {kNfsProgram, 3, 7, ItemIn::argument, "data"},
    {kNfsProgram, 3, 10, ItemIn::argument, "symlink_data"},
}};

constexpr std::uint32_t kNlmProgram = 100021;
constexpr std::uint32_t kNsmProgram = 100024;
constexpr std::uint32_t kNfsAclProgram = 100227;
constexpr std::array kPlainPrograms{mount3::kProgram, kNlmProgram, kNsmProgram, kNfsAclProgram};

/// How to get from the first octet of arguments or results (after its status) to the item's count
/// word. Also how many octets follow the item.
struct Walk {
  void (*skip)(wire::Reader&);
  std::size_t octets_after;
};

/// Beside the rows of kTable.
constexpr std::array<Walk, kTable.size()> kWalks{{
    {skip_readlink2_ok, 0},
    {skip_read2_ok, 0},
    {skip_write2_args, 0},
    {skip_symlink2_args, kSattr2},
    {skip_readlink3_ok, 0},
    {skip_read3_ok, 0},
    {skip_write3_args, 0},
    {skip_symlink3_args, 0},
}};

const Walk* find(std::uint32_t program, std::uint32_t version, std::uint32_t procedure, ItemIn in) {
  for (std::size_t i = 0; i < kTable.size(); ++i) {
    const BindingRow& row = kTable[i];
    if (row.program == program && row.version == version && row.procedure == procedure &&
        row.in == in) {
      return &kWalks[i];
    }
  }
  return nullptr;
}

std::optional<EligibleItem> locate(wire::Reader& reader, const Walk& walk) {
  walk.skip(reader);
  EligibleItem item;
  item.length = reader.u32("count of the DDP-eligible item");
  item.position = reader.offset();
  item.reduced = item.length != 0 && reader.remaining() == walk.octets_after;
  if (!reader.ok()) return std::nullopt;
  return item;
}

void report(const wire::Reader& reader, wire::Fault* fault) {
  if (fault != nullptr) *fault = reader.fault();
}

}  // namespace

std::span<const BindingRow> binding_table() {
  return kTable;
}

bool nothing_eligible(std::uint32_t program) {
  return std::find(kPlainPrograms.begin(), kPlainPrograms.end(), program) != kPlainPrograms.end();
}

std::optional<std::string_view> eligible_item(std::uint32_t program, std::uint32_t version,
                                              std::uint32_t procedure, ItemIn in) {
  const Walk* walk = find(program, version, procedure, in);
  if (walk == nullptr) return std::nullopt;
  return kTable[static_cast<std::size_t>(walk - kWalks.data())].item;
}

std::optional<EligibleItem> eligible_argument(View rpc_call, wire::Fault* fault) {
  wire::Reader reader(rpc_call);
  rpc::CallHeader header;
  header.decode(reader);
  report(reader, fault);
  if (!reader.ok() || header.rpcvers != rpc::kRpcVersion) return std::nullopt;
  const Walk* walk = find(header.program, header.version, header.procedure, ItemIn::argument);
  // RFC 8166 8.2.2.3: what is wrapped is not reduced; and it is no XDR of the procedure.
  const bool plain = rpc::wrapping_of(header.credential) == rpc::Wrapping::plain;
  if (walk == nullptr || !plain) return std::nullopt;
  const std::optional<EligibleItem> item = locate(reader, *walk);
  report(reader, fault);
  return item;
}

std::optional<EligibleItem> eligible_result(View rpc_reply, std::uint32_t program,
                                            std::uint32_t version, std::uint32_t procedure,
                                            wire::Fault* fault) {
  if (fault != nullptr) *fault = {};
  const Walk* walk = find(program, version, procedure, ItemIn::result);
  if (walk == nullptr) return std::nullopt;
  wire::Reader reader(rpc_reply);
  rpc::ReplyHeader header;
  header.decode(reader);
  const bool success = reader.ok() && header.success();
  const std::uint32_t status = success ? reader.u32("status") : 0;
  report(reader, fault);
  if (!success || !reader.ok() || status != 0) return std::nullopt;
  const std::optional<EligibleItem> item = locate(reader, *walk);
  report(reader, fault);
  return item;
}

}  // namespace steertag::nfs
