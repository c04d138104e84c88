// Rules on reduction: checks and texts.
#include "conformance/rules/binding_rules.h"

#include <algorithm>

#include "conformance/rules/form_rules.h"
#include "conformance/text.h"
#include "nfs/binding.h"
#include "nfs/eligible_items.h"
#include "wire/xdr.h"

namespace steertag::conformance {

namespace {

/// Calls that are shorter have little data, and a look at each operation would cost more.
constexpr std::size_t kShortestWithData = 256;

enum class Binding : std::uint8_t { unknown, nfs_2_or_3, nothing_eligible };

Binding binding_of(const RpcCall& rpc) {
  if (rpc.program == nfs::kNfsProgram && (rpc.version == 2 || rpc.version == 3)) {
    return Binding::nfs_2_or_3;
  }
  return nfs::nothing_eligible(rpc.program) ? Binding::nothing_eligible : Binding::unknown;
}

std::string procedure(const RpcCall& rpc) {
  return say("program ", rpc.program, " version ", rpc.version, " procedure ", rpc.procedure);
}

class BindingCheck {
 public:
  BindingCheck(const Message& message, const RpcCall& rpc, Connection& connection)
      : message_(message), rpc_(rpc), connection_(connection) {}

  void read_list() {
    const auto& list = message_.header->read_list;
    // Position-zero chunks may hold any octets (RFC 8166 3.5.3).
    const auto reduced =
        std::find_if(list.begin(), list.end(), [](const auto& each) { return each.position != 0; });
    if (reduced == list.end()) return;
    if (rpc_.wrapping == rpc::Wrapping::wrapped) {
      return not_eligible(kWrappedPayloadIsNotReduced, *reduced);
    }
    const Binding binding = binding_of(rpc_);
    if (binding == Binding::nothing_eligible) {
      return not_eligible(kOnlyEligibleItemsAreReduced, *reduced);
    }
    if (binding == Binding::unknown || may_be_wrapped(nfs::ItemIn::argument)) return;
    wire::Fault fault;
    const auto item = nfs::eligible_argument(message_.payload, &fault);
    if (fault) return;  // it is unknown which item this is
    for (const wire::ReadSegment& each : list) {
      if (each.position != 0 && (!item || each.position != item->position)) {
        return not_eligible(kOnlyEligibleNfsItemsAreReduced, each);
      }
    }
    argument(*item);
  }

  /// RFC 4506 4.10. Of calls without reduced arguments, since nothing has moved in them.
  void roundup() {
    const auto& list = message_.header->read_list;
    const bool is_plain = rpc_.program == nfs::kNfsProgram &&
                          rpc_.wrapping == rpc::Wrapping::plain && message_.inline_payload();
    if (!is_plain || !list.empty() || message_.payload.size() < kShortestWithData) return;
    for (const nfs::EligibleItem& item : nfs::eligible_arguments(message_.payload, {})) {
      const std::uint64_t end = item.position + item.length;
      const std::uint64_t rounded = wire::roundup4(end);
      if (item.reduced || rounded > message_.payload.size()) continue;
      const View octets = message_.payload.subspan(end, rounded - end);
      if (std::ranges::all_of(octets, [](std::byte octet) { return octet == std::byte{0}; }))
        continue;
      if (Finding* finding = open(kArgumentRoundupIsZero)) {
        finding->expected =
            say(octets.size(), " zeros behind the item of ", item.length, " octets");
        finding->observed = say("other octets at position ", end);
      }
      return;
    }
  }

  void write_list() {
    const std::size_t chunks = message_.header->write_list.size();
    const Binding binding = binding_of(rpc_);
    if (chunks == 0 || binding == Binding::unknown) return;
    const bool eligible = binding == Binding::nfs_2_or_3 && has_eligible(nfs::ItemIn::result);
    if (eligible && chunks == 1) return;
    if (Finding* finding =
            open(eligible ? kOneWriteChunkForOneResult : kWriteListOnlyForEligibleResults)) {
      finding->expected =
          say(eligible ? "one write chunk" : "no write list", " for ", procedure(rpc_));
      finding->observed = say("a write list of ", chunks, " chunks");
    }
  }

  void results(const Call& call) {
    const wire::WriteList& returned = message_.header->write_list;
    if (returned.size() != call.header.write_list.size()) return;  // judged already
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < returned.size(); ++i) length += wire::chunk_length(returned[i]);
    const Binding binding = binding_of(rpc_);
    if (rpc_.wrapping == rpc::Wrapping::wrapped) return unused(kWrappedPayloadIsNotReduced, length);
    if (binding == Binding::nothing_eligible) return unused(kOnlyEligibleItemsAreReduced, length);
    if (binding == Binding::unknown || !message_.inline_payload()) return;
    if (may_be_wrapped(nfs::ItemIn::result)) return;
    wire::Fault fault;
    const auto item =
        nfs::eligible_result(message_.payload, rpc_.program, rpc_.version, rpc_.procedure, &fault);
    if (item) return result(*item, call.header.write_list, length);
    if (fault) return;
    unused(has_eligible(nfs::ItemIn::result) ? kChunkWithoutResultIsUnused
                                             : kOnlyEligibleNfsItemsAreReduced,
           length);
  }

 private:
  bool has_eligible(nfs::ItemIn in) const {
    return nfs::eligible_item(rpc_.program, rpc_.version, rpc_.procedure, in).has_value();
  }
  /// It is unknown whether the procedure's item may be reduced.
  bool may_be_wrapped(nfs::ItemIn in) const {
    return rpc_.wrapping == rpc::Wrapping::unknown && has_eligible(in);
  }

  Finding* open(const Rule& rule) { return open_finding(rule, message_, connection_); }

  void not_eligible(const Rule& rule, const wire::ReadSegment& segment) {
    if (Finding* finding = open(rule)) {
      finding->expected = say("no such item reduced in a call of ", procedure(rpc_));
      finding->observed = say("a read segment at position ", segment.position, " ", segment.target);
    }
  }

  void argument(const nfs::EligibleItem& item) {
    std::uint64_t length = 0;
    for (const wire::ReadSegment& each : message_.header->read_list) {
      if (each.position == item.position) length += each.target.length;
    }
    const std::uint64_t rounded = wire::roundup4(item.length);
    if (length != item.length && length != rounded) {
      if (Finding* finding = open(kReadChunkIsAsLongAsItsItem)) {
        finding->expected = say("a read chunk of ", item.length, " octets, as its count says");
        finding->observed = say("a read chunk of ", length, " octets at position ", item.position);
      }
      return;
    }
    if (item.length != 0 && !item.reduced) {
      if (Finding* finding = open(kArgumentIsReducedWhole)) {
        finding->expected = "nothing of the item in the payload stream";
        finding->observed = say("octets behind the count of ", item.length, " at position ",
                                item.position, " though a read chunk holds the item");
      }
      return;
    }
    if (length == item.length) return;
    if (Finding* finding = open(kReadChunkLeavesRoundupOut)) {
      finding->expected = say("a read chunk of ", item.length, " octets without roundup");
      finding->observed = say("a read chunk of ", length, " octets");
    }
  }

  void unused(const Rule& rule, std::uint64_t length) {
    if (length == 0) return;
    if (Finding* finding = open(rule)) {
      finding->expected = say("nothing reduced in this reply to ", procedure(rpc_));
      finding->observed = say(length, " octets returned in write chunks");
    }
  }

  void result(const nfs::EligibleItem& item, const wire::WriteList& offered, std::uint64_t length) {
    // A chunk whose segments are all empty has no room, like a chunk without segments.
    const bool empty = offered.empty() || wire::chunk_length(offered[0]) == 0;
    if (empty && !offered.empty() && item.reduced) {
      if (Finding* finding = open(kEmptyChunkGetsItsResultInline)) {
        finding->expected = say("the item's ", item.length, " octets in the payload stream");
        finding->observed = "only its count in the payload stream";
      }
      return;
    }
    if (!empty && item.length != 0 && !item.reduced) {
      if (keeps_roundup(message_)) return;  // no octets of the item: check_reply_form blames them
      if (Finding* finding = open(kEligibleResultIsInItsChunk)) {
        finding->expected = say("the item's ", item.length, " octets in the write chunk");
        finding->observed = say("octets behind the count in the payload stream, ", length,
                                " octets in write chunks");
      }
      return;
    }
    const std::uint64_t expected = item.reduced ? item.length : 0;
    if (length == expected) return;
    if (Finding* finding = open(kWriteChunkIsAsLongAsItsItem)) {
      finding->expected = say("a write chunk with the item's ", expected, " octets");
      finding->observed = offered.empty() ? "no write chunk" : say(length, " octets");
    }
  }

  const Message& message_;
  const RpcCall& rpc_;
  Connection& connection_;
};

}  // namespace

void check_call_binding(const Message& message, const RpcCall& rpc, Connection& connection) {
  BindingCheck check(message, rpc, connection);
  check.read_list();
  check.roundup();
  check.write_list();
}

void check_reply_binding(const Message& message, const Call& call, Connection& connection) {
  if (call.rpc) BindingCheck(message, *call.rpc, connection).results(call);
}

}  // namespace steertag::conformance
