// The programs of the reference server over one storage.
#include "server/rpc/programs.h"

#include "server/direct/direct_program.h"
#include "server/nfs3/mount3_program.h"
#include "server/nfs3/nfs3_program.h"
#include "server/v4/nfs4_program.h"
#include "server/v4/pnfs/metadata_authority.h"

namespace steertag::peer {
namespace {

Programs make(Backend& storage, std::unique_ptr<Nfs4Program> version4,
              const std::shared_ptr<DirectAccess>& access) {
  const auto must_wait = [state = &version4->state()](const Handle& file) {
    return state->check_change(file, std::nullopt) != nfs4::Status::NFS4_OK;
  };
  Programs programs;
  programs.state = &version4->state();
  programs.all.push_back(
      std::make_unique<Nfs3Program>(storage, must_wait, version4->state().fence()));
  if (access && storage.observe(access.get()))
    programs.all.push_back(std::make_unique<DirectProgram>(storage, version4->state(), access));
  programs.all.push_back(std::move(version4));
  programs.all.push_back(std::make_unique<Mount3Program>(storage));
  return programs;
}

}  // namespace

std::vector<std::unique_ptr<Program>> make_programs(Backend& storage,
                                                    const Nfs4StateOptions& options,
                                                    const std::shared_ptr<DirectAccess>& access) {
  return make(storage, std::make_unique<Nfs4Program>(storage, options), access).all;
}

Programs make_metadata_server(Backend& storage, const Nfs4StateOptions& options,
                              const std::shared_ptr<const DataServers>& data_servers,
                              const std::shared_ptr<DirectAccess>& access,
                              std::optional<std::uint32_t> own_index) {
  PnfsRole role;
  role.data_servers = data_servers;
  auto version4 = std::make_unique<Nfs4Program>(storage, options, role);
  const auto authority =
      std::make_shared<MetadataAuthority>(version4->state(), data_servers->policy());
  if (own_index) version4->be_data_server(*own_index, authority);
  Programs programs = make(storage, std::move(version4), access);
  programs.authority = authority;
  return programs;
}

std::vector<std::unique_ptr<Program>> make_data_server(
    Backend& storage, const Nfs4StateOptions& options,
    const std::shared_ptr<const DataServers>& data_servers, std::uint32_t index,
    std::shared_ptr<LayoutAuthority> authority) {
  std::vector<std::unique_ptr<Program>> programs;
  programs.push_back(std::make_unique<Nfs4Program>(
      storage, options, PnfsRole{data_servers, index, std::move(authority)}));
  return programs;
}

}  // namespace steertag::peer
