// Which schedules are stepped with the one that they have joined.
#include "client/rdma/call_schedule.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "client/testing/fake_transport.h"

namespace steertag::peer::testing {
namespace {

/// Has something to do only when its descriptor is readable, or if a test says so.
class QuietTransport final : public ClientTransport {
 public:
  explicit QuietTransport(int descriptor) : descriptor_(descriptor) {}

  Expected<std::uint32_t, CallError> submit(Request, CallCallback) override { return ++xid_; }
  void step(std::chrono::milliseconds) override {
    ++steps;
    eventfd_t events = 0;
    ::eventfd_read(descriptor_, &events);
    if (brings_for) brings_for->due = true;
    due = false;
  }
  int descriptor() const override { return descriptor_; }
  std::chrono::milliseconds idle_for(std::chrono::milliseconds most) override {
    return due ? 0ms : most;
  }
  void give_up(std::uint32_t, CallError) override {}
  std::size_t pending() const override { return 0; }
  TransportLimits limits() const override { return {}; }
  void abort_connection() override {}

  int steps = 0;
  bool due = false;
  QuietTransport* brings_for = nullptr;  // a step makes it due

 private:
  int descriptor_;
  std::uint32_t xid_ = 0;
};

/// The second and the third have joined the first. These two share a descriptor.
class JoinedSchedulesTest : public ::testing::Test {
 protected:
  JoinedSchedulesTest() {
    schedules[0].join(schedules[1]);
    schedules[0].join(schedules[2]);
  }
  ~JoinedSchedulesTest() override {
    for (const int each : descriptors) ::close(each);
  }
  std::vector<int> steps() const {
    return {transports[0].steps, transports[1].steps, transports[2].steps};
  }
  void step() { schedules[0].step(10s); }

  const DeadlineClock clock = [] { return std::chrono::steady_clock::time_point{}; };
  int descriptors[2] = {::eventfd(0, EFD_NONBLOCK), ::eventfd(0, EFD_NONBLOCK)};
  QuietTransport transports[3] = {QuietTransport(descriptors[0]), QuietTransport(descriptors[1]),
                                  QuietTransport(descriptors[1])};
  CallSchedule schedules[3] = {
      {transports[0], clock, 10s}, {transports[1], clock, 10s}, {transports[2], clock, 10s}};
};

TEST_F(JoinedSchedulesTest, IdleOneIsNotStepped) {
  ::eventfd_write(descriptors[0], 1);
  step();
  EXPECT_EQ(steps(), (std::vector<int>{1, 0, 0}));
}

TEST_F(JoinedSchedulesTest, DescriptorThatIsSharedIsReadByOne) {
  ::eventfd_write(descriptors[1], 1);
  step();
  EXPECT_EQ(steps(), (std::vector<int>{1, 1, 0}));
}

TEST_F(JoinedSchedulesTest, WhatOneBringsForAnotherIsTakenInTheSameStep) {
  transports[1].brings_for = &transports[2];
  ::eventfd_write(descriptors[1], 1);
  step();
  EXPECT_EQ(steps(), (std::vector<int>{1, 1, 1}));
}

TEST_F(JoinedSchedulesTest, WhatIsToBeDoneLaterIsDoneThoughNothingIsReadable) {
  bool done = false;
  schedules[2].later(0ms, [&] { done = true; });
  step();
  EXPECT_TRUE(done);
}

TEST_F(JoinedSchedulesTest, AfterTheTimeoutAllAreStepped) {
  schedules[0].step(1ms);
  EXPECT_EQ(steps(), (std::vector<int>{1, 1, 1}));
}

}  // namespace
}  // namespace steertag::peer::testing
