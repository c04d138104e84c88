// Mutations of the payload stream, of the RPC message in it, and of the octets around it.
#include "mutate/payload_mutation.h"

#include <algorithm>

#include "wire/xdr.h"

namespace steertag::mutate {

namespace {

// Words of an RPC message (RFC 5531 9), in octets.
constexpr std::size_t kXidAt = 0;
constexpr std::size_t kTypeAt = 4;
constexpr std::size_t kRpcVersionAt = 8;
constexpr std::size_t kCredentialLengthAt = 28;

template <std::size_t kAt>
bool set_word(wire::Draft& draft, std::uint32_t value) {
  if (draft.payload.size() < kAt + 4) return false;
  wire::store_u32(draft.payload.data() + kAt, value);
  return true;
}

template <std::uint32_t kFlipped>
bool flip_rpc_xid(wire::Draft& draft) {
  if (draft.payload.size() < kXidAt + 4) return false;
  return set_word<kXidAt>(draft, wire::load_u32(draft.payload.data() + kXidAt) ^ kFlipped);
}

bool cut_payload(wire::Draft& draft, std::uint32_t octets) {
  if (octets > draft.payload.size()) return false;
  draft.payload.resize(octets);
  return true;
}

bool insert_record_mark(wire::Draft& draft) {
  constexpr std::uint32_t kLastFragment = 0x80000000;
  if (draft.payload.empty()) return false;
  Bytes mark;
  wire::Writer(mark).u32(kLastFragment | static_cast<std::uint32_t>(draft.payload.size()));
  draft.payload.insert(draft.payload.begin(), mark.begin(), mark.end());
  return true;
}

bool add_trailing(wire::Draft& draft, std::uint32_t octets) {
  constexpr std::uint32_t kMost = 1U << 20;  // longer than any receive
  if (octets > kMost) return false;
  draft.append.resize(draft.append.size() + octets);
  return true;
}

bool drop_header(wire::Draft& draft) {
  if (draft.payload.empty()) return false;
  draft.append = draft.payload;
  draft.cut_to = 0;
  return true;
}

bool deny(wire::Draft& draft) {
  if (draft.payload.size() < kXidAt + 4) return false;
  draft.payload.resize(4);
  wire::Writer writer(draft.payload);
  // REPLY, MSG_DENIED, AUTH_ERROR, AUTH_FAILED
  for (const std::uint32_t word : {1U, 1U, 1U, 7U}) writer.u32(word);
  return true;
}

constexpr Mutation kPayloadMutations[] = {
    {"payload.record-mark", insert_record_mark},
    {"without.transport-header", drop_header},
    {"rpc-xid.differs", flip_rpc_xid<1>},
    {"rpc-xid.inverted", flip_rpc_xid<0xffffffff>},
    {"rpc-reply.denied", deny},
};
constexpr NumberMutation kPayloadNumbers[] = {
    {"payload.octets-", cut_payload},
    {"trailing.octets-", add_trailing},
    {"rpc-type.", set_word<kTypeAt>},
    {"rpc-version.", set_word<kRpcVersionAt>},
    {"rpc-credential.length-", set_word<kCredentialLengthAt>},
};

}  // namespace

MutationTable payload_mutations() {
  return {kPayloadMutations, kPayloadNumbers};
}

wire::Draft padded(const wire::Draft& draft, std::size_t octets) {
  Bytes message;
  wire::encode(draft, message);
  wire::Draft copy = draft;
  if (octets > message.size()) copy.append.resize(copy.append.size() + octets - message.size());
  return copy;
}

}  // namespace steertag::mutate
