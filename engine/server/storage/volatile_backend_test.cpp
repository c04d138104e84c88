// Unstable octets in memory, above the export of a directory.
#include "server/storage/volatile_backend.h"

#include "server/testing/directory_fixture.h"

namespace steertag::peer::testing {
namespace {

constexpr std::size_t kRoom = 64;

class VolatileBackendTest : public DirectoryTest {
 protected:
  void SetUp() override {
    open();
    file = *make(storage->root(), "file");
    ASSERT_EQ(write(file, "stable octets"), Status::ok);
    start();
  }
  /// A new process: the storage above has nothing.
  void start() {
    auto below = DirectoryBackend::open(options, clock(), seeded_random(++starts));
    ASSERT_TRUE(below) << below.error();
    above = std::make_unique<VolatileBackend>(std::move(*below),
                                              kRoom + VolatileBackend::kExtentOverhead, clock());
    file = *above->lookup(above->root(), "file");
  }
  Status put(std::string_view text, std::uint64_t offset) {
    return above->write(file, offset, std::as_bytes(std::span(text)));
  }
  std::string seen(std::uint64_t offset = 0, std::uint32_t count = 100) {
    std::vector<Slice> slices;
    const auto length = above->read(file, offset, count, slices);
    std::string text;
    for (const Slice& slice : slices)
      text.append(reinterpret_cast<const char*>(slice.bytes.data()), slice.bytes.size());
    EXPECT_EQ(length.value_or(0), text.size());
    return text;
  }
  /// As the other storage has it, which knows no more than the host.
  std::string on_host() { return read(file); }

  std::unique_ptr<VolatileBackend> above;
  NodeId file = 0;
};

TEST_F(VolatileBackendTest, OctetsAreReadAtOnceAndLostWithTheProcess) {
  ASSERT_EQ(put("UNSTABLE", 7), Status::ok);
  EXPECT_EQ(seen(), "stable UNSTABLE");
  EXPECT_EQ(above->attributes(file)->size_bytes, 15);
  EXPECT_EQ(on_host(), "stable octets");
  start();
  EXPECT_EQ(seen(), "stable octets");
}

TEST_F(VolatileBackendTest, ACommitMakesThemStable) {
  ASSERT_EQ(put("UNSTABLE", 7), Status::ok);
  ASSERT_EQ(above->commit(file), Status::ok);
  start();
  EXPECT_EQ(seen(), "stable UNSTABLE");
}

TEST_F(VolatileBackendTest, LaterOctetsTakeThePlaceOfEarlierOnes) {
  for (const auto& [text, offset] : {std::pair("abcdefgh", 20), {"123", 22}, {"XY", 19}, {"!", 27}})
    ASSERT_EQ(put(text, static_cast<std::uint64_t>(offset)), Status::ok);
  EXPECT_EQ(seen(19), "XYb123fg!");
  EXPECT_EQ(seen(23, 2), "23");
  EXPECT_EQ(seen(13, 6), std::string(6, '\0'));
  EXPECT_EQ(seen(28), "");
  ASSERT_EQ(above->publish(file), Status::ok);
  EXPECT_EQ(on_host().substr(19), "XYb123fg!");
}

TEST_F(VolatileBackendTest, BeyondItsRoomTheHostGetsThem) {
  ASSERT_EQ(put(std::string(kRoom, 'a'), 0), Status::ok);
  EXPECT_EQ(on_host(), "stable octets");
  ASSERT_EQ(put("b", kRoom), Status::ok);
  EXPECT_EQ(on_host(), std::string(kRoom, 'a') + "b");
}

TEST_F(VolatileBackendTest, ChangeNeverGoesBack) {
  std::uint64_t change = above->attributes(file)->change;
  const auto grows = [&] {
    const std::uint64_t before = std::exchange(change, above->attributes(file)->change);
    return before < change;
  };
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(put("x", 0), Status::ok);
    EXPECT_TRUE(grows());
  }
  ASSERT_EQ(above->commit(file), Status::ok);
  EXPECT_TRUE(grows());
}

TEST_F(VolatileBackendTest, ACutFileDoesNotGrowAgain) {
  ASSERT_EQ(put("UNSTABLE", 7), Status::ok);
  AttributeChange shorter;
  shorter.size_bytes = 3;
  ASSERT_EQ(above->change(file, shorter), Status::ok);
  ASSERT_EQ(above->commit(file), Status::ok);
  EXPECT_EQ(on_host(), "sta");
}

TEST_F(VolatileBackendTest, ARemovedFileLeavesNothing) {
  ASSERT_EQ(put(std::string(kRoom, 'a'), 0), Status::ok);
  ASSERT_EQ(above->remove(above->root(), "file"), Status::ok);
  file = *above->create(above->root(), "file", {});
  ASSERT_EQ(put("new", 0), Status::ok);
  EXPECT_EQ(seen(), "new");
  ASSERT_EQ(put(std::string(kRoom - 3, 'b'), 3), Status::ok);
  EXPECT_EQ(above->attributes(file)->size_bytes, kRoom);
}

TEST_F(VolatileBackendTest, ADirectoryTakesNone) {
  const NodeId directory = *make(storage->root(), "directory", FileType::directory);
  EXPECT_NE(above->write(directory, 0, std::as_bytes(std::span("x", 1))), Status::ok);
}

}  // namespace
}  // namespace steertag::peer::testing
