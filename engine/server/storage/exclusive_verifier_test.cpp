// Verifiers of exclusive creation as times of the file.
#include "server/storage/exclusive_verifier.h"

#include <gtest/gtest.h>

namespace steertag::peer::testing {
namespace {

using Octets = std::array<std::byte, 8>;

Attributes file_with(const VerifierTimes& times) {
  Attributes attributes;
  attributes.atime = times.atime;
  attributes.mtime = times.mtime;
  return attributes;
}

TEST(ExclusiveVerifier, EveryBitCounts) {
  Octets octets{};
  const Attributes made = file_with(VerifierTimes(octets));
  EXPECT_TRUE(VerifierTimes(octets).are_of(made));
  for (std::size_t bit = 0; bit < 64; ++bit) {
    Octets other = octets;
    other[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(VerifierTimes(other).are_of(made)) << "bit " << bit << " is not kept";
  }
}

TEST(ExclusiveVerifier, TimesFitIntoTheFileSystemsOfTheHost) {
  Octets octets;
  octets.fill(std::byte{0xff});
  const VerifierTimes times(octets);
  for (const Time& time : {times.atime, times.mtime}) {
    EXPECT_GE(time.seconds, 0);
    EXPECT_LE(time.seconds, 0x7fffffff) << "a time of 31 bits";
    EXPECT_LT(time.nanoseconds, 1'000'000'000U);
  }
}

TEST(ExclusiveVerifier, TimesThatWereCutAreOfNoVerifier) {
  const VerifierTimes times(Octets{});
  Attributes cut = file_with(times);
  cut.atime.nanoseconds = 0;
  EXPECT_FALSE(times.are_of(cut)) << "the host keeps whole seconds: better refused than mistaken";
  Attributes written = file_with(times);
  written.size_bytes = 1;
  EXPECT_FALSE(times.are_of(written));
}

}  // namespace
}  // namespace steertag::peer::testing
