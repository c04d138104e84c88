// Fuzzes COMPOUND4res.
#include "nfs/v4/fuzz/check_compound.h"

using namespace steertag;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::check_compound<nfs4::CompoundResult, nfs4::Opnum, true>(fuzz::view_of(data, size));
  return 0;
}
