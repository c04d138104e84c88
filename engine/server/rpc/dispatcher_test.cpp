// Which program a call goes to.
#include "server/rpc/dispatcher.h"

#include <gtest/gtest.h>

#include <optional>

namespace steertag::peer::testing {
namespace {

constexpr std::uint32_t kXid = 5;

class Numbered final : public Program {
 public:
  Numbered(std::uint32_t number, std::uint32_t version) : number_(number), version_(version) {}
  std::uint32_t number() const override { return number_; }
  std::uint32_t version() const override { return version_; }
  rpc::AcceptStatus call(std::uint32_t, wire::Reader&, const CallContext&,
                         ReplyPayload& reply) override {
    wire::Writer(reply.stream()).u32(version_);
    return rpc::AcceptStatus::SUCCESS;
  }

 private:
  std::uint32_t number_;
  std::uint32_t version_;
};

class DispatcherTest : public ::testing::Test {
 protected:
  DispatcherTest() {
    std::vector<std::unique_ptr<Program>> programs;
    for (const auto& [number, version] : {std::pair{100U, 6U}, {100U, 3U}, {200U, 1U}})
      programs.push_back(std::make_unique<Numbered>(number, version));
    dispatcher = std::make_unique<Dispatcher>(std::move(programs));
  }

  rpc::ReplyHeader call(std::uint32_t program, std::uint32_t version) {
    rpc::CallHeader header;
    header.xid = kXid;
    header.program = program;
    header.version = version;
    Bytes octets;
    wire::Writer writer(octets);
    header.encode(writer);
    if (auto admitted = dispatcher->admit(octets, reply)) dispatcher->execute(*admitted, {}, reply);
    wire::Reader reader(reply.stream());
    rpc::ReplyHeader answer;
    answer.decode(reader);
    EXPECT_TRUE(reader.ok());
    served = reader.remaining() == 4 ? wire::load_u32(reader.rest().data()) : 0;
    return answer;
  }

  std::unique_ptr<Dispatcher> dispatcher;
  ReplyPayload reply;
  std::uint32_t served = 0;  // the version that answered
};

TEST_F(DispatcherTest, VersionsOfOneProgramAreServedSideBySide) {
  for (const std::uint32_t version : {3U, 6U}) {
    EXPECT_TRUE(call(100, version).success());
    EXPECT_EQ(served, version);
  }
}

TEST_F(DispatcherTest, MismatchNamesTheRangeOfAllVersionsOfTheProgram) {
  for (const std::uint32_t version : {0U, 4U, 7U}) {
    const rpc::ReplyHeader answer = call(100, version);
    EXPECT_EQ(answer.accept_status, rpc::AcceptStatus::PROG_MISMATCH);
    EXPECT_EQ(answer.mismatch.low, 3U);
    EXPECT_EQ(answer.mismatch.high, 6U);
  }
  EXPECT_EQ(call(300, 1).accept_status, rpc::AcceptStatus::PROG_UNAVAIL);
}

/// Answers who calls: uid, gid and all further groups.
class WhoAmI final : public Program {
 public:
  std::uint32_t number() const override { return 300; }
  std::uint32_t version() const override { return 1; }
  rpc::AcceptStatus call(std::uint32_t, wire::Reader&, const CallContext& context,
                         ReplyPayload& reply) override {
    wire::Writer writer(reply.stream());
    writer.u32(context.caller.uid);
    writer.u32(context.caller.gid);
    for (const std::uint32_t gid : context.caller.gids) writer.u32(gid);
    return rpc::AcceptStatus::SUCCESS;
  }
};

constexpr Squash kOfRoot{Squash::Of::root};
constexpr Squash kOfAll{Squash::Of::all, 700, 7};

/// Who a caller with this credential is to a server that squashes so; without one it is AUTH_NONE.
std::vector<std::uint32_t> identity(const Squash& squash,
                                    const std::optional<rpc::AuthSys>& credential) {
  std::vector<std::unique_ptr<Program>> programs;
  programs.push_back(std::make_unique<WhoAmI>());
  Dispatcher dispatcher(std::move(programs), squash);
  const Bytes body = credential ? rpc::encode_auth_sys(*credential) : Bytes();
  rpc::CallHeader header;
  header.program = 300;
  header.version = 1;
  if (credential) header.credential = {rpc::AuthFlavor::AUTH_SYS, body};
  Bytes octets;
  wire::Writer writer(octets);
  header.encode(writer);
  ReplyPayload reply;
  auto admitted = dispatcher.admit(octets, reply);
  EXPECT_TRUE(admitted);
  if (admitted) dispatcher.execute(*admitted, {}, reply);
  wire::Reader reader(reply.stream());
  rpc::ReplyHeader answer;
  answer.decode(reader);
  EXPECT_TRUE(answer.success());
  std::vector<std::uint32_t> ids;
  while (reader.ok() && reader.remaining() >= 4) ids.push_back(reader.u32("id"));
  return ids;
}

TEST(RootSquash, UidAndGidZeroAreTheAnonymousUsersWhereverTheyStand) {
  rpc::AuthSys root;
  root.gids = {4, 0, 27};
  const std::uint32_t anonymous = Caller::kAnonymous;
  EXPECT_EQ(identity({}, root), (std::vector<std::uint32_t>{0, 0, 4, 0, 27}));
  EXPECT_EQ(identity(kOfRoot, root),
            (std::vector<std::uint32_t>{anonymous, anonymous, 4, anonymous, 27}));
}

TEST(RootSquash, OthersAreWhoTheySay) {
  rpc::AuthSys user;
  user.uid = 1000;
  user.gid = 100;
  user.gids = {4};
  EXPECT_EQ(identity(kOfRoot, user), (std::vector<std::uint32_t>{1000, 100, 4}));
  user.gid = 0;
  EXPECT_EQ(identity(kOfRoot, user), (std::vector<std::uint32_t>{1000, Caller::kAnonymous, 4}));
}

TEST(AllSquash, EveryCallerIsOneUserWithoutGroups) {
  const std::vector<std::uint32_t> one{kOfAll.uid, kOfAll.gid};
  rpc::AuthSys root;
  root.gids = {4, 0, 27};
  rpc::AuthSys user;
  user.uid = 1000;
  EXPECT_EQ(identity(kOfAll, root), one);
  EXPECT_EQ(identity(kOfAll, user), one);
  EXPECT_EQ(identity(kOfAll, std::nullopt), one);
  EXPECT_EQ(identity(kOfRoot, std::nullopt),
            (std::vector<std::uint32_t>{Caller::kAnonymous, Caller::kAnonymous}));
}

}  // namespace
}  // namespace steertag::peer::testing
