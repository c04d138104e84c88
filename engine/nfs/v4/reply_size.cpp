// Upper bounds of results, from their types' limits and from the counts in the arguments.
#include "nfs/v4/reply_size.h"

#include <algorithm>

#include "nfs/v4/attribute_table.h"
#include "nfs/v4/compound.h"
#include "rpc/largest.h"
#include "rpc/message.h"

namespace steertag::nfs4 {

namespace {

template <class T>
constexpr std::size_t kLargest = rpc::Largest<T>::octets(0);

/// The bound of one result, status included and number not.
struct ResultSize {
  std::size_t octets = 0;
  std::optional<std::size_t> eligible{};
  bool bounded = true;
};

constexpr std::size_t kStatus = 4;

ResultSize bound_read(const ReadArgs& args) {
  const std::size_t data = kLargest<ReadResult> - wire::roundup4(kMostDataOctets);
  return {.octets = data + wire::roundup4(args.count), .eligible = args.count};
}

ResultSize bound_getattr(const GetattrArgs& args) {
  const FattrSize size = largest_fattr(args.attr_request);
  return {.octets = kStatus + size.octets, .bounded = size.bounded};
}

/// RFC 8881 18.23.3: maxcount bounds READDIR4resok, its roundup and presence words included. A
/// server that cannot return an entry within it answers NFS4ERR_TOOSMALL.
ResultSize bound_readdir(const ReaddirArgs& args) {
  return {.octets = std::max<std::size_t>(kStatus + args.maxcount, kLargest<ReaddirResult>)};
}

/// Only SP4_SSV gets handles back, and these are by far the largest part.
ResultSize bound_exchange_id(const ExchangeIdArgs& args) {
  if (args.eia_state_protect.spa_how == StateProtectHow::SP4_SSV) {
    return {.octets = kLargest<ExchangeIdResult>};
  }
  constexpr std::size_t kOps = 4 + kLargest<StateProtectOps>;
  return {.octets = kLargest<ExchangeIdResult> - kLargest<StateProtectResult> + kOps};
}

ResultSize bound_test_stateid(const TestStateidArgs& args) {
  return {.octets = kStatus + 4 + 4 * args.ts_stateids.size()};
}

/// RFC 8881 18.40.3: gdia_maxcount bounds GETDEVICEINFO4resok. With 0 the body of the address is
/// empty and the rest is there.
ResultSize bound_getdeviceinfo(const GetdeviceinfoArgs& args) {
  constexpr std::size_t kEmpty = kLargest<GetdeviceinfoOk> - wire::roundup4(kMostLayoutOctets);
  return {.octets = kStatus + std::max<std::size_t>(kEmpty, args.gdia_maxcount)};
}

/// RFC 8881 18.43.3: loga_maxcount bounds the layouts; before them are a flag, a stateid and a
/// count.
ResultSize bound_layoutget(const LayoutgetArgs& args) {
  return {.octets = kStatus + 4 + kLargest<StateId> + 4 + args.loga_maxcount};
}

ResultSize bound_readlink() {
  return {.octets = kLargest<ReadlinkResult>, .eligible = kMostPathOctets};
}

template <class Args>
ResultSize result_size(Opnum number, const Args& args) {
  if constexpr (std::is_same_v<Args, ReadArgs>) return bound_read(args);
  if constexpr (std::is_same_v<Args, GetattrArgs>) return bound_getattr(args);
  if constexpr (std::is_same_v<Args, ReaddirArgs>) return bound_readdir(args);
  if constexpr (std::is_same_v<Args, ExchangeIdArgs>) return bound_exchange_id(args);
  if constexpr (std::is_same_v<Args, TestStateidArgs>) return bound_test_stateid(args);
  if constexpr (std::is_same_v<Args, GetdeviceinfoArgs>) return bound_getdeviceinfo(args);
  if constexpr (std::is_same_v<Args, LayoutgetArgs>) return bound_layoutget(args);
  if (number == Opnum::OP_READLINK) return bound_readlink();
  return with_signature(number, [&]<class A, class Res>(Signature<A, Res>) {
    return ResultSize{.octets = kLargest<Res>};
  });
}

/// Decodes one operation's arguments and adds the bound of its result.
void add_operation(wire::Reader& reader, Opnum number, CompoundReplySize& to) {
  with_signature(number, [&]<class Args, class Res>(Signature<Args, Res>) {
    Args args{};
    args.decode(reader);
    if (!reader.ok()) return;
    const ResultSize size = result_size(number, args);
    to.payload += 4 + size.octets;
    if (size.eligible) to.eligible.push_back(*size.eligible);
    to.bounded = to.bounded && size.bounded;
  });
}

std::optional<CompoundReplySize> compound_size(wire::Reader& reader) {
  CompoundArgs args;
  args.decode(reader);
  CompoundReplySize size;
  // The reply has the call's tag (RFC 8881 16.2.3).
  size.payload = kStatus + 4 + wire::roundup4(args.tag.size()) + 4;
  OperationReader<Opnum> operations(reader, "argarray");
  while (const auto number = operations.next()) {
    add_operation(reader, *number, size);
    // What an unknown operation takes is not known; the reply ends with its status.
    if (rpc::name(*number).empty()) return size;
  }
  if (!reader.ok()) return std::nullopt;
  return size;
}

/// A reply with an error and no results: PROG_MISMATCH is the largest.
constexpr std::size_t kErrorReplyTail = 8;

}  // namespace

std::size_t CompoundReplySize::reduced() const {
  std::size_t octets = payload;
  for (const std::size_t item : eligible) octets -= wire::roundup4(item);
  return octets;
}

FattrSize largest_fattr(const Bitmap& request) {
  FattrSize size{.octets = 8 + 4 * request.size()};
  kAttributes.for_each([&]<class Value>(const Attribute<Value>& row) {
    if (!request.test(row.number)) return;
    size.octets += rpc::Largest<Value>::octets(row.limit);
    if ((row.use & kUnbounded) != 0) size.bounded = false;
  });
  request.for_each([&](std::uint32_t number) {
    if (attribute_name(number).empty()) size.bounded = false;
  });
  // No fattr4 that decodes has more; types such as fs_locations would allow gigabytes.
  size.octets = std::min(size.octets, 8 + 4 * request.size() + kMostAttributeOctets);
  return size;
}

std::optional<CompoundReplySize> largest_reply(View rpc_call, std::size_t verifier_octets,
                                               wire::Fault* fault) {
  wire::Reader reader(rpc_call);
  rpc::CallHeader header;
  header.decode(reader);
  std::optional<CompoundReplySize> size;
  if (reader.ok() && header.rpcvers == rpc::kRpcVersion && header.program == kProgram &&
      header.version == kVersion && header.procedure == NFSPROC4_COMPOUND) {
    size = compound_size(reader);
  }
  if (fault != nullptr) *fault = reader.fault();
  if (!size) return std::nullopt;
  size->payload = std::max(size->payload, kErrorReplyTail) + rpc::kSmallestReplyHeader +
                  wire::roundup4(verifier_octets);
  return size;
}

}  // namespace steertag::nfs4
