// Set-id bits that a client asks for by SETATTR, where all objects are the server's own user's.
#include <sys/stat.h>

#include "server/testing/directory_fixture.h"
#include "server/testing/program_calls_fixture.h"
#include "server/testing/somebody_fixture.h"

namespace steertag::peer::testing {
namespace {

class SetIdTest : public DirectoryTest {
 protected:
  /// From here on the server runs as another user than root, and a program of that user is there.
  void serve() {
    open();
    ASSERT_TRUE(make(storage->root(), "program"));
    Nfs4StateOptions state;
    state.clock = [] { return std::chrono::steady_clock::time_point(std::chrono::hours(1)); };
    state.random = seeded_random(8);
    programs.emplace(*storage, state);
  }
  void stop() {
    programs.reset();
    storage.reset();
  }
  std::uint32_t mode() {
    struct stat status {};
    EXPECT_EQ(::lstat(in_export("program").c_str(), &status), 0);
    return status.st_mode & 07777;
  }
  /// The mode that is left of this one when the caller has set it by NFSv3, and by NFSv4.
  std::vector<std::uint32_t> left_of(std::uint32_t wanted) {
    nfs3::SetattrArgs args;
    args.object = nfs3::FileHandle(View(handle_of("program")));
    args.new_attributes.mode = wanted;
    EXPECT_EQ(programs->run3(nfs3::Procedure::NFSPROC3_SETATTR, args), nfs3::Status::NFS3_OK);
    const std::uint32_t by_version3 = mode();
    args.new_attributes.mode = 0600;
    EXPECT_EQ(programs->run3(nfs3::Procedure::NFSPROC3_SETATTR, args), nfs3::Status::NFS3_OK);
    EXPECT_EQ(programs->set_mode4("program", wanted), nfs4::Status::NFS4_OK);
    return {by_version3, mode()};
  }

  using Modes = std::vector<std::uint32_t>;
  std::optional<ProgramCalls> programs;
};

TEST_F(SetIdTest, RootOfAClientMakesNoProgramsThatRunAsTheServersUser) {
  std::filesystem::permissions(exported(), std::filesystem::perms::all);
  const AsSomebody somebody;
  ASSERT_NO_FATAL_FAILURE(serve());
  programs->caller = {0, 0, {}};
  EXPECT_EQ(left_of(04755), (Modes{0755, 0755})) << "it would run as the server's user";
  EXPECT_EQ(left_of(02755), (Modes{0755, 0755})) << "it would run with the server's group";
  const std::uint32_t group = ::getegid();
  programs->caller = {0, 0, std::span(&group, 1)};
  EXPECT_EQ(left_of(06755), (Modes{02755, 02755})) << "that group is the caller's too";
  stop();
}

TEST_F(SetIdTest, RootOfAClientNamesTheServersGroupInVain) {
  std::filesystem::permissions(exported(), std::filesystem::perms::all);
  const AsSomebody somebody;
  ASSERT_NO_FATAL_FAILURE(serve());
  NewNode node;
  node.uid = node.gid = 0;
  node.change.mode = 02755;
  node.change.gid = ::getegid();
  ASSERT_TRUE(storage->remove(storage->root(), "program") == Status::ok);
  ASSERT_TRUE(storage->create(storage->root(), "program", node));
  EXPECT_EQ(mode(), 0755U) << "CREATE: it would run with the server's group";
  stop();
}

TEST_F(SetIdTest, TheServersUserMay) {
  std::filesystem::permissions(exported(), std::filesystem::perms::all);
  const AsSomebody somebody;
  ASSERT_NO_FATAL_FAILURE(serve());
  programs->caller = {::geteuid(), ::getegid(), {}};
  EXPECT_EQ(left_of(06755), (Modes{06755, 06755}));
  stop();
}

TEST_F(SetIdTest, RootOfAClientMayWhereItIsRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "this process is not root";
  ASSERT_NO_FATAL_FAILURE(serve());
  programs->caller = {0, 0, {}};
  EXPECT_EQ(left_of(06755), (Modes{06755, 06755}));
  stop();
}

}  // namespace
}  // namespace steertag::peer::testing
