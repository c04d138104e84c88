// Rules on I/O at data servers: each with a trace that conforms, and one that does not.
#include "conformance/pnfs/data_server_check.h"

#include <gtest/gtest.h>

#include "conformance/pnfs/testing.h"

namespace steertag::conformance {
namespace {

TEST(DataServerCheck, AConformingClientHasNoFinding) {
  for (const std::uint32_t flags : {0u, nfs4::kDense, nfs4::kCommitThroughServer}) {
    PnfsScene scene;
    StripedClient client(scene);
    client.get_layout(flags).get_device();
    for (std::size_t i = 0; i < kTestServers; ++i) {
      const std::string handle = "ds" + std::to_string(i);
      const std::uint64_t offset = flags == nfs4::kDense ? 0 : i * kTestUnit;
      client.ds[i]->write(handle, offset).read(handle, offset).read_done();
      if (flags != nfs4::kCommitThroughServer) client.ds[i]->commit(handle).commit_done();
    }
    if (flags == nfs4::kCommitThroughServer) client.mds.commit("file").commit_done();
    client.call_return().take_return();
    client.mds.read("file", 0).read_done();
    client.expect_nothing();
  }
}

TEST(DataServerCheck, TheStateidIsNoLayouts) {
  PnfsScene scene;
  StripedClient client(scene);
  client.get_layout();
  client.ds[0]->read("ds0", 0).read_done().expect_nothing();
  client.ds[0]
      ->read("ds0", 0, stateid_of(6))
      .expect("data_server_stateid_is_no_layout", "RFC8881-13.9.1-1");
}

TEST(DataServerCheck, TheStateidHasNoSeqid) {
  PnfsScene scene;
  StripedClient client(scene);
  client.ds[0]->read("other", 0).read_done().expect_nothing();
  client.ds[0]
      ->read("other", 0, stateid_of(5, 1))
      .expect("data_server_stateid_has_no_seqid", "RFC8881-13.9.1-2");
}

TEST(DataServerCheck, TheStateidIsNotSpecial) {
  for (const std::uint8_t octet : {std::uint8_t{0}, std::uint8_t{0xff}}) {
    PnfsScene scene;
    StripedClient client(scene);
    client.mds.read("file", 0, stateid_of(octet)).read_done().expect_nothing();
    client.ds[0]->read("other", 0, stateid_of(octet, octet == 0 ? 0 : UINT32_MAX));
    client.ds[0]->expect("data_server_stateid_is_not_special", "RFC8881-13.9.1-2");
  }
}

TEST(DataServerCheck, AServerOfBothRolesIsJudgedByItsHandles) {
  PnfsScene scene;
  StripedClient client(scene, kMdsRole | kDsRole);
  client.get_layout();
  client.ds[0]->read("file", 0, stateid_of(5, 1)).read_done().expect_nothing();
  client.ds[0]
      ->read("ds0", 0, stateid_of(5, 1))
      .expect("data_server_stateid_has_no_seqid", "RFC8881-13.9.1-2");
}

TEST(DataServerCheck, ABadStateidIsRefused) {
  for (const nfs4::StateId& stateid : {stateid_of(0), stateid_of(6), stateid_of(5, 1)}) {
    for (const Status status : {Status::NFS4ERR_BAD_STATEID, Status::NFS4_OK}) {
      PnfsScene scene;
      StripedClient client(scene);
      client.get_layout();
      client.ds[0]->read("ds0", 0, stateid);
      std::vector<Finding> of_the_client;
      client.ds[0]->judge().take_findings(of_the_client);
      client.ds[0]->read_done(status);
      if (status == Status::NFS4_OK) {
        client.ds[0]->expect("bad_stateid_is_refused", "RFC8881-13.9.1-3", Role::server);
      } else {
        client.ds[0]->expect_nothing();
      }
    }
  }
}

TEST(DataServerCheck, AttributesAreOfTheMetadataServer) {
  for (const Opnum number : {Opnum::OP_GETATTR, Opnum::OP_SETATTR}) {
    PnfsScene scene;
    StripedClient client(scene);
    const auto ask = [&](PnfsTrace& trace) {
      if (number == Opnum::OP_GETATTR) trace.call("file", number, nfs4::GetattrArgs{});
      if (number == Opnum::OP_SETATTR) trace.call("file", number, nfs4::SetattrArgs{});
    };
    ask(client.mds);
    client.expect_nothing();
    ask(*client.ds[0]);
    client.ds[0]->expect("attributes_are_of_the_metadata_server", "RFC8881-13.6-6");
  }
}

TEST(DataServerCheck, AReturnEndsTheUse) {
  PnfsScene scene;
  StripedClient client(scene);
  client.get_layout().get_device();
  PnfsTrace& ds = *client.ds[0];
  client.call_return();
  ds.read("ds0", 0).read_done();
  client.take_return().expect_nothing();
  ds.read("ds0", 0).expect("return_ends_the_use", "RFC8881-12.5.5-3");
}

TEST(DataServerCheck, WhatMayHaveBeenSentBeforeTheReturnIsNoUse) {
  PnfsScene scene;
  StripedClient client(scene);
  client.get_layout().get_device();
  PnfsTrace& ds = *client.ds[0];
  ds.read("ds0", 0).read_done();
  client.call_return().take_return();
  ds.read("ds0", 0);  // its slot was free before the LAYOUTRETURN
  ds.slot = 1;
  ds.read("ds0", 0);  // this slot was never used
  client.expect_nothing();
}

TEST(DataServerCheck, ARestartOfTheMetadataServerEndsTheUse) {
  constexpr std::uint64_t kOtherId = 77;
  PnfsScene scene;
  StripedClient client(scene);
  client.get_layout().get_device();
  PnfsTrace& ds = *client.ds[0];
  client.mds.exchange_id(kOtherId, kMdsRole);
  ds.read("ds0", 0).read_done();  // whether the client has seen that is not known
  client.mds.create_session(kOtherId);
  ds.read("ds0", 0).read_done();  // it may have been sent before
  client.expect_nothing();
  ds.read("ds0", 0).expect("restart_ends_the_use", "RFC8881-12.7.4-1");
}

TEST(DataServerCheck, ALayoutOfBehindARestartIsUsed) {
  enum class Why { again, same_id, by_itself, other_role };
  for (const Why why : {Why::again, Why::same_id, Why::by_itself, Why::other_role}) {
    PnfsScene scene;
    StripedClient client(scene);
    client.get_layout().get_device();
    client.mds.register_client(why == Why::same_id ? 1 : 77,
                               why == Why::other_role ? kDsRole : kMdsRole,
                               why == Why::by_itself ? 1 : 0);
    if (why == Why::again) client.get_layout();
    PnfsTrace& ds = *client.ds[0];
    ds.read("ds0", 0).read_done().read("ds0", 0).read_done();
    client.expect_nothing();
  }
}

TEST(DataServerCheck, ALayoutMayBeHeldAfterAReturn) {
  enum class Why { again, asked, part, lost, unseen };
  for (const Why why : {Why::again, Why::asked, Why::part, Why::lost, Why::unseen}) {
    PnfsScene scene;
    if (why == Why::unseen) scene.layouts.note_unseen();
    StripedClient client(scene);
    client.get_layout().get_device();
    PnfsTrace& ds = *client.ds[0];
    if (why == Why::part) {
      client.call_return(kTestUnit, kTestUnit).take_return(true);
    } else {
      client.call_return().take_return();
    }
    if (why == Why::lost) client.mds.judge().forget_history();
    if (why == Why::again) client.get_layout();
    if (why == Why::asked) client.mds.call("file", Opnum::OP_LAYOUTGET, nfs4::LayoutgetArgs{});
    ds.read("ds0", 0).read_done().read("ds0", 0).read_done();
    if (why == Why::asked) ds.judge().forget_history();
    client.expect_nothing();
  }
}

TEST(DataServerCheck, ARevocationEndsTheUse) {
  for (const std::uint32_t flag :
       {nfs4::SEQ4_STATUS_EXPIRED_ALL_STATE_REVOKED, nfs4::SEQ4_STATUS_EXPIRED_SOME_STATE_REVOKED,
        nfs4::SEQ4_STATUS_ADMIN_STATE_REVOKED, nfs4::SEQ4_STATUS_CB_PATH_DOWN}) {
    PnfsScene scene;
    StripedClient client(scene);
    client.get_layout().get_device();
    client.mds.flags = flag;
    client.mds.read("file", 0).read_done();
    PnfsTrace& ds = *client.ds[0];
    ds.read("ds0", 0).read_done();  // the client may not know yet
    client.mds.read("file", 0);
    ds.read("ds0", 0).read_done().expect_nothing();  // sent before its reply, for all we know
    ds.read("ds0", 0);
    if (flag == nfs4::SEQ4_STATUS_CB_PATH_DOWN) {
      ds.expect_nothing();
    } else {
      ds.expect("revocation_ends_the_use", "RFC8881-12.7.2-2");
    }
  }
}

TEST(DataServerCheck, TheReplyWithTheAddressWasReceived) {
  for (const bool is_new : {false, true}) {
    PnfsScene scene;
    StripedClient client(scene);
    client.get_layout();
    if (!is_new) client.get_device();
    client.mds.flags = nfs4::SEQ4_STATUS_ADMIN_STATE_REVOKED;
    client.get_device();
    client.ds[0]->read("ds0", 0).read_done().expect_nothing();
    client.ds[0]->read("ds0", 0);
    if (is_new) {
      client.ds[0]->expect("revocation_ends_the_use", "RFC8881-12.7.2-2");
    } else {
      client.ds[0]->expect_nothing();
    }
  }
}

TEST(DataServerCheck, ANewLayoutIsNotRevoked) {
  PnfsScene scene;
  StripedClient client(scene);
  client.get_layout().get_device();
  client.mds.flags = nfs4::SEQ4_STATUS_EXPIRED_ALL_STATE_REVOKED;
  client.mds.read("file", 0).read_done();
  client.get_layout();
  client.ds[0]->read("ds0", 0).read_done().read("ds0", 0);
  client.expect_nothing();
}

TEST(DataServerCheck, CommitGoesToTheMetadataServer) {
  for (const std::uint32_t flags : {0u, nfs4::kCommitThroughServer}) {
    PnfsScene scene;
    StripedClient client(scene);
    client.get_layout(flags).get_device();
    client.ds[1]->write("ds1", kTestUnit).commit("ds1");
    if (flags == 0) {
      client.expect_nothing();
    } else {
      client.ds[1]->expect("commit_goes_to_the_metadata_server", "RFC8881-13.7-2");
    }
  }
}

TEST(DataServerCheck, CommitGoesToTheDataServer) {
  enum class Why { wrong, committed, own, through, unseen };
  for (const Why why : {Why::wrong, Why::committed, Why::own, Why::through, Why::unseen}) {
    PnfsScene scene;
    StripedClient client(scene);
    if (why == Why::unseen) scene.layouts.note_unseen();
    client.get_layout(why == Why::through ? nfs4::kCommitThroughServer : 0).get_device();
    client.ds[1]->write("ds1", kTestUnit);
    if (why == Why::committed) client.ds[1]->commit("ds1").commit_done();
    if (why == Why::own) client.mds.write("file");
    client.mds.commit("file");
    if (why == Why::wrong) {
      client.mds.expect("commit_goes_to_the_data_server", "RFC8881-13.7-1");
    } else {
      client.expect_nothing();
    }
  }
}

TEST(DataServerCheck, AHandleIsOfItsDataServer) {
  for (const std::uint32_t flags : {0u, nfs4::kDense}) {
    PnfsScene scene;
    StripedClient client(scene);
    client.get_layout(flags).get_device();
    const std::uint64_t offset = flags == 0 ? kTestUnit : 0;
    client.ds[1]->read("ds1", offset).read_done().expect_nothing();
    client.ds[1]->read("ds0", offset).expect("handle_is_of_the_data_server", "RFC8881-13.3-7");
  }
}

TEST(DataServerCheck, AStripeIsOfItsDataServer) {
  for (const std::size_t handles : {std::size_t{1}, kTestServers}) {
    PnfsScene scene;
    StripedClient client(scene);
    client.get_layout(0, handles).get_device();
    const std::string handle = handles == 1 ? "ds0" : "ds1";
    client.ds[1]->read(handle, 4 * kTestUnit).read_done().expect_nothing();
    client.ds[1]
        ->read(handle, 3 * kTestUnit)
        .expect("stripe_is_of_the_data_server", "RFC8881-13.4.1-1");
  }
}

TEST(DataServerCheck, WithoutADeviceOrAnEndNoPlaceIsWrong) {
  for (const bool has_device : {false, true}) {
    PnfsScene scene;
    StripedClient client(scene);
    client.get_layout();
    client.ds[1]->judge().set_server_end("198.51.100.1:20049");
    if (has_device) client.get_device();
    client.ds[1]->read("ds0", kTestUnit);
    client.expect_nothing();
  }
}

TEST(DataServerCheck, WithoutAnEndAServerIsKnownByWhatItHasDone) {
  PnfsScene scene;
  StripedClient client(scene);
  client.get_layout().get_device();
  for (const auto& each : client.ds) each->judge().set_server_end("");
  client.ds[0]->read("ds0", 0).read_done(Status::NFS4ERR_IO);
  client.ds[1]->read("ds0", kTestUnit).read_done();
  client.expect_nothing();
  client.ds[0]->read("ds0", 0).read_done();
  client.ds[1]->read("ds0", kTestUnit).expect("handle_is_of_the_data_server", "RFC8881-13.3-7");
  client.ds[0]->read("ds0", kTestUnit).expect("stripe_is_of_the_data_server", "RFC8881-13.4.1-1");
}

TEST(DataServerCheck, AHoleIsRefused) {
  for (const Status status : {Status::NFS4ERR_PNFS_IO_HOLE, Status::NFS4_OK}) {
    PnfsScene scene;
    StripedClient client(scene);
    client.get_layout().get_device();
    client.ds[1]->read("ds1", 0);
    std::vector<Finding> of_the_client;
    client.ds[1]->judge().take_findings(of_the_client);
    client.ds[1]->read_done(status);
    if (status == Status::NFS4_OK) {
      client.ds[1]->expect("hole_is_refused", "RFC8881-13.4.4-2", Role::server);
    } else {
      client.ds[1]->expect_nothing();
    }
  }
}

TEST(DataServerCheck, OneVerifierIsOfTheLayout) {
  for (const bool changes_back : {false, true}) {
    PnfsScene scene;
    StripedClient client(scene);
    client.get_layout(nfs4::kCommitThroughServer).get_device();
    client.ds[0]->write("ds0", 0, 1);
    client.ds[1]->write("ds1", kTestUnit, 2);  // all have restarted
    client.expect_nothing();
    client.ds[0]->write("ds0", 0, changes_back ? 1 : 2);
    if (changes_back) {
      client.ds[0]->expect("verifier_is_of_the_layout", "RFC8881-13.7-3", Role::server);
    } else {
      client.mds.commit("file").commit_done(2);
      client.expect_nothing();
    }
  }
}

}  // namespace
}  // namespace steertag::conformance
