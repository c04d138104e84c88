// Upper bounds of replies, from the result types' own limits and from the counts in the arguments.
#include "nfs/reply_size.h"

#include <algorithm>

#include "rpc/largest.h"
#include "rpc/message.h"
#include "wire/xdr.h"

/// The arms of a result of version 3 are plain fields in its list.
template <class Ok, class Fail>
struct steertag::rpc::Largest<steertag::nfs3::Result<Ok, Fail>> {
  static constexpr std::size_t octets(std::size_t) {
    return 4 + std::max(largest_fields<Ok>(), largest_fields<Fail>());
  }
};

namespace steertag::nfs {

namespace {

template <class Result>
constexpr std::size_t kLargest = rpc::Largest<Result>::octets(0);

/// The result without the octets that its one large item may have.
template <class Result>
constexpr std::size_t without(std::size_t item_limit) {
  return kLargest<Result> - wire::roundup4(item_limit);
}

/// RFC 1813 3.3.16, 3.3.17: count and maxcount bound the size of READDIR3resok and
/// READDIRPLUS3resok, which leaves the status. A server with nothing to return may need more than a
/// very small count.
template <class Result>
ReplySize listing(std::uint32_t count) {
  return {.payload = std::max<std::size_t>(4 + std::size_t{count}, kLargest<Result>),
          .eligible = 0};
}

ReplySize read_result(std::uint32_t count) {
  const std::size_t fixed = without<nfs3::ReadResult>(nfs3::kMostDataOctets);
  return {.payload = fixed + wire::roundup4(count), .eligible = count};
}

template <class Args, class Result>
ReplySize bound(const Args& args) {
  if constexpr (std::is_same_v<Args, nfs3::ReadArgs>) {
    return read_result(args.count);
  } else if constexpr (std::is_same_v<Args, nfs3::ReaddirArgs>) {
    return listing<Result>(args.count);
  } else if constexpr (std::is_same_v<Args, nfs3::ReaddirplusArgs>) {
    return listing<Result>(args.maxcount);
  } else if constexpr (std::is_same_v<Args, nfs3::ReadlinkArgs>) {
    return {.payload = kLargest<Result>, .eligible = nfs3::kMostPathOctets};
  } else {
    return {.payload = kLargest<Result>, .eligible = 0};
  }
}

/// The bound for arguments that are still encoded. Those of READ, READDIR and READDIRPLUS are
/// decoded; no other procedure's reply depends on its arguments.
std::optional<ReplySize> nfs3_result(wire::Reader& reader, nfs3::Procedure procedure) {
  const ReplySize size =
      nfs3::with_signature(procedure, [&]<class Args, class Result>(nfs3::Signature<Args, Result>) {
        constexpr bool kDepends = std::is_same_v<Args, nfs3::ReadArgs> ||
                                  std::is_same_v<Args, nfs3::ReaddirArgs> ||
                                  std::is_same_v<Args, nfs3::ReaddirplusArgs>;
        Args args;
        if constexpr (kDepends) args.decode(reader);
        return bound<Args, Result>(args);
      });
  if (!reader.ok()) return std::nullopt;
  return size;
}

std::optional<ReplySize> mount3_result(mount3::Procedure procedure) {
  switch (procedure) {
    case mount3::Procedure::MOUNTPROC3_DUMP:
    case mount3::Procedure::MOUNTPROC3_EXPORT:
      return std::nullopt;
    case mount3::Procedure::MOUNTPROC3_MNT:
      return ReplySize{.payload = kLargest<mount3::MntResult>, .eligible = 0};
    case mount3::Procedure::MOUNTPROC3_NULL:
    case mount3::Procedure::MOUNTPROC3_UMNT:
    case mount3::Procedure::MOUNTPROC3_UMNTALL:
      return ReplySize{};
  }
  return std::nullopt;
}

/// A reply with an error and no results: PROG_MISMATCH is the largest.
constexpr std::size_t kErrorReplyTail = 8;

std::optional<ReplySize> result_of(wire::Reader& reader, const rpc::CallHeader& header) {
  if (header.program == nfs3::kProgram && header.version == nfs3::kVersion) {
    const auto procedure = rpc::value_numbered<nfs3::Procedure>(header.procedure);
    if (procedure) return nfs3_result(reader, *procedure);
  }
  if (header.program == mount3::kProgram && header.version == mount3::kVersion) {
    const auto procedure = rpc::value_numbered<mount3::Procedure>(header.procedure);
    if (procedure) return mount3_result(*procedure);
  }
  return std::nullopt;
}

}  // namespace

std::optional<ReplySize> largest_reply(View rpc_call, std::size_t verifier_octets,
                                       wire::Fault* fault) {
  wire::Reader reader(rpc_call);
  rpc::CallHeader header;
  header.decode(reader);
  std::optional<ReplySize> size;
  if (reader.ok() && header.rpcvers == rpc::kRpcVersion) size = result_of(reader, header);
  if (fault != nullptr) *fault = reader.fault();
  if (!size) return std::nullopt;
  size->payload = std::max(size->payload, kErrorReplyTail) + rpc::kSmallestReplyHeader +
                  wire::roundup4(verifier_octets);
  return size;
}

std::optional<ReplySize> largest_result(nfs3::Procedure procedure, View arguments) {
  wire::Reader reader(arguments);
  return nfs3_result(reader, procedure);
}

}  // namespace steertag::nfs
