// Arguments and results of NFS version 4 against octets written by hand from RFC 5662.
// Also limits and unions.
#include <gtest/gtest.h>

#include "nfs/v4/callbacks.h"
#include "nfs/v4/operations.h"
#include "rpc/testing.h"

namespace steertag::nfs4 {
namespace {

using rpc::testing::decoded;
using rpc::testing::encoded;
using rpc::testing::fault_of;
using rpc::testing::from_hex;
using rpc::testing::joined;
using rpc::testing::to_hex;
using wire::FaultCode;

StateId stateid(std::uint32_t seqid, std::uint8_t octet) {
  StateId made{.seqid = seqid};
  made.other.fill(std::byte{octet});
  return made;
}

TEST(WriteArgs, WorkedOctets) {
  const Bytes data = from_hex("0102030405");
  const WriteArgs args{.stateid = stateid(1, 0xab),
                       .offset = 0x1'0000'0002,
                       .stable = StableHow::FILE_SYNC4,
                       .data = data};
  const Bytes octets = encoded(args);
  EXPECT_EQ(to_hex(octets), joined("00000001 abababab abababab abababab 00000001 00000002 00000002"
                                   "00000005 01020304 05000000"));
  const auto back = decoded<WriteArgs>(octets);
  EXPECT_EQ(back.stateid, args.stateid);
  EXPECT_EQ(back.data.data(), octets.data() + 32) << "the data was copied";
}

TEST(ReadResult, WorkedOctets) {
  const Bytes octets = from_hex("00000000 00000001 00000003 61626300");
  const auto result = decoded<ReadResult>(octets);
  EXPECT_TRUE(result.resok4.eof);
  EXPECT_EQ(to_hex(result.resok4.data), "616263");
  EXPECT_EQ(result.resok4.data.data(), octets.data() + 12) << "the data was copied";
  EXPECT_EQ(decoded<ReadResult>(from_hex("00000046")).status, Status::NFS4ERR_STALE);
}

TEST(OpenArgs, CreateGuarded) {
  OpenArgs args;
  args.seqid = 3;
  args.share_access = OPEN4_SHARE_ACCESS_BOTH;
  args.share_deny = OPEN4_SHARE_DENY_WRITE;
  const Bytes owner = from_hex("6f31");
  const Bytes mode = from_hex("000001a4");
  args.owner = {0x11, owner};
  args.openhow.opentype = OpenType::OPEN4_CREATE;
  args.openhow.how.mode = CreateMode::GUARDED4;
  args.openhow.how.createattrs = {Bitmap::of({33}), mode};
  args.claim.file = "new";
  EXPECT_EQ(to_hex(encoded(args)),
            joined("00000003 00000003 00000002 00000000 00000011 00000002 6f310000"
                   "00000001 00000001 00000002 00000000 00000002 00000004 000001a4"
                   "00000000 00000003 6e657700"));
}

TEST(OpenArgs, EveryWayToCreate) {
  OpenArgs args;
  args.openhow.opentype = OpenType::OPEN4_CREATE;
  args.openhow.how.createverf.fill(std::byte{0xee});
  args.openhow.how.ch_createboth.cva_verf.fill(std::byte{0xdd});
  const std::size_t before = 28;  // seqid, access, deny, owner, opentype
  const auto how = [&](CreateMode mode) {
    args.openhow.how.mode = mode;
    const Bytes octets = encoded(args);
    return to_hex(View{octets}.subspan(before, octets.size() - before - 8));
  };
  EXPECT_EQ(how(CreateMode::UNCHECKED4), joined("00000000 00000000 00000000"));
  EXPECT_EQ(how(CreateMode::EXCLUSIVE4), joined("00000002 eeeeeeee eeeeeeee"));
  EXPECT_EQ(how(CreateMode::EXCLUSIVE4_1), joined("00000003 dddddddd dddddddd 00000000 00000000"));
}

TEST(OpenArgs, EveryClaim) {
  OpenArgs args;
  args.claim.file = "f";
  args.claim.delegate_type = DelegationType::OPEN_DELEGATE_WRITE;
  args.claim.delegate_cur_info = {stateid(1, 0xaa), "g"};
  args.claim.file_delegate_prev = "h";
  args.claim.oc_delegate_stateid = stateid(2, 0xbb);
  const auto claim = [&](ClaimType type) {
    args.claim.claim = type;
    const Bytes octets = encoded(args);
    return to_hex(View{octets}.subspan(28));
  };
  EXPECT_EQ(claim(ClaimType::CLAIM_NULL), joined("00000000 00000001 66000000"));
  EXPECT_EQ(claim(ClaimType::CLAIM_PREVIOUS), joined("00000001 00000002"));
  EXPECT_EQ(claim(ClaimType::CLAIM_DELEGATE_CUR),
            joined("00000002 00000001 aaaaaaaa aaaaaaaa aaaaaaaa 00000001 67000000"));
  EXPECT_EQ(claim(ClaimType::CLAIM_DELEGATE_PREV), joined("00000003 00000001 68000000"));
  EXPECT_EQ(claim(ClaimType::CLAIM_FH), joined("00000004"));
  EXPECT_EQ(claim(ClaimType::CLAIM_DELEG_CUR_FH),
            joined("00000005 00000002 bbbbbbbb bbbbbbbb bbbbbbbb"));
  EXPECT_EQ(claim(ClaimType::CLAIM_DELEG_PREV_FH), joined("00000006"));
}

TEST(OpenResult, ReadDelegation) {
  // The name of the ACE is a view of the octets, so these must stay.
  const Bytes octets = from_hex(
      "00000000"
      "00000001 aaaaaaaa aaaaaaaa aaaaaaaa"                    // stateid
      "00000001 00000000 00000005 00000000 00000006"           // cinfo
      "00000004 00000002 00000000 00000002"                    // rflags, attrset
      "00000001 00000009 bbbbbbbb bbbbbbbb bbbbbbbb 00000000"  // OPEN_DELEGATE_READ
      "00000000 00000000 00120081 00000009 45564552 594f4e45 40000000");
  const auto result = decoded<OpenResult>(octets);
  const OpenOk& ok = result.resok4;
  EXPECT_EQ(ok.stateid, stateid(1, 0xaa));
  EXPECT_EQ(ok.cinfo, (ChangeInfo{true, 5, 6}));
  EXPECT_EQ(ok.rflags, OPEN4_RESULT_LOCKTYPE_POSIX);
  EXPECT_EQ(ok.attrset, Bitmap::of({33}));
  EXPECT_EQ(ok.delegation.delegation_type, DelegationType::OPEN_DELEGATE_READ);
  EXPECT_EQ(ok.delegation.read.stateid, stateid(9, 0xbb));
  EXPECT_EQ(ok.delegation.read.permissions.who, "EVERYONE@");
  EXPECT_EQ(to_hex(encoded(result)), to_hex(octets));
}

TEST(LockArgs, NewAndExistingOwner) {
  LockArgs args;
  args.locktype = LockType::WRITEW_LT;
  args.offset = 1;
  args.length = 2;
  args.locker.new_lock_owner = true;
  args.locker.open_owner = {5, stateid(6, 0xaa), 7, {8, {}}};
  args.locker.lock_owner = {stateid(9, 0xbb), 10};
  EXPECT_EQ(to_hex(encoded(args)),
            joined("00000004 00000000 00000000 00000001 00000000 00000002 00000001 00000005"
                   "00000006 aaaaaaaa aaaaaaaa aaaaaaaa 00000007 00000000 00000008 00000000"));
  args.locker.new_lock_owner = false;
  EXPECT_EQ(to_hex(encoded(args)),
            joined("00000004 00000000 00000000 00000001 00000000 00000002 00000000"
                   "00000009 bbbbbbbb bbbbbbbb bbbbbbbb 0000000a"));
}

TEST(LockResult, Denied) {
  const auto result = decoded<LockResult>(
      from_hex("0000271a 00000000 00000001 00000000 00000002 00000002 00000000 00000003 00000000"));
  EXPECT_EQ(result.status, Status::NFS4ERR_DENIED);
  EXPECT_EQ(result.denied.locktype, LockType::WRITE_LT);
  EXPECT_EQ(result.denied.owner.clientid, 3u);
}

TEST(ReaddirResult, WorkedOctets) {
  const Bytes octets = from_hex(
      "00000000 0000000000000009"
      "00000001 0000000000000003 00000001 61000000 00000001 00000002 00000004 00000002"
      "00000001 0000000000000004 00000002 62620000 00000000 00000000"
      "00000000 00000001");
  const auto result = decoded<ReaddirResult>(octets);
  ASSERT_EQ(result.resok4.entries.items.size(), 2u);
  EXPECT_EQ(result.resok4.entries.items[0].attrs.attrmask, Bitmap::of({1}));
  EXPECT_EQ(result.resok4.entries.items[1].name, "bb");
  EXPECT_EQ(result.resok4.entries.items[1].cookie, 4u);
  EXPECT_TRUE(result.resok4.eof);
}

TEST(SetclientidArgs, WorkedOctets) {
  SetclientidArgs args;
  const Bytes id = from_hex("696431");
  args.client = {{}, id};
  args.callback = {0x40000000, {"tcp6", "::1.8.1"}};
  args.callback_ident = 2;
  EXPECT_EQ(to_hex(encoded(args)),
            joined("00000000 00000000 00000003 69643100 40000000 00000004 74637036"
                   "00000007 3a3a312e 382e3100 00000002"));
}

TEST(ExchangeIdArgs, WorkedOctets) {
  ExchangeIdArgs args;
  const Bytes id = from_hex("696431");
  args.eia_clientowner = {{}, id};
  args.eia_flags = EXCHGID4_FLAG_SUPP_MOVED_REFER | EXCHGID4_FLAG_USE_NON_PNFS;
  args.eia_client_impl_id = {ImplId{"o", "st", {1, 2}}};
  EXPECT_EQ(to_hex(encoded(args)),
            joined("00000000 00000000 00000003 69643100 00010001 00000000"
                   "00000001 00000001 6f000000 00000002 73740000 00000000 00000001 00000002"));
}

TEST(ExchangeIdArgs, TwoImplementationsAreBadCount) {
  const wire::Fault fault =
      fault_of<ExchangeIdArgs>(from_hex("00000000 00000000 00000000 00000000 00000000 00000002"
                                        "00000000 00000000 00000000 00000000 00000000"));
  EXPECT_EQ(fault.code, FaultCode::bad_count);
  EXPECT_EQ(fault.offset, 20u);
  EXPECT_EQ(fault.field, "eia_client_impl_id");
}

TEST(CreateSessionArgs, ChannelInRdmaMode) {
  CreateSessionArgs args;
  args.csa_clientid = 7;
  args.csa_sequence = 1;
  args.csa_flags = CREATE_SESSION4_FLAG_CONN_BACK_CHAN | CREATE_SESSION4_FLAG_CONN_RDMA;
  args.csa_fore_chan_attrs = {1, 2, 3, 4, 5, 6, {16}};
  args.csa_cb_program = 0x40000000;
  args.csa_sec_parms.resize(2);
  args.csa_sec_parms[1].cb_secflavor = CallbackFlavor::AUTH_SYS;
  args.csa_sec_parms[1].cbsp_sys_cred.machine_name = "h";
  EXPECT_EQ(to_hex(encoded(args)),
            joined("00000000 00000007 00000001 00000006"
                   "00000001 00000002 00000003 00000004 00000005 00000006 00000001 00000010"
                   "00000000 00000000 00000000 00000000 00000000 00000000 00000000"
                   "40000000 00000002 00000000"
                   "00000001 00000000 00000001 68000000 00000000 00000000 00000000"));
}

TEST(CallbackSecParms, OtherFlavorsHaveNoArm) {
  const wire::Fault fault =
      fault_of<BackchannelCtlArgs>(from_hex("40000000 00000001 00000003 00000000"));
  EXPECT_EQ(fault.code, FaultCode::bad_enum);
  EXPECT_EQ(fault.offset, 8u);
  EXPECT_EQ(fault.field, "cb_secflavor");
}

TEST(WantDelegationArgs, OtherClaimsHaveNoArm) {
  EXPECT_EQ(fault_of<WantDelegationArgs>(from_hex("00000100 00000000")).field, "dc_claim");
  EXPECT_FALSE(fault_of<WantDelegationArgs>(from_hex("00000100 00000004")));
}

TEST(SequenceResult, WorkedOctets) {
  const auto result = decoded<SequenceResult>(
      from_hex("00000000 5e5e5e5e 5e5e5e5e 5e5e5e5e 5e5e5e5e 00000001 00000002 00000003 00000004"
               "00000201"));
  SequenceOk expected{{}, 1, 2, 3, 4, 0};
  expected.sr_sessionid.fill(std::byte{0x5e});
  expected.sr_status_flags = SEQ4_STATUS_CB_PATH_DOWN | SEQ4_STATUS_CB_PATH_DOWN_SESSION;
  EXPECT_EQ(result.resok4, expected);
}

TEST(SecinfoResult, OnlyGssHasMore) {
  const auto result = decoded<SecinfoResult>(
      from_hex("00000000 00000003 00000006 00000002 2a860000 00000000 00000003 00000001 00000009"));
  ASSERT_EQ(result.resok4.resok4.size(), 3u);
  EXPECT_EQ(result.resok4.resok4[0].flavor_info.service, GssService::RPC_GSS_SVC_PRIVACY);
  EXPECT_EQ(result.resok4.resok4[2].flavor, static_cast<rpc::AuthFlavor>(9)) << "a registry";
}

TEST(SetattrResult, BitmapWithEveryStatus) {
  const auto result = decoded<SetattrResult>(from_hex("0000001c 00000001 00000010"));
  EXPECT_EQ(result.status, Status::NFS4ERR_NOSPC);
  EXPECT_EQ(result.attrsset, Bitmap::of({4}));
}

TEST(LayoutgetResult, OtherArmWithTrylater) {
  const auto result = decoded<LayoutgetResult>(from_hex("0000274a 00000001"));
  EXPECT_EQ(result.status, Status::NFS4ERR_LAYOUTTRYLATER);
  EXPECT_TRUE(result.logr_will_signal_layout_avail);
}

TEST(CbLayoutrecallArgs, EveryKind) {
  CbLayoutrecallArgs args;
  EXPECT_EQ(to_hex(encoded(args)), joined("00000001 00000003 00000000 00000003"));
  args.clora_recall.lor_recalltype = LayoutrecallType::LAYOUTRECALL4_FSID;
  args.clora_recall.lor_fsid = {1, 2};
  EXPECT_EQ(to_hex(encoded(args)), joined("00000001 00000003 00000000 00000002"
                                          "00000000 00000001 00000000 00000002"));
}

TEST(FileHandle, ProtocolLimit) {
  EXPECT_FALSE(fault_of<PutfhArgs>(encoded(PutfhArgs{FileHandle(Bytes(128))})));
  const wire::Fault fault = fault_of<PutfhArgs>(encoded(PutfhArgs{FileHandle(Bytes(129))}));
  EXPECT_EQ(fault.code, FaultCode::bad_count);
  EXPECT_EQ(fault.offset, 0u);
  EXPECT_EQ(fault.field, "object");
}

TEST(Names, Limit) {
  const std::string name(kMostNameOctets + 1, 'n');
  EXPECT_FALSE(fault_of<LookupArgs>(encoded(LookupArgs{std::string_view(name).substr(1)})));
  const wire::Fault fault = fault_of<RenameArgs>(encoded(RenameArgs{"a", name}));
  EXPECT_EQ(fault.code, FaultCode::bad_count);
  EXPECT_EQ(fault.offset, 8u);
  EXPECT_EQ(fault.field, "newname");
}

TEST(Owners, Limit) {
  const Bytes owner(kMostOpaqueOctets + 1);
  ReleaseLockownerArgs args;
  args.lock_owner.owner = View{owner}.subspan(1);
  EXPECT_FALSE(fault_of<ReleaseLockownerArgs>(encoded(args)));
  args.lock_owner.owner = owner;
  const wire::Fault fault = fault_of<ReleaseLockownerArgs>(encoded(args));
  EXPECT_EQ(fault.code, FaultCode::bad_count);
  EXPECT_EQ(fault.offset, 8u);
}

TEST(Data, Limit) {
  const Bytes data(kMostDataOctets + 1);
  WriteArgs args;
  args.data = View{data}.subspan(1);
  EXPECT_FALSE(fault_of<WriteArgs>(encoded(args)));
  args.data = data;
  EXPECT_EQ(fault_of<WriteArgs>(encoded(args)).code, FaultCode::bad_count);
}

TEST(Entries, Limit) {
  constexpr std::size_t kHeader = 12;                // status, cookieverf
  constexpr std::size_t kEntry = 4 + 8 + 8 + 4 + 4;  // marker, cookie, name, empty fattr4
  ReaddirResult result;
  result.resok4.entries.items.resize(kMostEntries, Entry{.cookie = 3, .name = "e"});
  EXPECT_FALSE(fault_of<ReaddirResult>(encoded(result)));
  result.resok4.entries.items.push_back(result.resok4.entries.items.front());
  const wire::Fault fault = fault_of<ReaddirResult>(encoded(result));
  EXPECT_EQ(fault.code, FaultCode::limit_exceeded);
  EXPECT_EQ(fault.offset, kHeader + kMostEntries * kEntry);
  EXPECT_EQ(fault.field, "entries");
}

}  // namespace
}  // namespace steertag::nfs4
