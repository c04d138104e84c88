// pNFS with file layouts: layouts, devices, and I/O at data servers that ask the metadata server.
#include <set>

#include "nfs/v4/striping.h"
#include "server/testing/v4_state_fixture.h"
#include "server/v4/pnfs/metadata_authority.h"
#include "server/v4/pnfs/pnfs_operations.h"

namespace steertag::peer::testing {
namespace {

using nfs4::LayoutIomode;

constexpr std::uint32_t kUnit = 4096;
constexpr std::uint32_t kServers = 3;
constexpr std::uint64_t kAll = ~std::uint64_t{0};
constexpr std::uint32_t kReadAccess = nfs4::OPEN4_SHARE_ACCESS_READ;
constexpr std::uint32_t kBoth = nfs4::OPEN4_SHARE_ACCESS_BOTH;

/// The turns of each data server in a stripe with dense packing; 0: sparse packing.
class PnfsTest : public V4StateTest, public ::testing::WithParamInterface<std::uint32_t> {
 protected:
  PnfsTest() : at_data_servers(data_server_options()) {
    const bool dense = GetParam() > 0;
    auto made = std::make_shared<DataServers>(
        StripePattern{kServers, kUnit, dense, false, std::max(GetParam(), 1U)}, seeded_random(77));
    for (std::uint32_t i = 0; i < kServers; ++i)
      made->add({{"rdma", "192.0.2." + std::to_string(i + 1) + ".78.81"}});
    pnfs.data_servers = made;
    file = make_file("f");
    client = mounted("client", 1);
    acts_on = &at_data_servers;
    there = mounted_at_data_server();
    acts_on = nullptr;
  }
  Nfs4StateOptions data_server_options() {
    Nfs4StateOptions options;
    options.clock = [this] { return now; };
    options.random = seeded_random(99);
    return options;
  }
  Actor mounted_at_data_server() {
    Actor actor;
    const auto exchanged = run(op_exchange_id, exchange_args(actor), actor);
    actor.clientid = exchanged.resok4.eir_clientid;
    const auto made = run(op_create_session,
                          session_args(actor.clientid, exchanged.resok4.eir_sequenceid), actor);
    EXPECT_EQ(made.status, Status::NFS4_OK);
    actor.session = made.resok4.csr_sessionid;
    return actor;
  }

  nfs4::LayoutgetResult get(Actor& actor, const nfs4::StateId& stateid, LayoutIomode iomode) {
    nfs4::LayoutgetArgs args;
    args.loga_iomode = iomode;
    args.loga_length = kAll;
    args.loga_minlength = kUnit;
    args.loga_stateid = stateid;
    args.loga_maxcount = 4096;
    auto result = run(op_layoutget, args, actor, file);
    return result;
  }
  nfs4::LayoutreturnResult give_back(Actor& actor, const nfs4::StateId& stateid,
                                     std::uint64_t offset = 0, std::uint64_t length = kAll) {
    nfs4::LayoutreturnArgs args;
    args.lora_iomode = LayoutIomode::LAYOUTIOMODE4_ANY;
    args.lora_layoutreturn.lr_layout.lrf_offset = offset;
    args.lora_layoutreturn.lr_layout.lrf_length = length;
    args.lora_layoutreturn.lr_layout.lrf_stateid = stateid;
    return run(op_layoutreturn, args, actor, file);
  }
  /// The client's open with a layout of the whole file for both directions.
  nfs4::StateId opened_with_layout() {
    open_stateid = open(client, "f", kBoth).stateid;
    const auto got = get(client, open_stateid, LayoutIomode::LAYOUTIOMODE4_RW);
    EXPECT_EQ(got.status, Status::NFS4_OK);
    return got.resok4.logr_stateid;
  }

  /// One operation of the client at the data server of a stripe unit.
  template <class Result, class Args>
  Result run_at(std::uint32_t unit, void (*handler)(const Args&, CompoundCall&, Result&),
                const Args& args, std::optional<Handle> on) {
    const PnfsRole metadata_server = pnfs;
    pnfs.index = unit % kServers;
    component = unit;
    pnfs.authority = std::make_shared<MetadataAuthority>(*state, PnfsPolicy{});
    acts_on = &at_data_servers;
    auto result = run(handler, args, there, on);
    acts_on = nullptr;
    pnfs = metadata_server;
    return result;
  }
  nfs4::StateId for_io(nfs4::StateId stateid) {
    stateid.seqid = 0;
    return stateid;
  }
  Status write_at(std::uint32_t unit, std::uint64_t offset, View data) {
    return run_at(unit, op_write_component,
                  nfs4::WriteArgs{for_io(open_stateid), offset, nfs4::StableHow::FILE_SYNC4, data},
                  file)
        .status;
  }
  Status read_at(std::uint32_t unit, std::uint64_t offset, std::uint32_t count,
                 const nfs4::StateId& stateid) {
    return run_at(unit, op_read_component, nfs4::ReadArgs{stateid, offset, count}, file).status;
  }
  /// Where an octet of the file is by the client's striping.
  nfs4::StripePart part_of(std::uint64_t offset) {
    const auto node = storage.resolve(file);
    const Bytes body = pnfs.data_servers->layout_body(file, storage.attributes(*node)->file_id);
    const Bytes address = pnfs.data_servers->device_body();
    nfs4::FileLayout layout;
    nfs4::FileLayoutDevice device;
    wire::Reader first(body);
    layout.decode(first);
    wire::Reader second(address);
    device.decode(second);
    EXPECT_TRUE(first.ok() && second.ok());
    EXPECT_FALSE(nfs4::find_striping_fault(layout, device));
    const nfs4::StripePart part = *nfs4::Striping(layout, device).at(offset);
    EXPECT_EQ(*part.handle % kServers, part.list);
    return part;
  }
  static std::uint32_t unit_of(const nfs4::StripePart& part) {
    return static_cast<std::uint32_t>(*part.handle);
  }

  Nfs4State at_data_servers;
  Handle file{};
  Actor client;
  Actor there;
  nfs4::StateId open_stateid;
};
INSTANTIATE_TEST_SUITE_P(Packing, PnfsTest, ::testing::Values(0, 1, 2), [](const auto& turns) {
  return turns.param == 0 ? std::string("sparse") : "dense" + std::to_string(turns.param);
});

TEST_P(PnfsTest, TheSeqidBehindTheLargestIsOne) {
  nfs4::StateId stateid = opened_with_layout();
  const File* opened = state->tables().find_file(file);
  ASSERT_TRUE(opened != nullptr && opened->layouts.size() == 1);
  opened->layouts.front()->seqid = 0xfffffffe;
  const nfs4::StateId before{0xfffffffe, stateid.other};
  for (const std::uint32_t seqid : {0xffffffffU, 1U, 2U}) {
    // RFC 8881 12.5.5.2.1.4: one of before the end is as old as it is far away.
    const auto got = get(client, before, LayoutIomode::LAYOUTIOMODE4_RW);
    ASSERT_EQ(got.status, Status::NFS4_OK);
    EXPECT_EQ(got.resok4.logr_stateid.seqid, seqid);
  }
  const nfs4::StateId future{3, stateid.other};
  EXPECT_EQ(get(client, future, LayoutIomode::LAYOUTIOMODE4_RW).status,
            Status::NFS4ERR_BAD_STATEID);
}

TEST_P(PnfsTest, EachServerHasOneRole) {
  Actor newcomer;
  newcomer.owner = "newcomer";
  EXPECT_EQ(run(op_exchange_id, exchange_args(newcomer), newcomer).resok4.eir_flags,
            nfs4::EXCHGID4_FLAG_USE_PNFS_MDS);
  Actor same;
  const auto answered =
      run_at(1, op_exchange_id, exchange_args(same, 1, nfs4::EXCHGID4_FLAG_MASK_PNFS), {});
  EXPECT_EQ(answered.resok4.eir_flags & nfs4::EXCHGID4_FLAG_MASK_PNFS,
            nfs4::EXCHGID4_FLAG_USE_PNFS_DS);
}

TEST_P(PnfsTest, AServerWithBothRolesSaysBoth) {
  const PnfsRole metadata_server = pnfs;
  pnfs.index = 0;
  pnfs.has_both = true;
  Actor newcomer;
  newcomer.owner = "newcomer";
  const auto answered =
      run(op_exchange_id, exchange_args(newcomer, 1, nfs4::EXCHGID4_FLAG_USE_PNFS_DS), newcomer);
  EXPECT_EQ(answered.resok4.eir_flags,
            nfs4::EXCHGID4_FLAG_USE_PNFS_MDS | nfs4::EXCHGID4_FLAG_USE_PNFS_DS);
  pnfs = metadata_server;
}

TEST_P(PnfsTest, AMandatoryLockHoldsAtDataServers) {
  start({}, true);
  client = mounted("client", 1);
  opened_with_layout();
  Actor other = mounted("other", 2);
  const auto theirs = open(other, "f", kBoth).stateid;
  ASSERT_EQ(run(op_lock, lock_args(other, theirs, 0, kUnit, true), other, file).status,
            Status::NFS4_OK);
  const nfs4::StripePart locked = part_of(0);
  const nfs4::StripePart free = part_of(kUnit);
  EXPECT_EQ(read_at(unit_of(locked), locked.offset, 1, for_io(open_stateid)),
            Status::NFS4ERR_LOCKED);
  EXPECT_EQ(read_at(unit_of(free), free.offset, 1, for_io(open_stateid)), Status::NFS4_OK);
}

TEST_P(PnfsTest, WhatTheClientWritesByItsLayoutIsInTheFile) {
  opened_with_layout();
  const Bytes whole = pattern(11 * kUnit + 100);
  for (std::uint64_t offset = 0; offset < whole.size();) {
    const nfs4::StripePart part = part_of(offset);
    const auto length = std::min<std::uint64_t>(part.length, whole.size() - offset);
    ASSERT_EQ(write_at(unit_of(part), part.offset, View(whole).subspan(offset, length)),
              Status::NFS4_OK);
    offset += length;
  }
  std::vector<Slice> slices;
  const auto read = memory.read(*memory.resolve(file), 0, 1U << 20, slices);
  ASSERT_TRUE(read);
  Bytes found;
  for (const Slice& slice : slices)
    found.insert(found.end(), slice.bytes.begin(), slice.bytes.end());
  EXPECT_EQ(found, whole);
}

TEST_P(PnfsTest, ASparseHoleIsRefused) {
  if (GetParam() > 0) return;
  opened_with_layout();
  const std::uint32_t here = unit_of(part_of(0));
  EXPECT_EQ(read_at(here, 0, kUnit, for_io(open_stateid)), Status::NFS4_OK);
  EXPECT_EQ(read_at(here, kUnit, 1, for_io(open_stateid)), Status::NFS4ERR_PNFS_IO_HOLE);
  EXPECT_EQ(read_at(here, 0, kUnit + 1, for_io(open_stateid)), Status::NFS4ERR_PNFS_IO_HOLE);
}

TEST_P(PnfsTest, SeqidsCountFromOneAndTheLastReturnEndsTheStateid) {
  const nfs4::StateId first = opened_with_layout();
  EXPECT_EQ(first.seqid, 1U);
  const auto second = get(client, first, LayoutIomode::LAYOUTIOMODE4_READ).resok4.logr_stateid;
  EXPECT_EQ(second.seqid, 2U);
  EXPECT_EQ(second.other, first.other);
  nfs4::StateId zero = second;
  zero.seqid = 0;
  EXPECT_EQ(get(client, zero, LayoutIomode::LAYOUTIOMODE4_READ).status,
            Status::NFS4ERR_BAD_STATEID);
  const auto part = give_back(client, second, 0, kUnit);
  EXPECT_TRUE(part.resok4.lrs_present);
  EXPECT_EQ(part.resok4.lrs_stateid.seqid, 3U);
  EXPECT_FALSE(give_back(client, part.resok4.lrs_stateid).resok4.lrs_present);
  EXPECT_EQ(get(client, second, LayoutIomode::LAYOUTIOMODE4_READ).status,
            Status::NFS4ERR_BAD_STATEID);
}

TEST_P(PnfsTest, WithoutALayoutOrWithAWrongStateidThereIsNoInput) {
  open_stateid = open(client, "f", kBoth).stateid;
  const std::uint32_t here = unit_of(part_of(0));
  EXPECT_EQ(read_at(here, 0, 1, for_io(open_stateid)), Status::NFS4ERR_PNFS_NO_LAYOUT);
  const auto layout = get(client, open_stateid, LayoutIomode::LAYOUTIOMODE4_READ);
  EXPECT_EQ(read_at(here, 0, 1, for_io(open_stateid)), Status::NFS4_OK);
  EXPECT_EQ(read_at(here, 0, 1, open_stateid), Status::NFS4ERR_BAD_STATEID);
  EXPECT_EQ(read_at(here, 0, 1, {}), Status::NFS4ERR_BAD_STATEID);
  EXPECT_EQ(read_at(here, 0, 1, for_io(layout.resok4.logr_stateid)), Status::NFS4ERR_BAD_STATEID);
  EXPECT_EQ(close(client, open_stateid, file), Status::NFS4_OK);
  EXPECT_NE(read_at(here, 0, 1, for_io(open_stateid)), Status::NFS4_OK);
}

TEST_P(PnfsTest, LayoutsNeedAnOpenForWritingAndABackchannel) {
  const auto reading = open(client, "f", kReadAccess).stateid;
  EXPECT_EQ(get(client, reading, LayoutIomode::LAYOUTIOMODE4_RW).status, Status::NFS4ERR_OPENMODE);
  EXPECT_EQ(get(client, reading, LayoutIomode::LAYOUTIOMODE4_ANY).status,
            Status::NFS4ERR_BADIOMODE);
  client.backchannel.reset();
  EXPECT_EQ(get(client, reading, LayoutIomode::LAYOUTIOMODE4_READ).status,
            Status::NFS4ERR_LAYOUTTRYLATER);
}

TEST_P(PnfsTest, ARemovalRecallsAndALeaseLaterTheClientIsFenced) {
  opened_with_layout();
  const std::uint32_t here = unit_of(part_of(0));
  Actor other = mounted("other", 2);
  EXPECT_EQ(run(op_remove, nfs4::RemoveArgs{"f"}, other, root()).status, Status::NFS4ERR_DELAY);
  EXPECT_EQ(client.backchannel->calls.size(), 1U);
  EXPECT_EQ(get(client, open_stateid, LayoutIomode::LAYOUTIOMODE4_READ).status,
            Status::NFS4ERR_RECALLCONFLICT);
  EXPECT_EQ(read_at(here, 0, 1, for_io(open_stateid)), Status::NFS4_OK)
      << "RFC 8881 12.5.5: one lease has to pass";
  for (int half = 0; half < 3; ++half) {
    sequence(client, static_cast<std::uint32_t>(half + 1));
    pass(kLeaseTime / 2);
  }
  EXPECT_EQ(read_at(here, 0, 1, for_io(open_stateid)), Status::NFS4ERR_PNFS_NO_LAYOUT);
}

TEST_P(PnfsTest, LayoutcommitNeverTruncates) {
  const nfs4::StateId layout = opened_with_layout();
  nfs4::LayoutcommitArgs args;
  args.loca_length = kAll;
  args.loca_stateid = layout;
  args.loca_last_write_offset = {true, 9999};
  auto committed = run(op_layoutcommit, args, client, file);
  EXPECT_EQ(committed.status, Status::NFS4_OK);
  EXPECT_EQ(committed.resok4.locr_newsize.ns_size, 10000U);
  args.loca_last_write_offset.no_offset = 5;
  committed = run(op_layoutcommit, args, client, file);
  EXPECT_FALSE(committed.resok4.locr_newsize.ns_sizechanged);
  EXPECT_EQ(memory.attributes(*memory.resolve(file))->size_bytes, 10000U);
}

TEST_P(PnfsTest, LayoutcommitOfAnEmptyRangeOverlapsNoLayout) {
  nfs4::LayoutcommitArgs args;
  args.loca_stateid = opened_with_layout();
  EXPECT_EQ(run(op_layoutcommit, args, client, file).status, Status::NFS4ERR_BADLAYOUT);
  args.loca_offset = 3;
  args.loca_length = kAll - 1;
  EXPECT_EQ(run(op_layoutcommit, args, client, file).status, Status::NFS4ERR_INVAL)
      << "the range ends above 2^64 - 1";
}

TEST_P(PnfsTest, DevicesAreKnownByTheirIdAndFitOrAreTooLarge) {
  nfs4::GetdeviceinfoArgs args;
  args.gdia_device_id = pnfs.data_servers->device();
  args.gdia_maxcount = 1;
  auto device = run(op_getdeviceinfo, args, client);
  ASSERT_EQ(device.status, Status::NFS4ERR_TOOSMALL);
  args.gdia_maxcount = device.gdir_mincount;
  EXPECT_EQ(run(op_getdeviceinfo, args, client).status, Status::NFS4_OK);
  args.gdia_maxcount = 0;
  EXPECT_EQ(run(op_getdeviceinfo, args, client).status, Status::NFS4_OK);
  args.gdia_device_id[0] ^= std::byte{1};
  EXPECT_EQ(run(op_getdeviceinfo, args, client).status, Status::NFS4ERR_NOENT);
}

TEST_P(PnfsTest, LayoutHasAHandleForEachTurn) {
  const auto node = storage.resolve(file);
  const Bytes body = pnfs.data_servers->layout_body(file, storage.attributes(*node)->file_id);
  nfs4::FileLayout layout;
  wire::Reader reader(body);
  layout.decode(reader);
  EXPECT_EQ(layout.nfl_fh_list.size(), kServers * std::max(GetParam(), 1U));
  std::set<Bytes> handles;
  for (const nfs4::FileHandle& each : layout.nfl_fh_list) handles.insert(copy(each.view()));
  EXPECT_EQ(handles.size(), layout.nfl_fh_list.size()) << "RFC 8881 13.3: each has its own";
}

TEST(StripePatternTest, NamesWhatIsImpossible) {
  EXPECT_TRUE(check_pattern({64, kUnit, true, false, 16}));
  EXPECT_EQ(check_pattern({64, kUnit, true, false, 17}).error(),
            "a stripe has 1 to 16 turns of 64 data servers");
  EXPECT_EQ(check_pattern({2, kUnit, true, false, 0}).error(),
            "a stripe has 1 to 512 turns of 2 data servers");
  EXPECT_EQ(check_pattern({2, kUnit, false, false, 2}).error(),
            "more than one stripe unit of a data server in a stripe needs dense packing");
}

TEST_P(PnfsTest, HandlesOfLayoutsAreOfOneServerAndOfNoOther) {
  const nfs4::FileHandle handle = pnfs.data_servers->handle({file, 1});
  EXPECT_EQ(run_at(1, op_put_component, nfs4::PutfhArgs{handle}, {}).status, Status::NFS4_OK);
  EXPECT_EQ(run_at(2, op_put_component, nfs4::PutfhArgs{handle}, {}).status,
            Status::NFS4ERR_BADHANDLE);
  EXPECT_EQ(run(op_putfh, nfs4::PutfhArgs{handle}, client).status, Status::NFS4ERR_BADHANDLE);
  EXPECT_EQ(run_at(1, op_put_component, nfs4::PutfhArgs{nfs4::FileHandle(View(file))}, {}).status,
            Status::NFS4ERR_BADHANDLE);
}

}  // namespace
}  // namespace steertag::peer::testing
