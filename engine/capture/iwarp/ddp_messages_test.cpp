// Reassembly of untagged messages: what receivers accept and what they refuse.
#include "capture/iwarp/ddp_messages.h"

#include <gtest/gtest.h>

#include "capture/iwarp/testing.h"

namespace steertag::capture::iwarp {
namespace {

using namespace testing;
using rdma::iwarp::Segment;

class DdpMessagesTest : public ::testing::Test {
 protected:
  DdpMessagesTest() { messages.expect_first(); }

  /// "send 3 octets", "loss", "terminated", or nothing.
  std::string take(const Segment& segment, const Bytes& payload, std::size_t cut = 0) {
    const Completed completed = messages.take({segment, payload, payload.size() + cut});
    std::string text;
    if (completed.loss) text += std::string(sentence(*completed.loss));
    if (completed.terminated) text += "terminated ";
    if (completed.body) {
      const std::string line = trace::describe({0, 0, Role::client, *completed.body});
      text += line.substr(line.find("client ") + 7);
    }
    return text;
  }
  std::string take_send(std::uint32_t msn, std::uint32_t mo, bool last, std::size_t count = 4) {
    return take(untagged(Opcode::send, 0, msn, mo, last), octets(count));
  }

  Budget budget;
  DdpMessages messages{budget};
  const std::string damaged{sentence(LossKind::damaged)};
  const std::string missing{sentence(LossKind::missing)};
  const std::string overflow{sentence(LossKind::overflow)};
};

TEST_F(DdpMessagesTest, SegmentsOfASendArePutTogether) {
  EXPECT_EQ(take_send(1, 0, false), "");
  EXPECT_FALSE(messages.between_messages());
  EXPECT_EQ(take_send(1, 4, false), "");
  EXPECT_EQ(take_send(1, 8, true, 1), "send 9 octets [01020304 01020304 01]");
  EXPECT_TRUE(messages.between_messages());
  EXPECT_EQ(take_send(2, 0, true), "send 4 octets [01020304]");
  EXPECT_EQ(take_send(3, 0, true, 0), "send 0 octets");
}

TEST_F(DdpMessagesTest, AWholeSendIsNotCopied) {
  const Bytes payload = octets(100);
  const Completed completed = messages.take({untagged(Opcode::send, 0, 1), payload, 100});
  EXPECT_EQ(std::get<trace::Send>(*completed.body).bytes.data(), payload.data());
}

TEST_F(DdpMessagesTest, TaggedSegmentsMayStandBetween) {
  EXPECT_EQ(take_send(1, 0, false), "");
  EXPECT_EQ(take(tagged(Opcode::rdma_write, 1, 2), octets(2)),
            "rdma_write 2 octets to STag 0x00000001 offset 0x0000000000000002");
  EXPECT_EQ(take_send(1, 4, true), "send 8 octets [01020304 01020304]");
}

TEST_F(DdpMessagesTest, AWrongSequenceNumberIsNoMessage) {
  EXPECT_EQ(take_send(2, 0, true), damaged);
  EXPECT_EQ(take_send(3, 0, true), "send 4 octets [01020304]") << "what follows it is taken";
  EXPECT_EQ(take_send(3, 0, false), damaged);
  EXPECT_EQ(take_send(3, 4, true), "") << "the rest of what was reported";
  EXPECT_EQ(take_send(4, 0, true), "send 4 octets [01020304]");
}

TEST_F(DdpMessagesTest, AWrongOffsetIsNoMessage) {
  EXPECT_EQ(take_send(1, 4, true), damaged);
  EXPECT_EQ(take_send(2, 0, false), "");
  EXPECT_EQ(take_send(2, 3, true), damaged);
  EXPECT_EQ(take_send(3, 0, true), "send 4 octets [01020304]");
}

TEST_F(DdpMessagesTest, TheOpcodeStaysTheSame) {
  EXPECT_EQ(take_send(1, 0, false), "");
  EXPECT_EQ(take(untagged(Opcode::send_solicited, 0, 1, 4), octets(4)), damaged);
}

TEST_F(DdpMessagesTest, AfterALossNumbersMayBeAny) {
  messages.lose();
  EXPECT_EQ(take_send(77, 12, true), missing) << "its beginning is not known";
  EXPECT_EQ(take_send(78, 0, true), "send 4 octets [01020304]");
  EXPECT_EQ(take_send(78, 0, true), damaged);
}

TEST_F(DdpMessagesTest, LongSendsHaveALimit) {
  const std::uint32_t piece = 60000;
  std::uint32_t mo = 0;
  for (; mo + piece <= kMostSendBytes; mo += piece) {
    EXPECT_EQ(take_send(1, mo, false, piece), "");
  }
  EXPECT_EQ(take_send(1, mo, false, piece), overflow);
  EXPECT_EQ(take_send(1, mo + piece, true, piece), "");
  EXPECT_EQ(take_send(2, 0, true), "send 4 octets [01020304]");
  budget.take(kMostKeptBytesInAll + 1);
  EXPECT_EQ(take_send(3, 0, false), overflow);
  budget.give(kMostKeptBytesInAll + 1);
}

TEST_F(DdpMessagesTest, WhatIsKeptIsGivenBack) {
  {
    DdpMessages others(budget);
    const Bytes payload = octets(1000);
    others.take({untagged(Opcode::send, 0, 1, 0, false), payload, 1000});
    budget.take(kMostKeptBytesInAll - 999);
    EXPECT_TRUE(budget.exceeded());
  }
  EXPECT_FALSE(budget.exceeded());
}

TEST_F(DdpMessagesTest, ReadRequestsAreChecked) {
  Bytes body(rdma::iwarp::kReadRequestBytes);
  rdma::iwarp::encode(rdma::iwarp::ReadRequest{1, 2, 3, 4, 5}, body.data());
  const auto at = [](std::uint32_t msn, std::uint32_t mo = 0, bool last = true) {
    return untagged(Opcode::read_request, 1, msn, mo, last);
  };
  const std::string read = "rdma_read 3 octets from STag 0x00000004 offset 0x0000000000000005";
  EXPECT_EQ(take(at(1), body), read);
  EXPECT_EQ(take(at(1), body), damaged);
  EXPECT_EQ(take(at(2), body), read);
  EXPECT_EQ(take(at(3, 4), body), damaged);
  EXPECT_EQ(take(at(4, 0, false), body), damaged);
  EXPECT_EQ(take(at(5), octets(27)), damaged);
  EXPECT_EQ(take(at(6), octets(27), 1), sentence(LossKind::cut));
  EXPECT_EQ(take(at(7), body), read);
}

TEST_F(DdpMessagesTest, RefusalsOfReadsAreChecked) {
  const auto at = [](std::uint32_t msn, std::uint32_t mo = 0, bool last = true) {
    return untagged(Opcode::read_refusal, rdma::iwarp::kReadRefusalQueue, msn, mo, last);
  };
  const Bytes body = from_hex("00000003 0102 0000");
  EXPECT_EQ(take(at(1), body), "rdma_read_refused 3: layer 0 type 1 code 2");
  EXPECT_EQ(take(at(1), body), damaged);
  EXPECT_EQ(take(at(2, 4), body), damaged);
  EXPECT_EQ(take(at(3, 0, false), body), damaged);
  EXPECT_EQ(take(at(4), octets(7)), damaged);
  EXPECT_EQ(take(at(5), octets(7), 1), sentence(LossKind::cut));
  EXPECT_EQ(take(at(6), body), "rdma_read_refused 3: layer 0 type 1 code 2");
}

TEST_F(DdpMessagesTest, TerminatesAreDecodedLeniently) {
  const auto at = [](std::uint32_t msn) { return untagged(Opcode::terminate, 2, msn); };
  EXPECT_EQ(take(at(2), from_hex("12020000")), damaged) << "there is only one";
  EXPECT_EQ(take(at(1), octets(100)), damaged);
  EXPECT_EQ(take(at(1), from_hex("120200")), "terminated ");
  EXPECT_EQ(take(at(1), from_hex("21020300 001c")), "terminated terminate layer 1 type 2 code 2");
}

}  // namespace
}  // namespace steertag::capture::iwarp
