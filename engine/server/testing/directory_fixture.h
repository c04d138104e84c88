// What the tests of directory exports share: an export in a directory of the host.
// No handle and no name may lead to what lies beside it.
#pragma once

#include <sys/stat.h>

#include "server/directory/directory_backend.h"
#include "server/testing/peer_fixture.h"
#include "server/testing/temporary_directory.h"

namespace steertag::peer::testing {

class DirectoryTest : public ::testing::Test {
 protected:
  static constexpr std::string_view kSecret = "outside";

  DirectoryTest() {
    std::filesystem::create_directory(exported());
    std::filesystem::create_directory(place / "outside");
    write_host_file(place / "outside/secret", kSecret);
    options.path = exported();
    options.key = {3, 4};
  }
  void SetUp() override { open(); }

  /// Starts the storage, again if there was one: nothing is remembered but the key.
  void open() {
    storage.reset();
    auto made = DirectoryBackend::open(options, clock(), seeded_random(++starts));
    ASSERT_TRUE(made) << made.error();
    storage = std::move(*made);
  }
  Clock clock() {
    return [this] {
      ++time.nanoseconds;  // so that a search has a duration
      return time;
    };
  }

  std::filesystem::path exported() const { return place / "export"; }
  std::filesystem::path in_export(std::string_view name) const { return exported() / name; }

  Result<NodeId> make(NodeId directory, std::string_view name, FileType type = FileType::regular,
                      std::uint32_t mode = 0755) {
    NewNode node;
    node.type = type;
    node.change.mode = mode;
    node.link_text = "text";
    node.uid = ::geteuid();
    node.gid = ::getegid();
    return storage->create(directory, name, node);
  }
  Result<NodeId> look(std::string_view name) { return storage->lookup(storage->root(), name); }
  Handle handle_of(std::string_view name) { return storage->handle(look(name).value_or(0)); }
  Status resolve(const Handle& handle) {
    const auto node = storage->resolve(View(handle));
    return node ? Status::ok : node.error();
  }
  std::string read(NodeId node, std::uint64_t offset = 0, std::uint32_t count = 1 << 20) {
    std::vector<Slice> slices;
    const auto length = storage->read(node, offset, count, slices);
    if (!length) return "status " + std::to_string(static_cast<int>(length.error()));
    std::string text;
    for (const Slice& slice : slices)
      text.append(reinterpret_cast<const char*>(slice.bytes.data()), slice.bytes.size());
    EXPECT_EQ(text.size(), *length);
    return text;
  }
  Status write(NodeId node, std::string_view text, std::uint64_t offset = 0) {
    return storage->write(node, offset, std::as_bytes(std::span(text)));
  }

  TemporaryDirectory place;
  DirectoryOptions options;
  Time time{1'700'000'000, 0};
  std::uint64_t starts = 0;
  std::unique_ptr<DirectoryBackend> storage;
};

}  // namespace steertag::peer::testing
