// Deviations of the client: what of a reply it does not compare with its call.
// RFC 8166 6.1. Also verifiers that it does not compare with those before.
#include <algorithm>

#include "deviations/client/client_compound.h"
#include "deviations/families.h"
#include "nfs/v4/io_ops.h"

namespace steertag::deviations {
namespace {

/// From this octet on the client sees zeros in each write verifier.
template <std::size_t kFrom>
void hide_verifier(ArrivingMessage& arriving) {
  const auto hide = [](std::uint32_t, auto& ok) {
    std::fill(ok.writeverf.begin() + kFrom, ok.writeverf.end(), std::byte{0});
  };
  change_arrived<nfs4::WriteResult>(arriving, nfs4::Opnum::OP_WRITE, hide);
  change_arrived<nfs4::CommitResult>(arriving, nfs4::Opnum::OP_COMMIT, hide);
}

/// Data of a long reply is looked for in the reply chunk alone.
void fail_long_with_data(ArrivingMessage& arriving) {
  const auto decoded = decode(arriving.message());
  if (!decoded || decoded->header.proc != wire::Procedure::nomsg) return;
  const wire::WriteList& chunks = decoded->header.write_list;
  const bool has_data = !chunks.empty() && wire::chunk_length(chunks[0]) > 0;
  if (has_data && arriving.history.find(decoded->header.xid)) arriving.fail(decoded->header.xid);
}

constexpr Deviation kReplyChecks[] = {
    {.name = "returned-length-ignored",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.4.6.1-1", "RFC8166-4.3.2.2-5"},
     .sentence = "A write chunk counts as filled, whatever length comes back.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.requester.reply.compares_length = false;
                    }}},
    {.name = "inline-result-taken",
     .side = trace::Role::client,
     .breaks = {"RFC8166-6.1-6"},
     .sentence = "A result that came inline despite its write chunk is taken.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.requester.reply.refuses_inline = false;
                    }}},
    {.name = "reduced-ineligible-taken",
     .side = trace::Role::client,
     .breaks = {"RFC8166-6.1-5"},
     .sentence = "What a write chunk holds beside an empty result is overlooked.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.requester.reply.refuses_ineligible = false;
                    }}},
    {.name = "long-reply-with-data-refused",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.3.2.1-1"},
     .sentence = "A reply in the reply chunk is refused if its data is in the write chunk.",
     .client = {.arrival = fail_long_with_data}},
    {.name = "write-verifier-ignored",
     .side = trace::Role::client,
     .breaks = {"RFC8881-18.32.3-2"},
     .sentence = "Verifiers of WRITE and COMMIT are not compared.",
     .client = {.arrival = hide_verifier<0>}},
    {.name = "write-verifier-half-compared",
     .side = trace::Role::client,
     .breaks = {"RFC8881-18.32.3-2"},
     .sentence = "Of the verifiers of WRITE and COMMIT the first four octets are compared.",
     .client = {.arrival = hide_verifier<4>}},
    {.name = "returned-segments-ignored",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.4.3-2"},
     .sentence = "Handles and offsets of chunks that come back are not compared.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.requester.reply.compares_segments = false;
                    }}},
};

}  // namespace

std::span<const Deviation> reply_checks_family() {
  return kReplyChecks;
}

}  // namespace steertag::deviations
