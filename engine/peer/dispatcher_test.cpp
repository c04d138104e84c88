// Which program a call goes to.
#include "peer/server/dispatcher.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace steertag::peer::testing
