// The packets of captures in either format and byte order, and the place of damage.
#include "capture/file/capture_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "capture/file/limits.h"
#include "capture/file/testing.h"

namespace steertag::capture {
namespace {

using ::testing::ElementsAre;
using testing::FileBuilder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Bytes kFirst(60, std::byte{0x11});
const Bytes kSecond(61, std::byte{0x22});

struct Seen {
  FrameStamp stamp;
  std::uint32_t link_type = 0;
  Bytes octets;
  std::size_t wire_bytes = 0;
  std::vector<std::string> comments;
};

struct Outcome {
  std::vector<Seen> packets;
  std::optional<FileError> error;
  std::vector<std::uint64_t> frames() const {
    std::vector<std::uint64_t> numbers;
    for (const Seen& each : packets) numbers.push_back(each.stamp.frame);
    return numbers;
  }
};

Outcome read_all(Expected<CaptureFile, FileError> file) {
  Outcome outcome;
  if (!file) {
    outcome.error = file.error();
    return outcome;
  }
  while (true) {
    const auto packet = file->next();
    if (!packet) {
      outcome.error = packet.error();
      EXPECT_EQ(file->next().error().message(), outcome.error->message()) << "asked again";
      return outcome;
    }
    if (!*packet) return outcome;
    Seen seen{(*packet)->stamp,
              static_cast<std::uint32_t>((*packet)->link_type),
              Bytes((*packet)->octets.begin(), (*packet)->octets.end()),
              (*packet)->wire_bytes,
              {}};
    for (const std::string_view each : file->comments()) seen.comments.emplace_back(each);
    outcome.packets.push_back(std::move(seen));
  }
}

Outcome read_all(const FileBuilder& file) {
  return read_all(CaptureFile::open(file.bytes(), "test"));
}

/// Only octets of the file's start.
std::string error_of(std::string_view start) {
  const Outcome outcome = read_all(CaptureFile::open(std::as_bytes(std::span(start)), "test"));
  return outcome.error ? outcome.error->message() : "no error";
}

TEST(CaptureFile, ClassicInEitherOrderAndResolution) {
  for (const bool big : {false, true}) {
    for (const std::uint32_t magic : {0xa1b2c3d4u, 0xa1b23c4du}) {
      FileBuilder file(big);
      file.classic(magic, 276).record(1'700'000'000, 5, kFirst, 60).record(9, 999, kSecond, 1514);
      const Outcome outcome = read_all(file);
      ASSERT_FALSE(outcome.error) << outcome.error->message();
      ASSERT_EQ(outcome.packets.size(), 2u);
      const std::int64_t unit = magic == 0xa1b2c3d4 ? 1000 : 1;
      EXPECT_EQ(outcome.packets[0].stamp.time_ns, 1'700'000'000'000'000'000 + 5 * unit);
      EXPECT_EQ(outcome.packets[1].stamp.time_ns, 9'000'000'000 + 999 * unit);
      EXPECT_THAT(outcome.frames(), ElementsAre(1, 2));
      EXPECT_EQ(outcome.packets[0].octets, kFirst);
      EXPECT_EQ(outcome.packets[1].octets, kSecond);
      EXPECT_EQ(outcome.packets[1].wire_bytes, 1514u) << "it was cut";
      EXPECT_EQ(outcome.packets[1].link_type, 276u);
    }
  }
}

TEST(CaptureFile, ClassicOfTheModifiedKindHasLongerRecords) {
  FileBuilder file;
  file.classic(0xa1b2cd34);
  for (int i = 0; i < 2; ++i) {
    file.u32(1).u32(2).u32(60).u32(60).u64(0x0102030405060708).octets(kFirst);
  }
  const Outcome outcome = read_all(file);
  ASSERT_FALSE(outcome.error) << outcome.error->message();
  ASSERT_EQ(outcome.packets.size(), 2u);
  EXPECT_EQ(outcome.packets[1].octets, kFirst);
}

TEST(CaptureFile, ClassicLinkTypeIsWithoutTheLengthOfFrameChecks) {
  FileBuilder file;
  file.classic(0xa1b2c3d4, 0x24000001).record(0, 0, kFirst, 60);
  EXPECT_EQ(read_all(file).packets.at(0).link_type, 1u);
}

TEST(CaptureFile, ClassicLinkTypeOfRawIpHasOldNumbers) {
  for (const std::uint32_t number : {12U, 14U, 101U}) {
    FileBuilder file;
    file.classic(0xa1b2c3d4, number).record(0, 0, kFirst, 60);
    EXPECT_EQ(read_all(file).packets.at(0).link_type, 101u);
  }
}

TEST(CaptureFile, ClassicOfAnotherVersionIsRefused) {
  FileBuilder file;
  file.u32(0xa1b2c3d4).u16(3).u16(1).u64(0).u64(0);
  EXPECT_EQ(read_all(file).error->message(),
            "test: not a capture file that can be read at octet 4: version 3.1 of the pcap format; "
            "only 2.4 is known");
}

TEST(CaptureFile, ATruncatedClassicFileGivesWhatIsWholeAndThenTheOffset) {
  FileBuilder file;
  file.classic().record(0, 0, kFirst, 60).record(0, 0, kSecond, 61);
  const std::size_t second = 24 + 16 + 60;
  for (std::size_t length = second + 1; length < file.bytes().size(); ++length) {
    const View part = View(file.bytes()).first(length);
    const Outcome outcome = read_all(CaptureFile::open(part, "test"));
    EXPECT_THAT(outcome.frames(), ElementsAre(1)) << "cut at " << length;
    ASSERT_TRUE(outcome.error) << "cut at " << length;
    EXPECT_EQ(outcome.error->fault, FileFault::truncated);
    EXPECT_EQ(outcome.error->offset, second);
    EXPECT_THAT(outcome.error->detail, HasSubstr("frame 2"));
  }
}

TEST(CaptureFile, AnImpossiblePacketLengthIsDamage) {
  FileBuilder file;
  file.classic().record(0, 0, kFirst, 60).u64(0).u32(kMostPacketBytes + 1).u32(0);
  const Outcome outcome = read_all(file);
  EXPECT_EQ(outcome.packets.size(), 1u);
  EXPECT_EQ(outcome.error->message(),
            "test: damaged at octet 108: a packet of 262145 octets, when 262144 are the most: the "
            "record header of frame 2");
}

TEST(CaptureFile, PcapngInEitherOrderOfSeveralSections) {
  FileBuilder little;
  little.section().interface(1).interface(101).enhanced(1, 0x0005'0000'0000'0001, kFirst, 90);
  FileBuilder file(true);
  file.section().interface(113).enhanced(0, 7, kSecond, 61);
  FileBuilder both;
  both.octets(little.bytes()).octets(file.bytes());
  const Outcome outcome = read_all(both);
  ASSERT_FALSE(outcome.error) << outcome.error->message();
  ASSERT_THAT(outcome.frames(), ElementsAre(1, 2));
  EXPECT_EQ(outcome.packets[0].link_type, 101u);
  EXPECT_EQ(outcome.packets[0].stamp.time_ns, 0x0005'0000'0000'0001 * 1000) << "microseconds";
  EXPECT_EQ(outcome.packets[0].wire_bytes, 90u);
  EXPECT_EQ(outcome.packets[0].octets, kFirst);
  EXPECT_EQ(outcome.packets[1].link_type, 113u) << "interfaces count anew in each section";
  EXPECT_EQ(outcome.packets[1].octets, kSecond) << "without the padding";
}

TEST(CaptureFile, TheInterfaceTellsWhatAnEndRecordedItself) {
  const auto named = [](std::string_view name) { return FileBuilder().option(2, name).bytes(); };
  FileBuilder file;
  file.section().interface(101, 0, named("steertag")).interface(101, 0, named("steerta_"));
  file.interface(101)
      .enhanced(0, 1, kFirst, 60)
      .enhanced(1, 2, kFirst, 60)
      .enhanced(2, 3, kFirst, 60);
  const Outcome outcome = read_all(file);
  ASSERT_THAT(outcome.frames(), ElementsAre(1, 2, 3));
  EXPECT_TRUE(outcome.packets[0].stamp.by_an_end);
  EXPECT_FALSE(outcome.packets[1].stamp.by_an_end) << "another program's";
  EXPECT_FALSE(outcome.packets[2].stamp.by_an_end) << "without a name";
}

TEST(CaptureFile, EveryKindOfPacketBlockIsAPacket) {
  FileBuilder file;
  file.section().interface(1, 40);
  file.simple(View(kFirst).first(40), 60)
      .obsolete(0, 0xffff, 3, kFirst, 60)
      .simple(View(kFirst).first(39), 39);
  const Outcome outcome = read_all(file);
  ASSERT_FALSE(outcome.error) << outcome.error->message();
  ASSERT_THAT(outcome.frames(), ElementsAre(1, 2, 3));
  EXPECT_EQ(outcome.packets[0].octets.size(), 40u) << "cut at the interface's snap length";
  EXPECT_EQ(outcome.packets[0].wire_bytes, 60u);
  EXPECT_EQ(outcome.packets[1].octets, kFirst);
  EXPECT_EQ(outcome.packets[1].stamp.time_ns, 3000);
  EXPECT_EQ(outcome.packets[2].octets.size(), 39u);
}

TEST(CaptureFile, FrameNumbersAreThoseThatWiresharkShows) {
  FileBuilder file;
  file.section().interface();
  const std::pair<std::uint32_t, bool> kinds[] = {
      {9, true},  {0xbad, true}, {0x204, true}, {0x40000bad, true},
      {4, false}, {5, false},    {10, false},   {0x80001234, false}};
  std::vector<std::uint64_t> expected;
  std::uint64_t number = 0;
  for (const auto& [type, counts] : kinds) {
    file.block(type, file.body().u64(0)).enhanced(0, 0, kFirst, 60);
    expected.push_back(number += counts ? 2 : 1);
  }
  EXPECT_EQ(read_all(file).frames(), expected);
}

TEST(CaptureFile, CommentsOfAPacketAreThere) {
  FileBuilder options;
  options.option(1, "first").option(2, "flag").option(1, "").option(1, "third").end_of_options();
  FileBuilder file;
  file.section().interface().enhanced(0, 0, kSecond, 61, options.bytes());
  file.enhanced(0, 0, kFirst, 60);
  const Outcome outcome = read_all(file);
  EXPECT_THAT(outcome.packets.at(0).comments, ElementsAre("first", "", "third"));
  EXPECT_THAT(outcome.packets.at(1).comments, IsEmpty());
}

TEST(CaptureFile, AnOptionThatLeavesItsBlockIsNoComment) {
  FileBuilder options;
  options.option(1, "good").u16(1).u16(100).u32(0);
  FileBuilder file;
  file.section().interface().enhanced(0, 0, kFirst, 60, options.bytes());
  EXPECT_THAT(read_all(file).packets.at(0).comments, ElementsAre("good"));
}

TEST(CaptureFile, TimesFollowResolutionAndOffset) {
  EXPECT_EQ(nanoseconds(5, 6, 0), 5000);
  EXPECT_EQ(nanoseconds(5, 9, 1), 1'000'000'005);
  EXPECT_EQ(nanoseconds(5, 0, 0), 5'000'000'000);
  EXPECT_EQ(nanoseconds(5999, 12, 0), 5);
  EXPECT_EQ(nanoseconds(~std::uint64_t{0}, 127, 0), 0);
  EXPECT_EQ(nanoseconds(3, 0x81, 0), 1'500'000'000);
  EXPECT_EQ(nanoseconds(~std::uint64_t{0}, 0xff, 0), 0);
  EXPECT_EQ(nanoseconds(0, 6, -3), -3'000'000'000);
  EXPECT_EQ(nanoseconds(~std::uint64_t{0}, 0, 0), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(nanoseconds(0, 0, std::numeric_limits<std::int64_t>::min()),
            std::numeric_limits<std::int64_t>::min());
  FileBuilder options;
  options.option(9, "\x09").option(14, std::string_view("\2\0\0\0\0\0\0\0", 8)).end_of_options();
  FileBuilder file;
  file.section().interface(1, 0, options.bytes()).enhanced(0, 7, kFirst, 60);
  EXPECT_EQ(read_all(file).packets.at(0).stamp.time_ns, 2'000'000'007);
}

TEST(CaptureFile, ATruncatedPcapngFileGivesWhatIsWholeAndThenTheOffset) {
  FileBuilder file;
  file.section().interface().enhanced(0, 0, kFirst, 60);
  const std::size_t second = file.bytes().size();
  file.enhanced(0, 0, kSecond, 61);
  for (std::size_t length = second + 1; length < file.bytes().size(); ++length) {
    const View part = View(file.bytes()).first(length);
    const Outcome outcome = read_all(CaptureFile::open(part, "test"));
    EXPECT_THAT(outcome.frames(), ElementsAre(1)) << "cut at " << length;
    ASSERT_TRUE(outcome.error) << "cut at " << length;
    EXPECT_EQ(outcome.error->fault, FileFault::truncated);
    EXPECT_EQ(outcome.error->offset, second);
  }
}

/// A file whose third block, at octet 48, is damaged; its body begins at octet 56.
void expect_damage(const FileBuilder& block, FileFault fault, std::uint64_t offset,
                   const std::string& detail) {
  FileBuilder file;
  file.section().interface().octets(block.bytes());
  const Outcome outcome = read_all(file);
  EXPECT_THAT(outcome.packets, IsEmpty());
  ASSERT_TRUE(outcome.error) << detail;
  EXPECT_EQ(outcome.error->fault, fault) << detail;
  EXPECT_EQ(outcome.error->offset, offset) << detail;
  EXPECT_EQ(outcome.error->detail, detail);
}

TEST(CaptureFile, DamageOfABlockIsNamedWithItsOffset) {
  expect_damage(FileBuilder().u32(6).u32(33).u64(0), FileFault::damaged, 52,
                "the length 33 of a block of type 6 is no multiple of 4, or too small");
  expect_damage(FileBuilder().u32(6).u32(8), FileFault::damaged, 52,
                "the length 8 of a block of type 6 is no multiple of 4, or too small");
  expect_damage(FileBuilder().u32(6).u32(0x40000000), FileFault::too_large, 52,
                "the length 1073741824 of a block of type 6 is more than 67108864");
  expect_damage(FileBuilder().u32(77).u32(16).u32(0).u32(20), FileFault::damaged, 60,
                "the length 16 of a block of type 77 is 20 at its end");
  expect_damage(FileBuilder().enhanced(3, 0, kFirst, 60), FileFault::damaged, 56,
                "frame 1 is of interface 3, of 1 that were described");
  expect_damage(FileBuilder().block(6, FileBuilder().u32(0)), FileFault::damaged, 56,
                "an Enhanced Packet Block that is too short");
  expect_damage(FileBuilder().block(2, FileBuilder().u32(0)), FileFault::damaged, 56,
                "a Packet Block that is too short");
  expect_damage(FileBuilder().block(3, FileBuilder()), FileFault::damaged, 56,
                "a Simple Packet Block that is too short");
  expect_damage(FileBuilder().block(1, FileBuilder().u32(0)), FileFault::damaged, 56,
                "an interface description that is too short");
  expect_damage(FileBuilder().simple(kFirst, 61), FileFault::damaged, 56,
                "frame 1 has 61 octets in a block with room for 60");
  expect_damage(FileBuilder().enhanced(0, 0, Bytes(kMostPacketBytes + 1), 60), FileFault::damaged,
                68, "frame 1 has 262145 octets in a block with room for 262144");
  expect_damage(FileBuilder().block(0x0a0d0d0a, FileBuilder().u64(0).u64(0)), FileFault::damaged,
                56, "a section header without the byte-order magic 0x1a2b3c4d");
  expect_damage(FileBuilder().block(0x0a0d0d0a, FileBuilder().u32(0x1a2b3c4d).u16(2).u16(0).u64(0)),
                FileFault::not_a_capture, 60,
                "version 2.0 of the pcapng format; only 1.0 is known");
}

TEST(CaptureFile, MoreInterfacesThanTheLimitAreRefused) {
  FileBuilder file;
  file.section();
  for (std::size_t i = 0; i <= kMostInterfaces; ++i) file.interface();
  const Outcome outcome = read_all(file);
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->fault, FileFault::too_large);
}

TEST(CaptureFile, SaysWhatAFileIsThatIsNoCapture) {
  using std::string_view_literals::operator""sv;
  EXPECT_EQ(error_of(""), "test: not a capture file that can be read: it is empty");
  EXPECT_THAT(error_of("\x1f\x8b\x08 and more"), HasSubstr("compressed with gzip: unpack it"));
  EXPECT_THAT(error_of("\x28\xb5\x2f\xfd"), HasSubstr("compressed with zstd"));
  EXPECT_THAT(error_of("\x04\x22\x4d\x18"), HasSubstr("compressed with lz4"));
  EXPECT_THAT(error_of("\xfd\x37zXZ\0"sv), HasSubstr("compressed with xz"));
  EXPECT_THAT(error_of("snoop\0\0\0"sv), HasSubstr("snoop capture"));
  EXPECT_THAT(error_of("GMBU"), HasSubstr("Network Monitor 2"));
  EXPECT_THAT(error_of("\1\2\3\4\5\6\7\x08\x15\0\0\x40\0\0\0\x20"sv), HasSubstr("ERF file"));
  EXPECT_THAT(error_of("GET / HTTP/1.1\r\nHost: "), HasSubstr("neither pcap nor pcapng"));
  EXPECT_THAT(error_of("\n\r\r\n"), HasSubstr("neither pcap nor pcapng"));
}

TEST(CaptureFile, OpensFilesAndSaysWhyNot) {
  EXPECT_THAT(CaptureFile::open("no/such/file").error().message(),
              "no/such/file: cannot be opened: No such file or directory");
  EXPECT_THAT(CaptureFile::open(::testing::TempDir()).error().message(),
              HasSubstr("it is a directory"));
  EXPECT_THAT(CaptureFile::open("/dev/null").error().message(), HasSubstr("it is empty"));
}

TEST(CaptureFile, AFileLongerThanTheBufferIsReadInConstantMemory) {
  FileBuilder file(true);
  file.section().interface();
  const Bytes jumbo(9000, std::byte{0x5a});
  constexpr std::size_t kPackets = 500;
  for (std::size_t i = 0; i < kPackets; ++i) file.enhanced(0, i, jumbo, 9000);
  file.block(0x1234, file.body().octets(Bytes(3 * kReadBytes)));
  file.enhanced(0, kPackets, kFirst, 60);
  const testing::TemporaryFolder folder;
  auto opened = CaptureFile::open(folder.write("a", file.bytes()));
  ASSERT_TRUE(opened) << opened.error().message();
  EXPECT_EQ(opened->size(), file.bytes().size());
  std::uint64_t offset = opened->offset();
  for (std::size_t i = 0; i <= kPackets; ++i) {
    const auto packet = opened->next();
    ASSERT_TRUE(packet && *packet) << "packet " << i;
    EXPECT_EQ((*packet)->stamp.time_ns, static_cast<std::int64_t>(i) * 1000);
    ASSERT_TRUE(std::ranges::equal((*packet)->octets, i < kPackets ? jumbo : kFirst));
    EXPECT_GT(opened->offset() + 1, offset);
    offset = opened->offset();
  }
  const auto end = opened->next();
  EXPECT_TRUE(end && !*end);
  EXPECT_EQ(opened->offset(), file.bytes().size());
}

TEST(CaptureFile, ReadsFromAPipe) {
  FileBuilder file;
  file.classic().record(0, 0, kFirst, 60).record(0, 0, kSecond, 61);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], file.bytes().data(), file.bytes().size()),
            static_cast<ssize_t>(file.bytes().size()));
  close(ends[1]);
  auto opened = CaptureFile::open("/dev/fd/" + std::to_string(ends[0]));
  close(ends[0]);
  ASSERT_TRUE(opened) << opened.error().message();
  EXPECT_FALSE(opened->size()) << "how much will come is unknown";
  EXPECT_THAT(read_all(std::move(opened)).frames(), ElementsAre(1, 2));
}

}  // namespace
}  // namespace steertag::capture
