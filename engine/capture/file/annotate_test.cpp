// A copy with comments has the packets of its input, and no output is half written.
#include "capture/file/annotate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "capture/file/capture_file.h"
#include "capture/file/testing.h"
#include "trace/pcapng_block.h"

namespace steertag::capture {
namespace {

using ::testing::ElementsAre;
using testing::FileBuilder;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using testing::TemporaryFolder;

const Bytes kFirst(60, std::byte{0x11});
const Bytes kSecond(61, std::byte{0x22});

struct Copied {
  Annotated annotated;
  std::string text;
  View octets() const { return std::as_bytes(std::span(text)); }
};

Copied copy(View input, const FrameComments& comments) {
  OctetSource source(input, "input");
  std::ostringstream out;
  const auto annotated = annotate(source, out, comments, "a test");
  if (!annotated) {
    ADD_FAILURE() << annotated.error().message();
    return {};
  }
  return {*annotated, out.str()};
}

/// "frame, link type, time, captured / wire: comments" of every packet, and the error.
std::vector<std::string> packets_of(View capture) {
  std::vector<std::string> lines;
  auto file = CaptureFile::open(capture, "copy");
  while (file) {
    const auto packet = file->next();
    if (!packet) {
      lines.push_back(packet.error().message());
      break;
    }
    if (!*packet) break;
    const Packet& it = **packet;
    std::string line = std::to_string(it.stamp.frame) + " link " +
                       std::to_string(static_cast<std::uint32_t>(it.link_type)) + " at " +
                       std::to_string(it.stamp.time_ns) + ": " + std::to_string(it.octets.size()) +
                       '/' + std::to_string(it.wire_bytes) + " of " +
                       std::to_string(std::to_integer<int>(it.octets.back()));
    for (const std::string_view each : file->comments()) line += " [" + std::string(each) + "]";
    lines.push_back(std::move(line));
  }
  return lines;
}

TEST(Annotate, PcapBecomesPcapngWithItsResolution) {
  for (const std::uint32_t magic : {0xa1b2c3d4u, 0xa1b23c4du}) {
    FileBuilder file(true);
    file.classic(magic, 276).record(1'700'000'000, 5, kFirst, 60).record(9, 999'999, kSecond, 1514);
    const Copied copied = copy(file.bytes(), {{2, {"late", "odd"}}, {3, {"no such frame"}}});
    const bool nano = magic == 0xa1b23c4d;
    EXPECT_THAT(packets_of(copied.octets()),
                ElementsAre(nano ? "1 link 276 at 1700000000000000005: 60/60 of 17"
                                 : "1 link 276 at 1700000000000005000: 60/60 of 17",
                            nano ? "2 link 276 at 9000999999: 61/1514 of 34 [late] [odd]"
                                 : "2 link 276 at 9999999000: 61/1514 of 34 [late] [odd]"));
    EXPECT_EQ(copied.annotated.frames, 2u);
    EXPECT_EQ(copied.annotated.commented, 1u);
    EXPECT_FALSE(copied.annotated.damage);
    EXPECT_THAT(copied.text, HasSubstr(std::string("\x09\0\1\0", 4) + (nano ? '\x09' : '\x06')));
    EXPECT_THAT(copied.text, HasSubstr("a test"));
  }
}

TEST(Annotate, PcapngKeepsEveryBlockButThoseWithComments) {
  for (const bool big : {false, true}) {
    FileBuilder options(big);
    options.option(1, "old").option(2, "flag").end_of_options();
    FileBuilder head(big);
    head.section().interface(1, 0).block(0x1234, FileBuilder().u64(7));
    FileBuilder middle(big);
    middle.enhanced(0, 3, kSecond, 70, options.bytes());
    FileBuilder tail(big);
    tail.block(5, tail.body().u32(0).u64(0)).enhanced(0, 4, kFirst, 60, options.bytes());
    FileBuilder file(big);
    file.octets(head.bytes()).octets(middle.bytes()).octets(tail.bytes());

    EXPECT_TRUE(std::ranges::equal(copy(file.bytes(), {}).octets(), file.bytes()));

    FileBuilder more(big);
    more.option(1, "one").option(1, "three").octets(options.bytes());
    FileBuilder expected(big);
    expected.octets(head.bytes()).enhanced(0, 3, kSecond, 70, more.bytes()).octets(tail.bytes());
    const Copied copied = copy(file.bytes(), {{1, {"one", "three"}}});
    EXPECT_TRUE(std::ranges::equal(copied.octets(), expected.bytes()));
    EXPECT_EQ(copied.annotated.frames, 2u);
    EXPECT_EQ(copied.annotated.commented, 1u);
  }
}

TEST(Annotate, OtherPacketBlocksBecomeEnhancedOnes) {
  for (const bool big : {false, true}) {
    FileBuilder options(big);
    options.option(1, "old").end_of_options();
    FileBuilder file(big);
    file.section().interface(1, 61).simple(kSecond, 90);
    file.obsolete(0, 12, 5000, kFirst, 70, options.bytes());
    file.obsolete(0, 0xffff, 5000, kFirst, 50);
    const Copied copied = copy(file.bytes(), {{1, {"a"}}, {2, {"b"}}, {3, {"c"}}});

    FileBuilder expected(big);
    expected.section().interface(1, 61);
    FileBuilder a(big);
    a.option(1, "a").end_of_options();
    FileBuilder b(big);
    b.option(1, "b").u16(4).u16(8).u64(12).option(1, "old").end_of_options();
    FileBuilder c(big);
    c.option(1, "c").end_of_options();
    expected.enhanced(0, 0, kSecond, 90, a.bytes()).enhanced(0, 5000, kFirst, 70, b.bytes());
    expected.enhanced(0, 5000, kFirst, 50, c.bytes());
    EXPECT_TRUE(std::ranges::equal(copied.octets(), expected.bytes()));
    EXPECT_THAT(
        packets_of(copied.octets()),
        ElementsAre("1 link 1 at 0: 61/90 of 34 [a]", "2 link 1 at 5000000: 60/70 of 17 [b] [old]",
                    "3 link 1 at 5000000: 60/60 of 17 [c]"));
  }
}

TEST(Annotate, SectionsLoseTheLengthThatTheyHad) {
  FileBuilder body;
  body.u32(0x1a2b3c4d).u16(1).u16(0).u64(100).option(1, "about the file").end_of_options();
  FileBuilder file;
  file.block(0x0a0d0d0a, body).interface().enhanced(0, 0, kFirst, 60);
  FileBuilder unknown;
  unknown.u32(0x1a2b3c4d).u16(1).u16(0).u64(~std::uint64_t{0});
  unknown.option(1, "about the file").end_of_options();
  FileBuilder expected;
  expected.block(0x0a0d0d0a, unknown).interface().enhanced(0, 0, kFirst, 60);
  EXPECT_TRUE(std::ranges::equal(copy(file.bytes(), {}).octets(), expected.bytes()));
}

TEST(Annotate, FramesThatAreNoPacketsKeepTheirNumbers) {
  FileBuilder file;
  file.section().interface().block(9, file.body().u64(0)).enhanced(0, 0, kFirst, 60);
  const Copied copied = copy(file.bytes(), {{1, {"journal"}}, {2, {"packet"}}});
  EXPECT_THAT(packets_of(copied.octets()), ElementsAre("2 link 1 at 0: 60/60 of 17 [packet]"));
  EXPECT_EQ(copied.annotated.frames, 2u);
  EXPECT_EQ(copied.annotated.commented, 1u);
}

TEST(Annotate, CommentsHaveLimits) {
  FileBuilder file;
  file.section().interface().enhanced(0, 0, kFirst, 60);
  const std::string longest(trace::kMaxCommentBytes + 100, 'x');
  const Copied copied =
      copy(file.bytes(), {{1, std::vector<std::string>(trace::kMaxComments + 5, longest)}});
  auto read = CaptureFile::open(copied.octets(), "copy");
  ASSERT_TRUE(read && read->next());
  const auto comments = read->comments();
  EXPECT_THAT(comments, SizeIs(trace::kMaxComments));
  EXPECT_THAT(comments.front(), SizeIs(trace::kMaxCommentBytes));
}

TEST(Annotate, OfADamagedFileWhatIsBeforeTheDamageIsCopied) {
  FileBuilder file;
  file.section().interface().enhanced(0, 0, kFirst, 60);
  const std::size_t good = file.bytes().size();
  file.enhanced(0, 0, kFirst, 60);
  const Copied copied = copy(View(file.bytes()).first(good + 20), {{1, {"seen"}}});
  ASSERT_TRUE(copied.annotated.damage);
  EXPECT_EQ(copied.annotated.damage->offset, good);
  EXPECT_THAT(packets_of(copied.octets()), ElementsAre("1 link 1 at 0: 60/60 of 17 [seen]"));

  FileBuilder classic;
  classic.classic().record(0, 0, kFirst, 60).u32(0);
  const Copied other = copy(classic.bytes(), {});
  ASSERT_TRUE(other.annotated.damage);
  EXPECT_EQ(other.annotated.damage->offset, 24u + 16 + 60);
}

TEST(Annotate, ALinkTypeThatPcapngCannotNameIsRefused) {
  FileBuilder file;
  file.classic(0xa1b2c3d4, 0x10000);
  OctetSource source(file.bytes(), "input");
  std::ostringstream out;
  EXPECT_THAT(annotate(source, out, {}, "a test").error().message(),
              HasSubstr("the link type 65536 is more than the 16 bits"));
}

TEST(Annotate, WritesAFileOrLeavesNothing) {
  const TemporaryFolder folder;
  FileBuilder file;
  file.classic().record(0, 0, kFirst, 60);
  const std::string input = folder.write("in.pcap", file.bytes());
  const auto good = annotate(input, folder.path("out.pcapng"), {{1, {"here"}}}, "a test");
  ASSERT_TRUE(good) << good.error().message();
  EXPECT_EQ(good->commented, 1u);
  EXPECT_THAT(folder.read("out.pcapng"), HasSubstr("here"));
  const std::string noise = folder.write("noise", kFirst);
  EXPECT_FALSE(annotate(noise, folder.path("none.pcapng"), {}, "a test"));
  EXPECT_THAT(folder.names(), ElementsAre("in.pcap", "noise", "out.pcapng"));
}

TEST(Annotate, TheInputIsNoPlaceForTheOutput) {
  const TemporaryFolder folder;
  FileBuilder file;
  file.classic().record(0, 0, kFirst, 60);
  const std::string input = folder.write("in.pcap", file.bytes());
  std::filesystem::create_symlink("in.pcap", folder.path("link"));
  for (const std::string& output : {input, folder.path("link"), folder.path("./in.pcap")}) {
    const auto refused = annotate(input, output, {}, "a test");
    ASSERT_FALSE(refused) << output;
    EXPECT_THAT(refused.error().message(), HasSubstr("it is the input"));
  }
  EXPECT_EQ(folder.read("in.pcap").size(), file.bytes().size());
}

TEST(Annotate, AFullDeviceIsAnError) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  const TemporaryFolder folder;
  FileBuilder file;
  file.classic();
  for (int i = 0; i < 10000; ++i) file.record(0, 0, kFirst, 60);
  const std::string input = folder.write("in.pcap", file.bytes());
  const auto failed = annotate(input, "/dev/full", {}, "a test");
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message(), HasSubstr("No space left on device"));
}

}  // namespace
}  // namespace steertag::capture
