// The limits of the memory file system: whatever takes memory is counted, and given back.
#include "server/storage/memory_backend.h"

#include "server/testing/peer_fixture.h"

namespace steertag::peer::testing {
namespace {

class MemoryBackendTest : public ::testing::Test {
 protected:
  void limit(const MemoryLimits& limits) {
    storage = std::make_unique<MemoryBackend>(counting_clock(), seeded_random(1), limits);
    root = storage->root();
  }
  Status make(std::string_view name, FileType type = FileType::regular,
              std::string_view text = {}) {
    NewNode node;
    node.type = type;
    node.link_text = text;
    const auto made = storage->create(root, name, node);
    return made ? Status::ok : made.error();
  }
  NodeId node(std::string_view name) { return *storage->lookup(root, name); }

  std::unique_ptr<MemoryBackend> storage;
  NodeId root = 0;
};

TEST_F(MemoryBackendTest, EntriesAreLimited) {
  MemoryLimits limits;
  limits.total_entries = 3;
  limit(limits);
  EXPECT_EQ(make("file"), Status::ok);
  EXPECT_EQ(storage->link(node("file"), root, "link 1"), Status::ok);
  EXPECT_EQ(storage->link(node("file"), root, "link 2"), Status::ok);
  EXPECT_EQ(storage->link(node("file"), root, "link 3"), Status::no_space);
  EXPECT_EQ(make("other"), Status::no_space);
  EXPECT_EQ(make("other", FileType::directory), Status::no_space);
  EXPECT_EQ(make("other", FileType::link, "text"), Status::no_space);
  EXPECT_EQ(storage->rename(root, "link 1", root, "link 3"), Status::ok) << "it adds no entry";
  EXPECT_EQ(storage->rename(root, "link 2", root, "link 3"), Status::ok) << "the same file";
  EXPECT_EQ(storage->remove(root, "link 2"), Status::ok);
  EXPECT_EQ(make("other", FileType::directory), Status::ok);
  EXPECT_EQ(storage->remove_directory(root, "other"), Status::ok);
  EXPECT_EQ(make("other"), Status::ok);
}

TEST_F(MemoryBackendTest, OctetsOfNamesAreLimited) {
  MemoryLimits limits;
  limits.total_name_bytes = 10;
  limit(limits);
  EXPECT_EQ(make("12345"), Status::ok);
  EXPECT_EQ(make("123456"), Status::no_space);
  EXPECT_EQ(make("abcd"), Status::ok);
  EXPECT_EQ(storage->rename(root, "abcd", root, "abcdef"), Status::no_space);
  EXPECT_TRUE(storage->lookup(root, "abcd").has_value()) << "a refused rename changed something";
  EXPECT_EQ(storage->rename(root, "abcd", root, "abcde"), Status::ok);
  EXPECT_EQ(storage->rename(root, "abcde", root, "12345"), Status::ok) << "one name goes";
  EXPECT_EQ(make("67890"), Status::ok);
}

TEST_F(MemoryBackendTest, OctetsOfFilesAreLimitedAndGivenBack) {
  MemoryLimits limits;
  limits.total_bytes = 3 * kBlockBytes;
  limit(limits);
  const Bytes block = pattern(kBlockBytes);
  ASSERT_EQ(make("a"), Status::ok);
  ASSERT_EQ(make("b"), Status::ok);
  EXPECT_EQ(storage->write(node("a"), 0, block), Status::ok);
  EXPECT_EQ(storage->write(node("a"), 5 * kBlockBytes, block), Status::ok) << "holes are free";
  EXPECT_EQ(storage->write(node("b"), 1, block), Status::no_space) << "it touches two blocks";
  EXPECT_EQ(storage->write(node("b"), 0, block), Status::ok);
  EXPECT_EQ(storage->write(node("b"), kBlockBytes, View(block).first(1)), Status::no_space);
  EXPECT_EQ(storage->write(node("b"), 0, block), Status::ok) << "it takes no more than before";
  EXPECT_EQ(storage->remove(root, "a"), Status::ok);
  EXPECT_EQ(storage->space().free_bytes, 2 * kBlockBytes);
  EXPECT_EQ(storage->write(node("b"), kBlockBytes, block), Status::ok);
}

TEST_F(MemoryBackendTest, LinkTextsTakeSpace) {
  MemoryLimits limits;
  limits.total_bytes = 10;
  limit(limits);
  EXPECT_EQ(make("a", FileType::link, "123456"), Status::ok);
  EXPECT_EQ(make("b", FileType::link, "123456"), Status::no_space);
  EXPECT_EQ(storage->remove(root, "a"), Status::ok);
  EXPECT_EQ(storage->space().free_bytes, 10U);
  EXPECT_EQ(make("b", FileType::link, "123456"), Status::ok);
}

}  // namespace
}  // namespace steertag::peer::testing
