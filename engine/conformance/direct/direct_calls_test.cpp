// Rules on what is granted: each with a trace that conforms, and one that does not.
#include "conformance/direct/direct_calls.h"

#include <gtest/gtest.h>

#include "conformance/direct/testing.h"

namespace steertag::conformance {
namespace {

using direct::Procedure;
using direct::Reference;

TEST(DirectCalls, AConformingUserHasNoFinding) {
  DirectScene scene;
  DirectPair user(scene);
  const Reference first = reference(1);
  const Reference second = reference(2, 1);
  user.grant({first, second}).grant({first});
  user.rpc.give_back({second});
  user.grant({reference(3, 1)}).expect_nothing();
}

TEST(DirectCalls, ReferencesFollowHello) {
  for (const bool says_hello : {false, true}) {
    DirectScene scene;
    DirectTrace rpc(scene);
    rpc.open();
    if (says_hello) rpc.hello();
    DirectTrace(scene).ask_by().accept();
    rpc.ask().grant({reference(1)});
    if (says_hello) {
      rpc.expect_nothing();
    } else {
      rpc.expect("references_follow_hello", "ODAFS-2");
    }
  }
}

TEST(DirectCalls, HelloMayHaveBeenBeforeTheCapture) {
  DirectScene scene;
  DirectTrace rpc(scene);
  rpc.ask().grant({reference(1)}).expect_nothing();
  DirectTrace lossy(scene);
  lossy.open();
  lossy.judge().forget_history();
  lossy.ask().grant({reference(1)}).expect_nothing();
}

TEST(DirectCalls, ReferencesFollowTheOptimisticConnection) {
  for (const bool sees_all : {false, true}) {
    for (const bool sees_optimistic : {false, true}) {
      DirectScene scene;
      if (!sees_all) scene.access.note_unseen();
      if (sees_optimistic) DirectPair(scene, 2).expect_nothing();
      DirectTrace rpc(scene);
      rpc.open().hello().ask().grant({reference(1)});
      if (sees_all && sees_optimistic) {
        rpc.expect("references_follow_the_connection", "ODAFS-2");
      } else {
        rpc.expect_nothing();
      }
    }
  }
}

TEST(DirectCalls, ReferencesAreAskedFor) {
  DirectScene scene;
  DirectPair user(scene);
  user.rpc.ask(1).grant({reference(1)}).expect_nothing();
  user.rpc.ask(0).grant({reference(1)}).expect("references_are_asked_for", "ODAFS-2");
}

TEST(DirectCalls, AReadWithItsDataInAChunkIsUnderstood) {
  DirectScene scene;
  DirectPair user(scene);
  direct::ReadArgs args;
  args.file = DirectTrace::handle("file");
  args.count = 8;
  args.want_refs = 1;
  Bytes octets;
  wire::Writer arguments(octets);
  args.encode(arguments);
  const auto procedure = static_cast<std::uint32_t>(Procedure::DIRECTPROC1_READ);
  const std::uint32_t xid = 900;
  const wire::Header head = with_write(header(xid), {{7, 8, 0x1000}});
  user.rpc.send(Role::client, head,
                rpc_call(xid, direct::kProgram, direct::kVersion, procedure, octets));
  user.rpc.event(Role::server, trace::RdmaWrite{7, 0x1000, 8, {}});
  Bytes results = words({0, 0, 1, 0, 8, 1, 8, 1});  // the count of the data, without the data
  wire::Writer writer(results);
  reference(1).encode(writer);
  user.rpc.send(Role::server, head, rpc_reply(xid, results)).expect_nothing();
  EXPECT_EQ(user.rpc.judge().direct_calls().latest().references, 1u);
  EXPECT_EQ(user.rpc.judge().direct_calls().latest().procedure, "READ");
}

TEST(DirectCalls, ResultsOfBatchBelongToItsReads) {
  DirectScene scene;
  DirectPair user(scene);
  direct::BatchArgs args;
  args.reads.resize(2);
  args.reads[1].want_refs = 1;
  direct::BatchResult result;
  result.results.resize(2);
  result.results[0].status = nfs4::Status::NFS4ERR_ACCESS;
  result.results[1].resok4.refs = {reference(1)};
  user.rpc.call(Procedure::DIRECTPROC1_BATCH, args).reply(result);
  user.expect_nothing();
  result.results[0] = result.results[1];
  user.rpc.call(Procedure::DIRECTPROC1_BATCH, args).reply(result);
  user.rpc.expect("references_are_asked_for", "ODAFS-2");
}

TEST(DirectCalls, GenerationIsNotZero) {
  DirectScene scene;
  DirectPair user(scene);
  Reference none = reference(1);
  none.generation = 0;
  user.grant({none}).rpc.expect("generation_is_not_zero", "ODAFS-7");
  user.optimistic.read(none, DirectTrace::frame(7, none.length)).expect_nothing();
}

TEST(DirectCalls, AGenerationNamesOneFrame) {
  const Reference first = reference(1);
  Reference elsewhere = first;
  elsewhere.base += 8;
  Reference shorter = first;
  --shorter.length;
  Reference other_block = first;
  other_block.offset = kTestBlockBytes;
  for (const Reference& each : {elsewhere, shorter, other_block}) {
    DirectScene scene;
    DirectPair user(scene);
    user.grant({first}).grant({first}).expect_nothing();
    user.grant({each}).rpc.expect("generation_names_one_state", "ODAFS-7");
  }
}

/// WRITE of version 3, and its reply.
void write(DirectTrace& trace, std::uint64_t offset, std::uint32_t count, bool fails = false) {
  nfs3::WriteArgs args;
  args.file = nfs3::FileHandle(DirectTrace::handle("file").view());
  args.offset = offset;
  args.count = count;
  const auto procedure = static_cast<std::uint32_t>(nfs3::Procedure::NFSPROC3_WRITE);
  trace.call(nfs3::kProgram, 3, procedure, args);
  Bytes results;
  wire::Writer writer(results);
  for (const std::uint32_t word : {fails ? 28u : 0u, 0u, 0u, count, 2u, 0u, 0u}) writer.u32(word);
  trace.reply(RawOctets{results});
}

TEST(DirectCalls, AGenerationDoesNotSurviveAChangeOfItsBlock) {
  struct Change {
    std::uint64_t offset;
    std::uint32_t count;
    bool fails;
    bool changes;
  };
  for (const Change& each : {Change{0, 1, false, true}, Change{kTestBlockBytes - 1, 1, false, true},
                             Change{0, 1, true, false}, Change{0, 0, false, false},
                             Change{kTestBlockBytes, 100, false, false}}) {
    DirectScene scene;
    DirectPair user(scene);
    DirectTrace other(scene);
    other.open();
    user.grant({reference(1)});
    write(other, each.offset, each.count, each.fails);
    user.grant({reference(1)});
    if (each.changes) {
      user.rpc.expect("generation_names_one_state", "ODAFS-7");
    } else {
      user.expect_nothing();
    }
  }
}

TEST(DirectCalls, WhatIsGrantedWhileABlockChangesMayBeNew) {
  DirectScene scene;
  DirectPair user(scene);
  DirectTrace other(scene);
  other.open();
  user.grant({reference(1)});
  user.rpc.ask();
  write(other, 0, 1);
  user.rpc.grant({reference(1)});
  user.expect_nothing();
}

TEST(DirectCalls, AFrameKeepsItsBlock) {
  DirectScene scene;
  DirectPair user(scene);
  Reference again = reference(1, 1);
  again.generation = 77;
  user.grant({reference(1)}).grant({again}).rpc.expect("frame_keeps_its_block", "ODAFS-7");
}

TEST(DirectCalls, AReturnedPlaceIsNotUsedAgain) {
  DirectScene scene;
  DirectPair user(scene);
  Reference again = reference(1, 1);
  again.generation = 77;
  user.grant({reference(1)});
  user.rpc.give_back({reference(1)});
  user.grant({again}).rpc.expect("returned_place_is_not_used_again", "ODAFS-6");
}

TEST(DirectCalls, AnotherGrantOfABlockMayUseItsFrame) {
  DirectScene scene;
  DirectPair user(scene);
  Reference again = reference(1);
  again.generation = 77;
  user.grant({reference(1)}).grant({again}).expect_nothing();
}

TEST(DirectCalls, ReferencesStayWithinTheMost) {
  DirectScene scene;
  DirectPair user(scene, 1, 2);
  user.grant({reference(1), reference(2, 1)}).expect_nothing();
  user.grant({reference(3, 2)}).rpc.expect("references_stay_within_the_most", "ODAFS-27");
}

TEST(DirectCalls, WhatWasReturnedOrIsOldMakesRoom) {
  DirectScene scene;
  DirectPair user(scene, 1, 2);
  user.grant({reference(1), reference(2, 1)});
  user.rpc.give_back({reference(1)});
  user.grant({reference(3, 2)}).expect_nothing();
  scene.time_ns += 60 * kTestSecond;
  user.grant({reference(4, 3), reference(5, 4)}).expect_nothing();
}

TEST(DirectCalls, KeepsABoundedNumberOfReferences) {
  DirectScene scene;
  DirectPair user(scene, 1, UINT32_MAX);
  for (std::uint64_t i = 1; i <= 3 * kMostGrants; ++i) user.grant({reference(i)});
  const auto kept = scene.access.find(DirectTrace::ticket_of(1));
  EXPECT_EQ(kept->grants.size(), kMostGrants);
  EXPECT_TRUE(kept->incomplete) << "absence proves nothing any more";
}

TEST(DirectCalls, ReturnedReferencesMakeRoom) {
  DirectScene scene;
  DirectPair user(scene, 1, UINT32_MAX);
  for (std::uint64_t i = 1; i <= 2 * kMostGrants; ++i) {
    user.grant({reference(i)});
    user.rpc.give_back({reference(i)});
  }
  const auto kept = scene.access.find(DirectTrace::ticket_of(1));
  EXPECT_FALSE(kept->incomplete);
  EXPECT_LE(kept->grants.size(), kMostGrants);
}

TEST(DirectCalls, AReplyInItsChunkHidesReferences) {
  DirectScene scene;
  DirectPair user(scene);
  user.rpc.ask();
  user.rpc.send(Role::server, with_reply_chunk(nomsg(102), {7, 60, 0x1000}));
  EXPECT_TRUE(scene.access.find(DirectTrace::ticket_of(1))->incomplete);
}

}  // namespace
}  // namespace steertag::conformance
