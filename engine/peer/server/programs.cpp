// The programs of the reference server over one storage.
#include "peer/server/programs.h"

#include "peer/server/mount3_program.h"
#include "peer/server/nfs3_program.h"
#include "peer/server/v4/nfs4_program.h"

namespace steertag::peer {

std::vector<std::unique_ptr<Program>> make_programs(Backend& storage,
                                                    const Nfs4StateOptions& options) {
  auto version4 = std::make_unique<Nfs4Program>(storage, options);
  const auto is_delegated = [state = &version4->state()](const Handle& file) {
    return state->recall_for(file, std::nullopt, Want::write);
  };
  std::vector<std::unique_ptr<Program>> programs;
  programs.push_back(std::make_unique<Nfs3Program>(storage, is_delegated));
  programs.push_back(std::move(version4));
  programs.push_back(std::make_unique<Mount3Program>(storage));
  return programs;
}

}  // namespace steertag::peer
