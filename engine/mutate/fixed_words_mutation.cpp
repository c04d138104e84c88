// Messages with hostile fixed words: versions, procedures, credits and XIDs.
#include "mutate/fixed_words_mutation.h"

#include <initializer_list>

#include "wire/xdr.h"

namespace steertag::mutate {

namespace {

constexpr std::uint32_t kAllOnes = 0xffffffff;
// An XID of no call under way: clients count XIDs up.
constexpr std::uint32_t kFarXid = 0x5a5a0000;

template <std::uint32_t wire::Draft::*kWord>
bool set(wire::Draft& draft, std::uint32_t value) {
  draft.*kWord = value;
  return true;
}

bool cut(wire::Draft& draft, std::uint32_t octets) {
  draft.cut_to = octets;
  draft.append.clear();
  return true;
}

/// The fixed words of the draft, followed only by `octets` times 0xff.
wire::Draft with_garbage_body(const wire::Draft& draft, std::size_t octets) {
  wire::Draft copy = draft;
  copy.cut_to = wire::kFixedBytes;
  copy.append.assign(octets, std::byte{0xff});
  return copy;
}

// -- procedures ----------------------------------------------------------------------------------

template <std::uint32_t kAlign, std::uint32_t kThresh>
bool as_msgp(wire::Draft& draft) {
  draft.proc = static_cast<std::uint32_t>(wire::Procedure::msgp);
  draft.align = kAlign;
  draft.thresh = kThresh;
  return true;
}

template <std::size_t kTrailing>
bool as_done(wire::Draft& draft) {
  draft.proc = static_cast<std::uint32_t>(wire::Procedure::done);
  draft.payload.clear();
  draft.append.assign(kTrailing, std::byte{0});
  return true;
}

template <std::uint32_t kCode, std::size_t kTrailing = 0>
bool as_error(wire::Draft& draft) {
  draft.proc = static_cast<std::uint32_t>(wire::Procedure::error);
  draft.error = kCode;
  draft.payload.clear();
  draft.append.assign(kTrailing, std::byte{0});
  return true;
}

template <bool kKeepsPayload>
bool as_nomsg_without_chunks(wire::Draft& draft) {
  draft.proc = static_cast<std::uint32_t>(wire::Procedure::nomsg);
  draft.read_list.clear();
  draft.write_list.clear();
  draft.reply_chunk.reset();
  if (!kKeepsPayload) draft.payload.clear();
  return true;
}

// -- XIDs ----------------------------------------------------------------------------------------

bool differ_from_rpc(wire::Draft& draft) {
  if (draft.payload.size() < 4) return false;
  draft.xid = wire::load_u32(draft.payload.data()) ^ 1;
  return true;
}

bool swap_octets(wire::Draft& draft) {
  const std::uint32_t before = draft.xid;
  draft.xid = __builtin_bswap32(before);
  return draft.xid != before;
}

bool increase_xid(wire::Draft& draft) {
  ++draft.xid;
  return true;
}

/// Further away than a client's XIDs under way are from each other.
bool flip_bit_16(wire::Draft& draft) {
  draft.xid ^= 0x10000;
  return true;
}

bool change_both_xids(wire::Draft& draft) {
  draft.xid ^= kFarXid;
  if (draft.payload.size() >= 4)
    wire::store_u32(draft.payload.data(), wire::load_u32(draft.payload.data()) ^ kFarXid);
  return true;
}

constexpr Mutation kFixedWordsMutations[] = {
    {"procedure.msgp", as_msgp<0, 0>},
    {"procedure.msgp-all-ones", as_msgp<kAllOnes, kAllOnes>},
    {"procedure.msgp-align-4", as_msgp<4, 1024>},
    {"procedure.done", as_done<0>},
    {"procedure.done-28-octets", as_done<wire::kSmallestHeaderBytes - wire::kFixedBytes>},
    {"procedure.error-err-chunk", as_error<2>},
    {"procedure.error-err-vers", as_error<1>},
    {"procedure.error-unknown-code", as_error<77, 8>},
    {"procedure.nomsg-no-chunk", as_nomsg_without_chunks<false>},
    {"procedure.nomsg-no-chunk-payload", as_nomsg_without_chunks<true>},
    {"xid.differs-from-rpc", differ_from_rpc},
    {"xid.octets-swapped", swap_octets},
    {"xid.plus-1", increase_xid},
    {"xid.bit-16-flipped", flip_bit_16},
    {"xids.unknown", change_both_xids},
};
constexpr NumberMutation kFixedWordsNumbers[] = {
    {"version.", set<&wire::Draft::vers>},
    {"procedure.", set<&wire::Draft::proc>},
    {"credit.", set<&wire::Draft::credit>},
    {"xid.", set<&wire::Draft::xid>},
    {"cut-at.", cut},
};

/// The draft after each of these mutations that applies to it.
void add(const wire::Draft& draft, std::initializer_list<std::string_view> names,
         Expectation otherwise, std::vector<Variant>& result) {
  for (const std::string_view name : names) {
    wire::Draft copy = draft;
    if (apply_from_tables(copy, name) == true)
      result.push_back(variant(std::string(name), copy, otherwise));
  }
}

}  // namespace

MutationTable fixed_word_mutations() {
  return {kFixedWordsMutations, kFixedWordsNumbers};
}

std::vector<Variant> versions(const wire::Draft& draft) {
  std::vector<Variant> result;
  add(draft, {"version.0", "version.2", "version.3", "version.0x01000000", "version.0xffffffff"},
      Expectation::err_vers, result);
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
  add(draft,
      {"procedure.5", "procedure.0x01000000", "procedure.0x7fffffff", "procedure.0xffffffff",
       "procedure.msgp", "procedure.msgp-all-ones"},
      Expectation::err_chunk, result);
  add(draft,
      {"procedure.done", "procedure.done-28-octets", "procedure.error-err-chunk",
       "procedure.error-err-vers", "procedure.error-unknown-code"},
      Expectation::discard, result);
  add(draft, {"procedure.nomsg-no-chunk", "procedure.nomsg-no-chunk-payload"},
      Expectation::err_chunk, result);
  return result;
}

std::vector<Variant> credits(const wire::Draft& draft) {
  std::vector<Variant> result;
  add(draft, {"credit.0", "credit.1", "credit.65535", "credit.0x7fffffff", "credit.0xffffffff"},
      Expectation::reply, result);
  return result;
}

std::vector<Variant> xids(const wire::Draft& draft) {
  std::vector<Variant> result;
  if (draft.payload.size() < 4) return result;
  // A receiver may also use the header's XID alone (RFC 8166 4.2.1).
  add(draft, {"xid.differs-from-rpc", "xid.octets-swapped"}, Expectation::survive, result);
  return result;
}

}  // namespace steertag::mutate
