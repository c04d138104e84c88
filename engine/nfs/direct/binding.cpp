// The walk to the data of READ and BATCH results, and the largest replies.
#include "nfs/direct/binding.h"

#include <algorithm>

#include "rpc/largest.h"
#include "rpc/message.h"

namespace steertag::direct {
namespace {

constexpr std::size_t kReferenceOctets = rpc::Largest<Reference>::octets(0);

/// Status, change, size, and the count of references.
constexpr std::size_t kRefsOctets = 4 + 8 + 8 + 4;
/// The same with eof and the count of the data.
constexpr std::size_t kReadOctets = kRefsOctets + 4 + 4;

template <class IsReduced>
void take_read(nfs::ItemWalker& walk, const IsReduced& is_reduced) {
  wire::Reader& reader = walk.reader();
  const bool ok = reader.u32("status") == 0;
  if (!reader.ok()) return;
  if (!ok) return walk.take_absent();
  reader.u64("change");
  reader.u64("size");
  reader.boolean("eof");
  walk.take_item("data", is_reduced);
  const std::uint32_t count = reader.count(kReferenceOctets, kMostReferences, "refs");
  reader.skip(count * kReferenceOctets, "refs");
}

std::size_t references(std::uint32_t wanted) {
  return std::min<std::size_t>(wanted, kMostReferences) * kReferenceOctets;
}

std::size_t largest_read(const ReadArgs& args) {
  return kReadOctets + references(args.want_refs) + wire::roundup4(args.count);
}

nfs::ReplySize with_header(std::size_t results, std::size_t eligible = 0) {
  return {.payload = rpc::kSmallestReplyHeader + results, .eligible = eligible};
}

}  // namespace

nfs::ItemWalk eligible_results(wire::Reader& reader, Procedure procedure,
                               std::span<const std::uint32_t> write_lengths) {
  nfs::ItemWalker walk(reader);
  const auto is_reduced = [&](const nfs::EligibleItem&) {
    const std::size_t chunk = walk.items();
    return chunk < write_lengths.size() && write_lengths[chunk] != 0;
  };
  if (procedure == Procedure::DIRECTPROC1_READ) {
    take_read(walk, is_reduced);
  } else if (procedure == Procedure::DIRECTPROC1_BATCH) {
    const std::uint32_t count = reader.count(4, kMostReads, "results");
    for (std::uint32_t i = 0; i < count && reader.ok(); ++i) take_read(walk, is_reduced);
  }
  return walk.finish();
}

nfs::ReplySize largest_reply(const HelloArgs& /*args*/) {
  return with_header(4 + rpc::Largest<HelloOk>::octets(0));
}

nfs::ReplySize largest_reply(const RefsArgs& args) {
  return with_header(kRefsOctets + references(args.want_refs));
}

nfs::ReplySize largest_reply(const ReadArgs& args) {
  return with_header(largest_read(args), args.count);
}

nfs::ReplySize largest_reply(const BatchArgs& args) {
  std::size_t results = 4;
  std::size_t eligible = 0;
  for (const ReadArgs& each : args.reads) {
    results += largest_read(each);
    eligible += each.count;
  }
  return with_header(results, eligible);
}

nfs::ReplySize largest_reply(const ReturnArgs& /*args*/) {
  return with_header(4);
}

nfs::ReplySize largest_reply(const Void& /*args*/) {
  return with_header(rpc::Largest<Counters>::octets(0));
}

}  // namespace steertag::direct
