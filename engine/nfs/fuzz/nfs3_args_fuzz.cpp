// Fuzzes the args of NFS version 3: the first octet chooses the procedure.
#include "nfs/fuzz/check_codec.h"
#include "nfs/nfs3_procedures.h"

using namespace steertag;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto procedure = rpc::value_numbered<nfs3::Procedure>(data[0]);
  if (!procedure) return 0;
  const View input = fuzz::view_of(data, size).subspan(1);
  nfs3::with_signature(*procedure, [&]<class Args, class Result>(nfs3::Signature<Args, Result>) {
    fuzz::check_codec<Args>(input);
  });
  return 0;
}
