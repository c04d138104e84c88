// What tests of the NFSv3 server share: the reference client through loopback iWARP.
// It calls each storage, with short forms of the procedures.
#pragma once

#include <string>

#include "server/directory/directory_backend.h"
#include "server/testing/peer_fixture.h"
#include "server/testing/temporary_directory.h"

namespace steertag::peer::testing {

using nfs3::Procedure;
using nfs3::Status;

template <class Result>
std::size_t encoded_size(const Result& result) {
  Bytes octets;
  wire::Writer writer(octets);
  result.encode(writer);
  return octets.size();
}

/// What keeps the octets.
enum class Keeper { memory, directory };

inline std::string name_of(const ::testing::TestParamInfo<Keeper>& info) {
  return info.param == Keeper::memory ? "Memory" : "Directory";
}

/// The directory has to be there before the storage, and to go after it.
class KeptIn {
 protected:
  std::unique_ptr<Backend> keep(Keeper keeper, const MemoryLimits& limits) {
    if (keeper == Keeper::memory)
      return std::make_unique<MemoryBackend>(counting_clock(), seeded_random(8), limits);
    directory_.emplace();
    DirectoryOptions options;
    options.path = directory_->path();
    options.key = {3, 4};
    auto made = DirectoryBackend::open(options, counting_clock(), seeded_random(8));
    EXPECT_TRUE(made) << made.error();
    return std::move(*made);
  }

  /// The host's directory that is exported; with Keeper::directory only.
  std::string exported() const { return directory_->path(); }

 private:
  std::optional<TemporaryDirectory> directory_;
};

class Nfs3Test : public KeptIn, public PeerTest, public ::testing::WithParamInterface<Keeper> {
 protected:
  explicit Nfs3Test(const MemoryLimits& limits = {}) : PeerTest(keep(GetParam(), limits)) {}
  static bool in_memory() { return GetParam() == Keeper::memory; }
  /// Owners can be set and devices made: on the host only root can.
  static bool has_root() { return in_memory() || ::geteuid() == 0; }
  /// A caller that is neither root nor the owner, without credentials if that suffices.
  Identity stranger_to(const nfs3::FileHandle& object) {
    const nfs3::Fattr found = attributes(object);
    if (found.uid != Caller::kAnonymous && found.gid != Caller::kAnonymous) return {};
    return {true, found.uid - 1, found.gid - 1, "test"};
  }
  void SetUp() override {
    serve();
    client = connect();
    client->set_identity({true, 0, 0, "test"});
  }

  template <class Result, class Args>
  Result call(Procedure procedure, const Args& args) {
    auto result = client->call<Result>(procedure, args);
    EXPECT_TRUE(result) << rpc::name(procedure) << ": " << result.error().message();
    return result ? *result : Result{};
  }
  nfs3::FileHandle made(const nfs3::CreateResult& result) {
    EXPECT_EQ(result.status, Status::NFS3_OK);
    EXPECT_TRUE(result.ok.obj.has_value());
    return result.ok.obj.value_or(nfs3::FileHandle{});
  }
  nfs3::CreateResult create(std::string_view name,
                            nfs3::CreateMode mode = nfs3::CreateMode::UNCHECKED) {
    nfs3::CreateArgs args;
    args.where = {root, name};
    args.how.mode = mode;
    if (mode != nfs3::CreateMode::EXCLUSIVE) args.how.obj_attributes.mode = 0644;
    return call<nfs3::CreateResult>(Procedure::NFSPROC3_CREATE, args);
  }
  nfs3::FileHandle mkdir(std::string_view name) {
    nfs3::MkdirArgs args;
    args.where = {root, name};
    args.attributes.mode = 0755;
    return made(call<nfs3::MkdirResult>(Procedure::NFSPROC3_MKDIR, args));
  }
  nfs3::LookupResult lookup(const nfs3::FileHandle& directory, std::string_view name) {
    return call<nfs3::LookupResult>(Procedure::NFSPROC3_LOOKUP,
                                    nfs3::LookupArgs{{directory, name}});
  }
  nfs3::Fattr attributes(const nfs3::FileHandle& object) {
    const auto result =
        call<nfs3::GetattrResult>(Procedure::NFSPROC3_GETATTR, nfs3::GetattrArgs{object});
    EXPECT_EQ(result.status, Status::NFS3_OK);
    return result.ok.obj_attributes;
  }
  Status setattr(const nfs3::FileHandle& object, const nfs3::Sattr& sattr,
                 std::optional<nfs3::Time> guard = {}) {
    return call<nfs3::SetattrResult>(Procedure::NFSPROC3_SETATTR,
                                     nfs3::SetattrArgs{object, sattr, guard})
        .status;
  }
  Status remove(Procedure procedure, std::string_view name) {
    return call<nfs3::RemoveResult>(procedure, nfs3::RemoveArgs{{root, name}}).status;
  }
  Status rename(std::string_view from, std::string_view to) {
    return call<nfs3::RenameResult>(Procedure::NFSPROC3_RENAME,
                                    nfs3::RenameArgs{{root, from}, {root, to}})
        .status;
  }
  nfs3::WriteResult write(const nfs3::FileHandle& file, std::uint64_t offset, View data,
                          nfs3::StableHow stable) {
    nfs3::WriteArgs args;
    args.file = file;
    args.offset = offset;
    args.count = static_cast<std::uint32_t>(data.size());
    args.stable = stable;
    args.data = data;
    return call<nfs3::WriteResult>(Procedure::NFSPROC3_WRITE, args);
  }

  std::unique_ptr<Nfs3Client> client;
};

}  // namespace steertag::peer::testing
