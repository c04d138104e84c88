// The programs of the reference server over one storage.
#include "server/rpc/programs.h"

#include "server/direct/direct_program.h"
#include "server/nfs3/mount3_program.h"
#include "server/nfs3/nfs3_program.h"
#include "server/v4/nfs4_program.h"

namespace steertag::peer {

std::vector<std::unique_ptr<Program>> make_programs(Backend& storage,
                                                    const Nfs4StateOptions& options,
                                                    const std::shared_ptr<DirectAccess>& access) {
  auto version4 = std::make_unique<Nfs4Program>(storage, options);
  const auto must_wait = [state = &version4->state()](const Handle& file) {
    return state->check_change(file, std::nullopt) != nfs4::Status::NFS4_OK;
  };
  std::vector<std::unique_ptr<Program>> programs;
  programs.push_back(std::make_unique<Nfs3Program>(storage, must_wait));
  if (access && storage.observe(access.get()))
    programs.push_back(std::make_unique<DirectProgram>(storage, version4->state(), access));
  programs.push_back(std::move(version4));
  programs.push_back(std::make_unique<Mount3Program>(storage));
  return programs;
}

}  // namespace steertag::peer
