// Rules on the optimistic connection: each with a trace that conforms, and one that does not.
#include "conformance/direct/optimistic_connection.h"

#include <gtest/gtest.h>

#include "conformance/direct/testing.h"

namespace steertag::conformance {
namespace {

using direct::Reference;

Bytes valid(const Reference& reference) {
  return DirectTrace::frame(reference.generation, reference.length);
}

/// SETATTR of version 3, and its reply.
void set(DirectTrace& trace, const nfs3::Sattr& attributes) {
  nfs3::SetattrArgs args;
  args.object = nfs3::FileHandle(DirectTrace::handle("file").view());
  args.new_attributes = attributes;
  const auto procedure = static_cast<std::uint32_t>(nfs3::Procedure::NFSPROC3_SETATTR);
  trace.call(nfs3::kProgram, 3, procedure, args).reply(RawOctets{words({0, 0, 0})});
}

TEST(OptimisticConnection, TellsWhatReadsBring) {
  DirectScene scene;
  DirectPair user(scene);
  const Reference block = reference(1);
  user.grant({block});
  DirectTrace& optimistic = user.optimistic;
  EXPECT_EQ(optimistic.ask_for(block).state(), ReadState::waiting);
  EXPECT_EQ(optimistic.answer(valid(block)).state(), ReadState::valid);
  EXPECT_EQ(optimistic.judge().optimistic()->latest()->block_length, kTestBlockBytes);
  const Bytes wiped(block.length + kFrameBytes);
  EXPECT_EQ(optimistic.read(block, wiped).state(), ReadState::revoked);
  for (const std::size_t at : {std::size_t{8}, std::size_t{100}, wiped.size() - 1}) {
    Bytes torn = valid(block);
    torn[at] ^= std::byte{1};
    EXPECT_EQ(optimistic.read(block, torn).state(), ReadState::torn) << "octet " << at;
  }
  const Bytes later = DirectTrace::frame(77, block.length);
  EXPECT_EQ(optimistic.read(block, later).state(), ReadState::unknown);
  optimistic.event(Role::client, trace::RdmaRead{block.stag, block.base + 8, 8});
  optimistic.event(Role::server, trace::RdmaReadResponse{0, 0, 8, View(later).first(8)});
  EXPECT_EQ(optimistic.state(), ReadState::part);
  user.rpc.give_back({block});
  optimistic.ask_for(block).event(Role::server, trace::Terminate{0, 1, 0});
  EXPECT_EQ(optimistic.state(), ReadState::faulted);
  user.expect_nothing();
}

const trace::Terminate kInvalidStag{0, 1, 0};

TEST(OptimisticConnection, GrantedMemoryStaysForItsLease) {
  for (const std::int64_t seconds : {1, 50, 55}) {
    DirectScene scene;
    DirectPair user(scene);
    user.grant({reference(1)});
    scene.time_ns += seconds * kTestSecond;
    user.optimistic.ask_for(reference(1)).event(Role::server, kInvalidStag);
    if (seconds <= 50) {
      user.optimistic.expect("granted_memory_stays", "ODAFS-26");
    } else {
      user.expect_nothing();  // nine tenths of a minute are over
    }
  }
}

TEST(OptimisticConnection, AFaultMayHaveItsReason) {
  const auto fault = [](DirectScene& scene, DirectPair& user) {
    user.optimistic.ask_for(reference(1)).event(Role::server, kInvalidStag).expect_nothing();
    EXPECT_EQ(user.optimistic.state(), ReadState::faulted) << scene.next;
  };
  DirectScene returned;
  DirectPair first(returned);
  first.grant({reference(1)})
      .rpc.call(direct::Procedure::DIRECTPROC1_RETURN, direct::ReturnArgs{{reference(1)}});
  fault(returned, first);
  DirectScene again;
  DirectPair second(again);
  second.grant({reference(1)}).rpc.call(direct::Procedure::DIRECTPROC1_HELLO, direct::HelloArgs{});
  fault(again, second);
  DirectScene over;
  DirectPair third(over);
  third.grant({reference(1)}).rpc.event(Role::server, trace::Disconnect{});
  fault(over, third);
  DirectScene elsewhere;
  DirectPair fourth(elsewhere);
  fault(elsewhere, fourth);
}

TEST(OptimisticConnection, AFaultIsOfAnyReadInFlight) {
  DirectScene both;
  DirectPair granted(both);
  granted.grant({reference(1), reference(2)});
  granted.optimistic.ask_for(reference(1)).ask_for(reference(2)).event(Role::server, kInvalidStag);
  granted.optimistic.expect("granted_memory_stays", "ODAFS-26");

  DirectScene one;
  DirectPair guessed(one);
  guessed.grant({reference(1)});
  guessed.optimistic.ask_for(reference(1)).ask_for(reference(2)).event(Role::server, kInvalidStag);
  guessed.expect_nothing();
}

/// A refusal of the connection's Read of this number.
trace::RdmaReadRefused refusal(std::uint32_t read) {
  return {read, kInvalidStag};
}

TEST(OptimisticConnection, ARefusalThatBothAgreedToIsOfOneRead) {
  DirectScene scene;
  DirectTrace rpc(scene);
  DirectTrace optimistic(scene);
  const Reference block = reference(1);
  rpc.open().hello(1);
  optimistic.ask_by(1, true).accept(true);
  rpc.ask(1, "file").grant({block});
  optimistic.read(block, valid(block)).ask_for(block).ask_for(block);
  EXPECT_EQ(optimistic.event(Role::server, refusal(2)).state(), ReadState::faulted);
  EXPECT_EQ(optimistic.judge().optimistic()->latest()->block_length, kTestBlockBytes);
  EXPECT_EQ(optimistic.answer(valid(block)).state(), ReadState::valid);
  EXPECT_EQ(optimistic.read(block, valid(block)).state(), ReadState::valid);
  rpc.expect_nothing();
  optimistic.expect_nothing();
}

TEST(OptimisticConnection, ARefusalIsOfTheOldestRead) {
  for (const std::uint32_t read : {1U, 3U}) {
    DirectScene scene;
    DirectTrace rpc(scene);
    DirectTrace optimistic(scene);
    rpc.open().hello(1);
    optimistic.ask_by(1, true).accept(true);
    rpc.ask(1, "file").grant({reference(1)});
    optimistic.read(reference(1), valid(reference(1)));
    if (read == 3) optimistic.ask_for(reference(1)).ask_for(reference(1));
    optimistic.event(Role::server, refusal(read))
        .expect("refusal_is_of_the_oldest_read", "ODAFS-34");
  }
}

TEST(OptimisticConnection, ARefusalNeedsBothSidesWord) {
  for (const bool client : {false, true}) {
    DirectScene scene;
    DirectTrace(scene).open().hello(1);
    DirectTrace optimistic(scene);
    optimistic.ask_by(1, client).accept(!client).ask_for(reference(1));
    optimistic.event(Role::server, refusal(1)).expect("refusal_needs_both_words", "ODAFS-34");
  }
}

TEST(OptimisticConnection, AFaultThatBothAgreedToEndsNoConnection) {
  for (const bool agreed : {false, true}) {
    for (const unsigned code : {0U, 4U, 5U}) {
      DirectScene scene;
      DirectTrace(scene).open().hello(1);
      DirectTrace optimistic(scene);
      optimistic.ask_by(1, true).accept(agreed).ask_for(reference(1));
      optimistic.event(Role::server, trace::Terminate{0, 1, static_cast<std::uint8_t>(code)});
      if (agreed && code <= 4) {
        optimistic.expect("agreed_fault_is_refused", "ODAFS-34");
      } else {
        optimistic.expect_nothing();
      }
    }
  }
}

TEST(OptimisticConnection, WithoutTheOctetsNothingIsSaidOfAFrame) {
  DirectScene scene;
  DirectPair user(scene);
  const Reference block = reference(1);
  user.grant({block}).optimistic.ask_for(block);
  user.optimistic.event(Role::server,
                        trace::RdmaReadResponse{0, 0, block.length + kFrameBytes, {}});
  EXPECT_EQ(user.optimistic.state(), ReadState::unknown);
  user.expect_nothing();
}

TEST(OptimisticConnection, OnlyATicketThatWasGivenOpensIt) {
  for (const std::uint8_t ticket : {std::uint8_t{1}, std::uint8_t{2}}) {
    DirectScene scene;
    DirectTrace rpc(scene);
    rpc.open().hello(1);
    DirectTrace optimistic(scene);
    optimistic.ask_by(ticket).accept();
    if (ticket == 1) {
      optimistic.expect_nothing();
    } else {
      optimistic.expect("ticket_was_given", "ODAFS-29");
    }
  }
}

TEST(OptimisticConnection, AnUnseenHelloMayHaveGivenTheTicket) {
  DirectScene scene;
  DirectTrace rpc(scene);
  rpc.open().hello(1);
  rpc.judge().forget_history();
  DirectTrace(scene).ask_by(2).accept().expect_nothing();
  DirectScene empty;
  DirectTrace(empty).ask_by(2).accept().expect_nothing();
}

TEST(OptimisticConnection, ATicketIsVoidAfterAnotherHello) {
  DirectScene scene;
  DirectTrace rpc(scene);
  rpc.open().hello(1).hello(2);
  DirectTrace optimistic(scene);
  optimistic.ask_by(1).accept().expect("ticket_was_given", "ODAFS-29");
}

TEST(OptimisticConnection, PrivateDataWithoutATicketOpenNone) {
  DirectScene scene;
  DirectTrace optimistic(scene);
  Bytes octets;
  direct::encode_answer(octets);
  optimistic.event(Role::client, trace::Connect{octets});
  optimistic.accept().expect("ticket_was_given", "ODAFS-29");
}

TEST(OptimisticConnection, ATicketOpensOneConnection) {
  DirectScene scene;
  DirectPair user(scene);
  user.expect_nothing();
  DirectTrace again(scene);
  again.ask_by().accept().expect("ticket_opens_one_connection", "ODAFS-29");
}

TEST(OptimisticConnection, AnythingButAReadEndsIt) {
  const trace::Body send = trace::Send{};
  const trace::Body write = trace::RdmaWrite{1, 2, 3, {}};
  for (const trace::Body& body : {send, write}) {
    DirectScene scene;
    DirectPair user(scene);
    const Reference block = reference(1);
    user.grant({block}).optimistic.ask_for(block).event(Role::client, body);
    user.optimistic.answer(valid(block)).expect_nothing();  // it was asked for before
    user.optimistic.read(block, valid(block)).expect("illegal_operation_ends_it", "ODAFS-30");
  }
}

TEST(OptimisticConnection, TheServerOnlyResponds) {
  DirectScene scene;
  DirectPair user(scene);
  user.optimistic.event(Role::server, trace::Send{}).expect("server_only_responds", "ODAFS-30");
}

TEST(OptimisticConnection, AReadStaysInsideOfItsFrame) {
  const Reference block = reference(1);
  for (const bool sees_all : {false, true}) {
    DirectScene scene;
    if (!sees_all) scene.access.note_unseen();
    DirectPair user(scene);
    user.grant({block});
    user.optimistic.event(Role::client, trace::RdmaRead{block.stag, block.base + 1, 8});
    user.optimistic.event(Role::server, trace::RdmaReadResponse{0, 0, 8, {}}).expect_nothing();
    Bytes octets = valid(block);
    octets.push_back({});
    user.optimistic.event(Role::client, trace::RdmaRead{block.stag, block.base, octets.size()});
    user.optimistic.answer(octets);
    EXPECT_EQ(user.optimistic.state(), ReadState::outside);
    if (sees_all) {
      user.optimistic.expect("read_shows_its_frame_alone", "ODAFS-4");
    } else {
      user.optimistic.expect_nothing();
    }
  }
}

TEST(OptimisticConnection, AReadOfNoOctetsShowsNone) {
  DirectScene scene;
  DirectPair user(scene);
  user.optimistic.event(Role::client, trace::RdmaRead{0, 0, 0});
  user.optimistic.event(Role::server, trace::RdmaReadResponse{0, 0, 0, {}}).expect_nothing();
}

TEST(OptimisticConnection, AReadShowsNoForeignFrame) {
  DirectScene scene;
  DirectPair owner(scene, 1);
  DirectPair thief(scene, 2);
  const Reference block = reference(1);
  owner.grant({block});
  owner.optimistic.read(block, valid(block)).expect_nothing();
  thief.optimistic.read(block, valid(block)).expect("read_shows_no_foreign_frame", "ODAFS-5");
}

TEST(OptimisticConnection, AfterALossNothingIsSaid) {
  DirectScene scene;
  DirectPair user(scene);
  const Reference block = reference(1);
  user.optimistic.judge().forget_history();
  user.optimistic.ask_for(block).answer(valid(block));
  user.optimistic.event(Role::client, trace::Send{});
  user.optimistic.read(block, valid(block)).expect_nothing();
}

/// Whether a valid frame of before is found after this change of "file", read by another client.
void expect_void(const Reference& block, const nfs3::Sattr& attributes, std::string_view rule,
                 std::string_view id) {
  DirectScene scene;
  DirectPair user(scene);
  DirectTrace other(scene);
  other.open();
  user.grant({block});
  set(other, attributes);
  user.optimistic.read(block, valid(block));
  if (rule.empty()) {
    user.expect_nothing();
  } else {
    user.optimistic.expect(rule, id);
  }
}

TEST(OptimisticConnection, AChangeVoidsTheFrame) {
  const Reference whole = reference(1);
  const Reference last = reference(1, 0, 100);
  const auto size = [](std::uint64_t octets) {
    nfs3::Sattr attributes;
    attributes.size = octets;
    return attributes;
  };
  expect_void(whole, size(kTestBlockBytes - 1), "change_voids_the_frame", "ODAFS-9");
  expect_void(whole, size(kTestBlockBytes + 1), "", "");
  expect_void(last, size(101), "change_voids_the_frame", "ODAFS-9");
  expect_void(last, size(100), "", "");
}

TEST(OptimisticConnection, ADenialVoidsTheFrame) {
  nfs3::Sattr mode;
  mode.mode = 0;
  expect_void(reference(1), mode, "denial_voids_the_frame", "ODAFS-10");
  expect_void(reference(1), {}, "", "");
}

TEST(OptimisticConnection, AReadThatBeganBeforeTheReplyMayShowTheFrame) {
  DirectScene scene;
  DirectPair user(scene);
  DirectTrace other(scene);
  other.open();
  const Reference block = reference(1);
  user.grant({block}).optimistic.ask_for(block);
  nfs3::Sattr attributes;
  attributes.size = 0;
  set(other, attributes);
  user.optimistic.answer(valid(block)).expect_nothing();
}

TEST(OptimisticConnection, WriteOfVersion4VoidsTheFrame) {
  DirectScene scene;
  DirectPair user(scene);
  DirectTrace other(scene);
  other.open();
  const Reference block = reference(1);
  user.grant({block});
  // Tag, minor version, and PUTFH "file", WRITE of 4 octets from 0 on.
  Bytes args = words({0, 1, 2, 22, 4});
  for (const char each : std::string_view("file")) args.push_back(static_cast<std::byte>(each));
  const Bytes rest = words({38, 0, 0, 0, 0, 0, 0, 2, 4, 0});
  args.insert(args.end(), rest.begin(), rest.end());
  other.call(100003, 4, 1, RawOctets{args});
  other.reply(RawOctets{words({0, 0, 2, 22, 0, 38, 0, 4, 2, 0, 0})});
  user.optimistic.read(block, valid(block)).expect("change_voids_the_frame", "ODAFS-9");
}

TEST(OptimisticConnection, ARecallEndsTheUse) {
  DirectScene scene;
  DirectPair user(scene);
  const Reference block = reference(1);
  user.grant({block}).rpc.recall();
  user.optimistic.read(block, valid(block)).expect_nothing();  // it may be in flight
  user.rpc.return_delegation();
  user.optimistic.ask_for(block).expect("recall_ends_the_use", "ODAFS-23", Role::client);
  user.rpc.expect_nothing();
}

TEST(OptimisticConnection, WhatIsGrantedBehindTheReturnIsUsed) {
  for (const Reference& later : {reference(2), reference(1)}) {
    DirectScene scene;
    DirectPair user(scene);
    user.grant({reference(1)}).rpc.recall().return_delegation();
    user.grant({later}).optimistic.read(later, valid(later));
    user.expect_nothing();
  }
}

TEST(OptimisticConnection, ADelegationThatIsReturnedUnaskedEndsNoUse) {
  for (const std::uint8_t recalled : {std::uint8_t{0}, std::uint8_t{8}}) {  // none, or another one
    DirectScene scene;
    DirectPair user(scene);
    const Reference block = reference(1);
    user.grant({block});
    if (recalled != 0) user.rpc.recall(recalled);
    user.rpc.return_delegation();
    user.optimistic.read(block, valid(block));
    user.expect_nothing();
  }
}

TEST(OptimisticConnection, ARecallEndsNoUseOfOthers) {
  DirectScene scene;
  DirectPair user(scene);
  DirectPair other(scene, 2);
  user.grant({reference(1)}).rpc.recall().return_delegation();
  other.grant({reference(2)}, "file");
  user.grant({reference(3)}, "another");
  other.optimistic.read(reference(2), valid(reference(2)));
  user.optimistic.read(reference(3), valid(reference(3)));
  user.expect_nothing();
  other.expect_nothing();
}

TEST(OptimisticConnection, BehindALossNoUseIsBlamed) {
  DirectScene scene;
  DirectPair user(scene);
  user.grant({reference(1)}).rpc.recall().return_delegation();
  user.rpc.judge().forget_history();
  user.optimistic.read(reference(1), valid(reference(1)));
  user.expect_nothing();
}

TEST(OptimisticConnection, AFailedReadFallsBackOnce) {
  const Reference block = reference(1);
  const Bytes revoked(block.length + kFrameBytes);
  Bytes torn = valid(block);
  torn.back() ^= std::byte{1};
  for (const Bytes& frame : {revoked, torn, DirectTrace::frame(77, block.length), valid(block)}) {
    DirectScene scene;
    DirectPair user(scene);
    user.grant({block}).optimistic.read(block, frame);
    const std::uint64_t failed = scene.next - 1;
    const bool fails = user.optimistic.state() != ReadState::valid;
    direct::ReadArgs args;
    args.file = DirectTrace::handle("file");
    args.count = 1;
    const auto latest = [&] { return user.rpc.judge().direct_calls().latest(); };
    user.rpc.call(direct::Procedure::DIRECTPROC1_READ, args);
    EXPECT_EQ(latest().fallback, fails ? std::optional(failed) : std::nullopt);
    EXPECT_EQ(latest().procedure, "READ");
    user.rpc.reply(direct::ReadResult{}).call(direct::Procedure::DIRECTPROC1_READ, args);
    EXPECT_EQ(latest().fallback, std::nullopt);
    user.expect_nothing();
  }
}

}  // namespace
}  // namespace steertag::conformance
