// A loop of LAYOUTGET and LAYOUTRETURN.
#include "client/bench/layout_bench.h"

#include <algorithm>

#include "client/v4/pnfs/layouts.h"
#include "support/roundup.h"

namespace steertag::peer {
namespace {

using nfs4::Opnum;
using Time = std::chrono::steady_clock::time_point;

/// layout4 beside its body: range, iomode, type, and the body's length.
constexpr std::uint32_t kLayoutOverhead = 8 + 8 + 4 + 4 + 4;

}  // namespace

Expected<LayoutBench::Granted, FileError> LayoutBench::get(std::uint32_t maxcount) {
  nfs4::LayoutgetArgs args;
  args.loga_length = kToTheEnd;
  args.loga_stateid = opened_;
  args.loga_maxcount = maxcount;
  ClientCompound call;
  call.add_handle(file_);
  call.add(Opnum::OP_LAYOUTGET, args);
  return session_.wait(std::move(call), [](CompoundReply& reply) -> Expected<Granted, FileError> {
    if (auto skipped = reply.skip(Opnum::OP_PUTFH); !skipped)
      return tl::unexpected(std::move(skipped.error()));
    const auto result = reply.next<nfs4::LayoutgetResult>(Opnum::OP_LAYOUTGET);
    if (!result) return tl::unexpected(result.error());
    Granted granted{result->resok4.logr_stateid};
    for (const nfs4::Layout& each : result->resok4.logr_layout) {
      const auto body = static_cast<std::uint32_t>(each.lo_content.loc_body.size());
      granted.layouts += kLayoutOverhead + static_cast<std::uint32_t>(roundup4(body));
      granted.bodies += body;
    }
    return granted;
  });
}

Expected<void, FileError> LayoutBench::give_back(const nfs4::StateId& stateid) {
  nfs4::LayoutreturnArgs args;
  args.lora_iomode = nfs4::LayoutIomode::LAYOUTIOMODE4_ANY;
  args.lora_layoutreturn.lr_layout = {0, kToTheEnd, stateid, {}};
  ClientCompound call;
  call.add_handle(file_);
  call.add(Opnum::OP_LAYOUTRETURN, args);
  call.keep_reply();
  return session_.wait(std::move(call), [](CompoundReply& reply) -> Expected<void, FileError> {
    if (auto skipped = reply.skip(Opnum::OP_PUTFH); !skipped) return skipped;
    return reply.skip(Opnum::OP_LAYOUTRETURN);
  });
}

Expected<Measured, FileError> LayoutBench::measure(std::chrono::milliseconds duration,
                                                   std::uint64_t least_calls) {
  const auto first = get(kMostLayoutReply);
  if (!first) return tl::unexpected(first.error());
  nfs4::StateId held = first->stateid;
  const ProcessorTime before = processor_();
  const Time start = clock_();
  const Time end = start + std::min(duration, kLongestMeasurement);
  const Time last_end = start + std::min(duration * kMostExtension, kLongestMeasurement);
  Measured measured;
  Time now = start;
  do {
    if (auto returned = give_back(held); !returned) return tl::unexpected(returned.error());
    const Time begun = clock_();
    const auto granted = get(first->layouts);
    if (!granted) return tl::unexpected(granted.error());
    now = clock_();
    held = granted->stateid;
    ++measured.calls;
    measured.bytes += granted->bodies;
    measured.elapsed += now - begun;
    measured.times.add(now - begun);
  } while (now < end || (now < last_end && measured.calls < least_calls));
  measured.processor = since(before, processor_());
  if (auto returned = give_back(held); !returned) return tl::unexpected(returned.error());
  return measured;
}

}  // namespace steertag::peer
