// Compiled by a test, never linked: a Ref to a known id compiles, one to an unknown id does not.
#include "ledger/ledger.h"

#ifdef STEERTAG_REF_known
constexpr auto kRef = steertag::ledger::ref("RFC8166-4.2.1-1");
static_assert(kRef.id() == "RFC8166-4.2.1-1");
#else
constexpr auto kRef = steertag::ledger::ref("RFC8166-4.2.1-99");
#endif
