// Fuzzes CB_COMPOUND4args and CB_COMPOUND4res: the first octet chooses.
#include "nfs/v4/fuzz/check_compound.h"

using namespace steertag;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const View input = fuzz::view_of(data, size).subspan(1);
  if (data[0] == 0) {
    fuzz::check_compound<nfs4::CbCompoundArgs, nfs4::CbOpnum, false>(input);
  } else {
    fuzz::check_compound<nfs4::CompoundResult, nfs4::CbOpnum, true>(input);
  }
  return 0;
}
