// Fuzzes COMPOUND4args.
#include "nfs/v4/fuzz/check_compound.h"

using namespace steertag;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::check_compound<nfs4::CompoundArgs, nfs4::Opnum, false>(fuzz::view_of(data, size));
  return 0;
}
