// Checks that recorded events own their octets, and the limits.
#include "trace/recorder.h"

#include <gtest/gtest.h>

#include "trace/fanout.h"

namespace steertag::trace {
namespace {

Event send_event(std::uint64_t index, View bytes) {
  return {index, 0, Role::client, Send{bytes, std::nullopt}};
}

TEST(Recorder, KeepsOctetsAfterTheCallEnded) {
  Recorder recorder;
  {
    Bytes octets = {std::byte{1}, std::byte{2}};
    recorder.on_event(send_event(0, octets));
    octets[0] = std::byte{9};
  }
  for (std::uint64_t i = 1; i < 100; ++i) recorder.on_event(send_event(i, {}));  // makes it grow
  const auto& send = std::get<Send>(recorder[0].body);
  ASSERT_EQ(send.bytes.size(), 2u);
  EXPECT_EQ(send.bytes[0], std::byte{1});
}

TEST(Recorder, KeepsPrivateDataAndPayload) {
  Recorder recorder;
  Bytes octets(3, std::byte{7});
  recorder.on_event({0, 0, Role::client, Connect{octets}});
  recorder.on_event({1, 0, Role::server, Accept{octets}});
  recorder.on_event({2, 0, Role::server, Reject{octets}});
  recorder.on_event({3, 0, Role::server, RdmaWrite{1, 2, 3, octets}});
  octets.assign(3, std::byte{0});
  EXPECT_EQ(std::get<Connect>(recorder[0].body).private_data[0], std::byte{7});
  EXPECT_EQ(std::get<Accept>(recorder[1].body).private_data[0], std::byte{7});
  EXPECT_EQ(std::get<Reject>(recorder[2].body).private_data[0], std::byte{7});
  EXPECT_EQ(std::get<RdmaWrite>(recorder[3].body).payload[0], std::byte{7});
}

TEST(Recorder, NothingIsKeptAfterTheFirstEventOverTheLimit) {
  Recorder recorder({.events = 10, .bytes = 4});
  const Bytes octets(5);
  recorder.on_event(send_event(0, View(octets).first(3)));
  recorder.on_event(send_event(1, View(octets).first(2)));
  recorder.on_event(send_event(2, View(octets).first(1)));
  EXPECT_EQ(recorder.size(), 1u);
  EXPECT_EQ(recorder.dropped(), 2u);
}

TEST(Recorder, EventLimitHolds) {
  Recorder recorder({.events = 2, .bytes = 4});
  for (std::uint64_t i = 0; i < 5; ++i) recorder.on_event(send_event(i, {}));
  EXPECT_EQ(recorder.size(), 2u);
  EXPECT_EQ(recorder.dropped(), 3u);
}

TEST(Recorder, LargeRdmaWriteLosesItsPayloadOnly) {
  Recorder recorder({.events = 10, .bytes = 4});
  const Bytes octets(5);
  recorder.on_event({0, 0, Role::server, RdmaWrite{1, 2, octets.size(), octets}});
  recorder.on_event(send_event(1, View(octets).first(4)));
  ASSERT_EQ(recorder.size(), 2u);
  EXPECT_TRUE(std::get<RdmaWrite>(recorder[0].body).payload.empty());
  EXPECT_EQ(std::get<RdmaWrite>(recorder[0].body).length, 5u);
  EXPECT_EQ(recorder.dropped(), 0u);
}

TEST(Recorder, ReadResponsesAreKeptWithoutTheirPayload) {
  Recorder recorder({.events = 10, .bytes = 4});
  const Bytes octets(5);
  recorder.on_event({0, 0, Role::server, RdmaReadResponse{1, 2, octets.size(), octets}});
  ASSERT_EQ(recorder.size(), 1u);
  EXPECT_TRUE(std::get<RdmaReadResponse>(recorder[0].body).payload.empty());
  EXPECT_EQ(std::get<RdmaReadResponse>(recorder[0].body).length, 5u);
}

TEST(Recorder, ReplayAndFanoutKeepTheOrder) {
  Recorder source;
  for (std::uint64_t i = 0; i < 3; ++i) source.on_event(send_event(i, {}));
  Recorder first;
  Recorder second;
  Fanout both({&first, &second});
  source.replay(both);
  for (const Recorder* each : {&first, &second}) {
    ASSERT_EQ(each->size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ((*each)[i].index, i);
  }
}

TEST(Recorder, ClearStartsAnew) {
  Recorder recorder({.events = 1, .bytes = 4});
  recorder.on_event(send_event(0, {}));
  recorder.on_event(send_event(1, {}));
  recorder.clear();
  recorder.on_event(send_event(2, {}));
  ASSERT_EQ(recorder.size(), 1u);
  EXPECT_EQ(recorder[0].index, 2u);
  EXPECT_EQ(recorder.dropped(), 0u);
}

}  // namespace
}  // namespace steertag::trace
