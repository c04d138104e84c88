// Stripe units against the worked tables of RFC 8881 13.4, and layouts of no use.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>
#include <string>

#include "nfs/v4/striping.h"
#include "rpc/testing.h"

namespace steertag::nfs4 {
namespace {

using rpc::testing::from_hex;

constexpr std::uint32_t kUnit = 4096;

// The example of RFC 8881 13.4.2 and 13.4.3: seven addresses of three data servers.
FileLayoutDevice three_servers() {
  const auto addresses = [](std::initializer_list<std::string_view> names) {
    MultipathList list;
    for (const std::string_view name : names) list.addresses.push_back({"tcp", name});
    return list;
  };
  return {{2, 0, 1, 0}, {addresses({"A", "B", "C", "D"}), addresses({"E"}), addresses({"F", "G"})}};
}

FileLayout layout_of(std::uint32_t flags, std::initializer_list<const char*> handles) {
  FileLayout layout{.nfl_util = kUnit | flags, .nfl_first_stripe_index = 2};
  for (const char* handle : handles) layout.nfl_fh_list.emplace_back(from_hex(handle));
  return layout;
}

struct Destination {
  const char* handle;
  std::size_t list;
};

void expect_destinations(const FileLayout& layout, std::initializer_list<Destination> pattern) {
  const FileLayoutDevice device = three_servers();
  ASSERT_FALSE(find_striping_fault(layout, device));
  const Striping striping(layout, device);
  const std::vector<Destination> expected(pattern);
  for (std::uint64_t unit = 0; unit < 13; ++unit) {
    const auto part = striping.at(unit * kUnit);
    ASSERT_TRUE(part && part->handle) << "stripe unit " << unit;
    const Destination& wanted = expected[unit % expected.size()];
    EXPECT_EQ(part->list, wanted.list) << "stripe unit " << unit;
    EXPECT_EQ(layout.nfl_fh_list[*part->handle], FileHandle(from_hex(wanted.handle)))
        << "stripe unit " << unit;
  }
}

TEST(Striping, SparseUnitsAreThoseOfTable9) {
  expect_destinations(layout_of(0, {"36", "87", "67"}),
                      {{"87", 1}, {"36", 0}, {"67", 2}, {"36", 0}});
}

TEST(Striping, DenseUnitsAreThoseOfTable10) {
  expect_destinations(layout_of(kDense, {"67", "37", "87", "36"}),
                      {{"87", 1}, {"36", 0}, {"67", 2}, {"37", 0}});
}

TEST(Striping, SparseUnitsKeepTheOffset) {
  const FileLayoutDevice device = three_servers();
  const FileLayout layout = layout_of(0, {});
  EXPECT_EQ(Striping(layout, device).at(5 * kUnit + 7),
            (StripePart{0, std::nullopt, 5 * kUnit + 7, kUnit - 7}));
}

TEST(Striping, OneSparseHandleIsForAllServers) {
  const FileLayoutDevice device = three_servers();
  const FileLayout layout = layout_of(0, {"55"});
  EXPECT_EQ(Striping(layout, device).at(2 * kUnit)->handle, 0u);
}

TEST(Striping, DenseUnitsFollowEachOther) {
  const FileLayoutDevice device = three_servers();
  const FileLayout layout = layout_of(kDense, {"67", "37", "87", "36"});
  // Stripe unit 9 is the third one of its handle.
  EXPECT_EQ(Striping(layout, device).at(9 * kUnit + 7),
            (StripePart{0, 3, 2 * kUnit + 7, kUnit - 7}));
}

TEST(Striping, ThePatternBeginsAtItsOffset) {
  const FileLayoutDevice device = three_servers();
  FileLayout layout = layout_of(kDense, {"67", "37", "87", "36"});
  layout.nfl_pattern_offset = 100;
  const Striping striping(layout, device);
  EXPECT_FALSE(striping.at(99)) << "an offset before the pattern is in no unit";
  EXPECT_EQ(striping.at(100), (StripePart{1, 2, 0, kUnit}));
  EXPECT_EQ(striping.at(100 + kUnit - 1), (StripePart{1, 2, kUnit - 1, 1}));
  EXPECT_EQ(striping.at(100 + kUnit), (StripePart{0, 3, 0, kUnit}));
}

TEST(Striping, TheLastOctetOfAFileHasAPlace) {
  const FileLayoutDevice device = three_servers();
  FileLayout layout = layout_of(kDense, {"67", "37", "87", "36"});
  layout.nfl_first_stripe_index = ~0u;
  const auto part = Striping(layout, device).at(~0ull);
  ASSERT_TRUE(part);
  EXPECT_EQ(part->offset, (~0ull / kUnit / 4) * kUnit + kUnit - 1);
  EXPECT_EQ(part->length, 1u);
}

// Dense packing: no two octets of a file share a place, and no place is left out.
TEST(Striping, DenseFilesHaveNoHoles) {
  const FileLayoutDevice device = three_servers();
  FileLayout layout = layout_of(kDense, {"67", "37", "87", "36"});
  layout.nfl_util = kLeastStripeUnit | kDense;
  const Striping striping(layout, device);
  EXPECT_TRUE(rc::check([&] {
    const auto stripes = *rc::gen::inRange<std::uint64_t>(1, 40);
    std::map<std::size_t, std::set<std::uint64_t>> units;
    for (std::uint64_t at = 0; at < stripes * 4 * kLeastStripeUnit;) {
      const StripePart part = *striping.at(at);
      RC_ASSERT(units[*part.handle].insert(part.offset / kLeastStripeUnit).second);
      at += part.length;
    }
    for (const auto& [handle, numbers] : units) {
      RC_ASSERT(numbers.size() == stripes);
      RC_ASSERT(*numbers.rbegin() == stripes - 1);
    }
  }));
}

struct Broken {
  const char* name;
  void (*change)(FileLayout& layout, FileLayoutDevice& device);
  std::string_view requirement;
  std::string_view what;
};

class BrokenLayout : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenLayout, IsNamedByItsRequirement) {
  FileLayoutDevice device = three_servers();
  FileLayout layout = layout_of(kDense, {"67", "37", "87", "36"});
  ASSERT_FALSE(find_striping_fault(layout, device)) << "the layout was broken before the change";
  GetParam().change(layout, device);
  const auto fault = find_striping_fault(layout, device);
  ASSERT_TRUE(fault) << "a broken layout was taken";
  EXPECT_EQ(fault->requirement, GetParam().requirement);
  EXPECT_EQ(fault->what, GetParam().what);
}

INSTANTIATE_TEST_SUITE_P(
    All, BrokenLayout,
    ::testing::Values(
        Broken{"unit_of_no_octets", [](auto& layout, auto&) { layout.nfl_util = kDense; },
               "RFC8881-13.3-3", "the stripe unit has no octets"},
        Broken{"no_stripe_indices",
               [](auto&, auto& device) { device.nflda_stripe_indices.clear(); }, "RFC8881-13.3-1",
               "there are no stripe indices"},
        Broken{"index_beyond_the_lists",
               [](auto&, auto& device) { device.nflda_stripe_indices.back() = 3; },
               "RFC8881-13.3-1", "a stripe index is beyond the lists of addresses"},
        Broken{"list_without_address",
               [](auto&, auto& device) { device.nflda_multipath_ds_list[1].addresses.clear(); },
               "RFC8881-13.3-1", "a list of addresses is empty"},
        Broken{"sparse_with_two_of_three_handles",
               [](auto& layout, auto&) {
                 layout.nfl_util = kUnit;
                 layout.nfl_fh_list.resize(2);
               },
               "RFC8881-13.3-4", "neither no handle nor one nor one a list"},
        Broken{"dense_with_too_few_handles",
               [](auto& layout, auto&) { layout.nfl_fh_list.pop_back(); }, "RFC8881-13.3-5",
               "not one handle a stripe index"},
        Broken{"dense_with_one_handle_twice_at_a_server",
               [](auto& layout, auto&) { layout.nfl_fh_list[3] = layout.nfl_fh_list[1]; },
               "RFC8881-13.3-5", "two units have one handle at one data server"}),
    [](const auto& each) { return each.param.name; });

TEST(Striping, ServersThatDoNotMeetMayHaveOneHandle) {
  FileLayout layout = layout_of(kDense, {"67", "37", "87", "36"});
  layout.nfl_fh_list[2] = layout.nfl_fh_list[1];
  EXPECT_FALSE(find_striping_fault(layout, three_servers()));
}

TEST(Striping, AnAddressTwiceInItsListIsNoSecondUnit) {
  FileLayoutDevice device = three_servers();
  device.nflda_multipath_ds_list[1].addresses.push_back({"tcp", "E"});
  EXPECT_FALSE(find_striping_fault(layout_of(kDense, {"67", "37", "87", "36"}), device));
}

}  // namespace
}  // namespace steertag::nfs4
