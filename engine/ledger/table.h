// The generated table, for ledger.cpp.
#pragma once

#include <array>
#include <span>

#include "ledger/ledger.h"
#include "ledger/unbroken.h"

namespace steertag::ledger {

extern const std::array<Requirement, kIds.size()> kRequirements;
extern const std::span<const Document> kDocuments;
/// Sorted by id.
extern const std::span<const Unbroken> kUnbroken;

}  // namespace steertag::ledger
