// The list of all rules.
#include "conformance/direct/direct_rules.h"
#include "conformance/legacy/prototype_rules.h"
#include "conformance/legacy/rfc5666_rules.h"
#include "conformance/pnfs/pnfs_rules.h"
#include "conformance/rules/binding_rules.h"
#include "conformance/rules/chunk_rules.h"
#include "conformance/rules/connection_rules.h"
#include "conformance/rules/credit_rules.h"
#include "conformance/rules/error_rules.h"
#include "conformance/rules/form_rules.h"
#include "conformance/rules/header_rules.h"
#include "conformance/rules/invalidation_rules.h"
#include "conformance/rules/private_data_rules.h"
#include "conformance/rules/rdma_write_read_rules.h"
#include "conformance/rules/returned_chunk_rules.h"
#include "conformance/rules/threshold_rules.h"
#include "conformance/rules/xid_rules.h"

namespace steertag::conformance {

namespace {

template <std::size_t... Sizes>
constexpr auto join(const std::array<Rule, Sizes>&... families) {
  // A Rule has no empty state, so pointers are collected first.
  std::array<const Rule*, (Sizes + ...)> from{};
  std::size_t count = 0;
  const auto take = [&](const auto& family) {
    for (const Rule& rule : family) from[count++] = &rule;
  };
  (take(families), ...);
  return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
    return std::array<Rule, sizeof...(Index)>{*from[Index]...};
  }
  (std::make_index_sequence<(Sizes + ...)>{});
}

constexpr auto kAll =
    join(kConnectionRules, kPrivateDataRules, kHeaderRules, kXidRules, kCreditRules,
         kThresholdRules, kFormRules, kChunkRules, kReturnedChunkRules, kInvalidationRules,
         kRdmaWriteReadRules, kErrorRules, kBindingRules, kDirectRules, kPnfsRules);
constexpr auto kLegacy = join(kPrototypeRules, kRfc5666Rules);

}  // namespace

std::span<const Rule> rules() {
  return kAll;
}

std::span<const Rule> legacy_rules() {
  return kLegacy;
}

}  // namespace steertag::conformance
