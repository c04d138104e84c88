// The reference client of NFS version 3 and MOUNT.
#include "client/nfs3/nfs3_client.h"

namespace steertag::peer {

Expected<mount3::MntResult, CallError> Nfs3Client::mount(std::string_view path) {
  Request request =
      mount3_call(mount3::Procedure::MOUNTPROC3_MNT, mount3::DirPath{path}, identity_);
  request.wish = client_.wish();
  return decode<mount3::MntResult>(client_.round_trip(std::move(request)));
}

}  // namespace steertag::peer
