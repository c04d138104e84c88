// Messages with hostile fixed words: versions, procedures, credits and XIDs.
#include "mutate/fixed_words_mutation.h"

#include "wire/xdr.h"

namespace steertag::mutate {

namespace {

constexpr std::uint32_t kSwappedOne = 0x01000000;  // 1 in the wrong octet order
constexpr std::uint32_t kAllOnes = 0xffffffff;

/// The fixed words of the draft, followed only by `octets` times 0xff.
wire::Draft with_garbage_body(const wire::Draft& draft, std::size_t octets) {
  wire::Draft copy = draft;
  copy.cut_to = wire::kFixedBytes;
  copy.append.assign(octets, std::byte{0xff});
  return copy;
}

wire::Draft as_error(const wire::Draft& draft, std::uint32_t code) {
  wire::Draft copy = draft;
  copy.proc = static_cast<std::uint32_t>(wire::Procedure::error);
  copy.error = code;
  copy.payload.clear();
  return copy;
}

wire::Draft with_procedure(const wire::Draft& draft, std::uint32_t proc) {
  wire::Draft copy = draft;
  copy.proc = proc;
  return copy;
}

wire::Draft without_chunks(const wire::Draft& draft) {
  wire::Draft copy = with_procedure(draft, static_cast<std::uint32_t>(wire::Procedure::nomsg));
  copy.read_list.clear();
  copy.write_list.clear();
  copy.reply_chunk.reset();
  return copy;
}

void add_reserved_procedures(const wire::Draft& draft, std::vector<Variant>& result) {
  constexpr auto kMsgp = static_cast<std::uint32_t>(wire::Procedure::msgp);
  constexpr auto kDone = static_cast<std::uint32_t>(wire::Procedure::done);
  wire::Draft msgp = with_procedure(draft, kMsgp);
  result.push_back(variant("procedure.msgp", msgp, Expectation::err_chunk));
  msgp.align = kAllOnes;
  msgp.thresh = kAllOnes;
  result.push_back(variant("procedure.msgp-all-ones", msgp, Expectation::err_chunk));

  wire::Draft done = with_procedure(draft, kDone);
  done.payload.clear();
  result.push_back(variant("procedure.done", done, Expectation::discard));
  done.append.assign(wire::kSmallestHeaderBytes - wire::kFixedBytes, std::byte{0});
  result.push_back(variant("procedure.done-28-octets", done, Expectation::discard));
}

}  // namespace

std::vector<Variant> versions(const wire::Draft& draft) {
  std::vector<Variant> result;
  for (const std::uint32_t vers : {0u, 2u, 3u, kSwappedOne, kAllOnes}) {
    wire::Draft copy = draft;
    copy.vers = vers;
    result.push_back(variant("version." + value_text(vers), copy, Expectation::err_vers));
  }
  constexpr std::size_t kGarbage = 64;  // octets that fit any inline threshold
  wire::Draft garbage = with_garbage_body(draft, kGarbage);
  garbage.vers = 2;
  result.push_back(variant("version.2-garbage-body", garbage, Expectation::err_vers));
  wire::Draft shorter =
      with_garbage_body(draft, wire::kSmallestHeaderBytes - 1 - wire::kFixedBytes);
  shorter.vers = 2;
  result.push_back(variant("version.2-short", shorter, Expectation::discard));
  return result;
}

std::vector<Variant> procedures(const wire::Draft& draft) {
  std::vector<Variant> result;
  for (const std::uint32_t proc : {5u, kSwappedOne, 0x7fffffffu, kAllOnes}) {
    result.push_back(variant("procedure." + value_text(proc), with_procedure(draft, proc),
                             Expectation::err_chunk));
  }
  add_reserved_procedures(draft, result);
  result.push_back(variant("procedure.error-err-chunk", as_error(draft, 2), Expectation::discard));
  result.push_back(variant("procedure.error-err-vers", as_error(draft, 1), Expectation::discard));
  wire::Draft unknown_error = as_error(draft, 77);
  unknown_error.append.assign(8, std::byte{0});
  result.push_back(variant("procedure.error-unknown-code", unknown_error, Expectation::discard));

  const wire::Draft chunkless = without_chunks(draft);
  wire::Draft empty = chunkless;
  empty.payload.clear();
  result.push_back(variant("procedure.nomsg-no-chunk", empty, Expectation::err_chunk));
  result.push_back(variant("procedure.nomsg-no-chunk-payload", chunkless, Expectation::err_chunk));
  return result;
}

std::vector<Variant> credits(const wire::Draft& draft) {
  std::vector<Variant> result;
  for (const std::uint32_t credit : {0u, 1u, 0xffffu, 0x7fffffffu, kAllOnes}) {
    wire::Draft copy = draft;
    copy.credit = credit;
    result.push_back(variant("credit." + value_text(credit), copy, Expectation::reply));
  }
  return result;
}

std::vector<Variant> xids(const wire::Draft& draft) {
  std::vector<Variant> result;
  if (draft.payload.size() < 4) return result;
  const std::uint32_t rpc_xid = wire::load_u32(draft.payload.data());
  wire::Draft copy = draft;
  copy.xid = rpc_xid ^ 1;
  // A receiver may also use the header's XID alone (RFC 8166 4.2.1).
  result.push_back(variant("xid.differs-from-rpc", copy, Expectation::survive));
  copy.xid = __builtin_bswap32(rpc_xid);
  if (copy.xid != rpc_xid) {
    result.push_back(variant("xid.octets-swapped", copy, Expectation::survive));
  }
  return result;
}

}  // namespace steertag::mutate
