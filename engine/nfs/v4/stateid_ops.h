// Operations on stateids: FREE_STATEID, TEST_STATEID.
#pragma once

#include <vector>

#include "nfs/v4/result.h"
#include "nfs/v4/types.h"

namespace steertag::nfs4 {

/// FREE_STATEID4args
struct FreeStateidArgs {
  StateId fsa_stateid{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"fsa_stateid", &FreeStateidArgs::fsa_stateid}};
};

/// TEST_STATEID4args
struct TestStateidArgs {
  std::vector<StateId> ts_stateids{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"ts_stateids", &TestStateidArgs::ts_stateids, kMostStateids}};
};

/// TEST_STATEID4resok: a status for each stateid, in their order.
struct TestStateidOk {
  std::vector<Status> tsr_status_codes{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"tsr_status_codes", &TestStateidOk::tsr_status_codes, kMostStateids}};
};

using FreeStateidResult = Result<Void>;
using TestStateidResult = Result<TestStateidOk>;

}  // namespace steertag::nfs4
