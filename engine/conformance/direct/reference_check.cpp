// Rules on references: checks and texts.
#include "conformance/direct/reference_check.h"

#include "conformance/direct/direct_rules.h"
#include "conformance/text.h"

namespace steertag::conformance {

namespace {

bool has_same_frame(const direct::Reference& one, const direct::Reference& other) {
  return one.stag == other.stag && one.base == other.base && one.offset == other.offset &&
         one.length == other.length;
}

std::string place_of(const direct::Reference& reference) {
  return say("STag ", Hex{reference.stag}, " base ", Hex{reference.base, true});
}

std::string block_of(const direct::Reference& reference) {
  return say("the block at ", reference.offset, " with ", reference.length, " octets");
}

}  // namespace

void ReferenceCheck::take(std::string_view file, std::span<const direct::Reference> references) {
  const auto number = access_.number_of(file);
  if (!number) user_.incomplete = true;
  for (const direct::Reference& each : references) {
    if (each.generation == 0) {
      user_.incomplete = true;
      if (Finding* finding = open(kGenerationIsNotZero)) {
        finding->expected = "another generation than 0";
        finding->observed = say("a reference to ", block_of(each), " with generation 0");
      }
      continue;
    }
    if (number) take(*number, each);
  }
}

void ReferenceCheck::take(std::uint32_t file, const direct::Reference& reference) {
  if (Grant* earlier = user_.grants.find(reference.generation)) {
    return check_again(*earlier, reference);
  }
  check_place(reference);
  Grant grant;
  grant.reference = reference;
  grant.file = file;
  grant.event = message_.event;
  grant.first = access_.next_moment();
  grant.granted_ns = message_.time_ns;
  access_.keep(user_, grant);
  grew_ = true;
}

/// A block that has not changed may be granted again as it is. Two handles may name one file.
void ReferenceCheck::check_again(Grant& earlier, const direct::Reference& reference) {
  const bool is_same = has_same_frame(earlier.reference, reference);
  const bool is_stale = is_same && earlier.changed != 0 && began_ > earlier.changed;
  if (!is_same || is_stale) {
    if (Finding* finding = open(kGenerationNamesOneState)) {
      finding->expected = is_same ? "a new generation, as the block has changed"
                                  : "each generation for one frame and block alone";
      finding->observed = say("generation ", Hex{reference.generation, true}, " of ",
                              block_of(reference), " at ", place_of(reference));
      finding->observed += is_same ? say(", changed in ", connection_.visibility.index_counts, " ",
                                         earlier.change_event)
                                   : say(", which was that of ", block_of(earlier.reference),
                                         " at ", place_of(earlier.reference));
    }
    return;
  }
  earlier.granted_ns = message_.time_ns;
  earlier.returned = false;
  earlier.given_up.reset();
}

void ReferenceCheck::check_place(const direct::Reference& reference) {
  const Grant* earlier = user_.grants.at(reference.stag, reference.base);
  if (earlier == nullptr || earlier->reference.offset == reference.offset) return;
  const Rule& rule = earlier->returned ? kReturnedPlaceIsNotUsedAgain : kFrameKeepsItsBlock;
  if (Finding* finding = open(rule)) {
    finding->expected = "another STag and base for another block";
    finding->observed = say(block_of(reference), " at ", place_of(reference), ", where ",
                            block_of(earlier->reference), " was");
  }
}

void ReferenceCheck::finish() {
  if (!grew_ || user_.grants.size() <= user_.most_references) return;
  const std::int64_t lease = user_.certain_lease_ns();
  const std::size_t held = user_.grants.places([&](const Grant& each) {
    return !each.returned && message_.time_ns - each.granted_ns < lease;
  });
  if (held <= user_.most_references) return;
  if (Finding* finding = open(kReferencesStayWithinTheMost)) {
    finding->expected = say("at most ", user_.most_references, " references of a user");
    finding->observed = say(held, " references within one lease, none of them given back");
  }
}

}  // namespace steertag::conformance
