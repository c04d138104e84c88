// Layouts of a client whose metadata server answers as scripted.
// They are refused, of no use, recalled, and returned.
#include "client/v4/pnfs/layouts.h"

#include "client/testing/client_backchannel_fixture.h"
#include "nfs/v4/attribute_codec.h"
#include "nfs/v4/attribute_numbers.h"
#include "nfs/v4/device_notification.h"
#include "wire/encoded.h"

namespace steertag::peer::testing {
namespace {

using nfs4::LayoutIomode;

constexpr std::uint32_t kUnit = 4096;

RemoteHandle handle(std::uint8_t number) {
  const std::array<std::byte, 1> octets{static_cast<std::byte>(number)};
  return RemoteHandle(View(octets));
}

class LayoutsTest : public ClientBackchannelTest {
 protected:
  LayoutsTest()
      : servers(
            schedule,
            [](const DataServerPath&) -> Expected<CallWay, FileError> {
              return tl::unexpected(FileError{FileErrc::call_failed, "none", 0, {}});
            },
            options()),
        layouts(schedule, session, servers) {
    transport.answer = [this](View call) { return answer_layouts(call); };
    layout.nfl_util = kUnit;
    layout.nfl_deviceid[0] = std::byte{5};
    device.nflda_stripe_indices = {0};
    device.nflda_multipath_ds_list = {{{{"rdma", "192.0.2.1.78.81"}}}};
    opened.other[0] = std::byte{3};
  }

  Bytes answer_layouts(View call) {
    return reply_by(call,
                    [this](wire::Reader& reader, Opnum number, nfs4::ReplyWriter<Opnum>& writer) {
                      seen.push_back(number);
                      const Status status = take_status(number);
                      if (!execute_layouts(reader, number, status, writer))
                        execute(reader, number, status, writer);
                      return status;
                    });
  }
  /// False: the operation is none of these.
  bool execute_layouts(wire::Reader& reader, Opnum number, Status status,
                       nfs4::ReplyWriter<Opnum>& writer) {
    if (number == Opnum::OP_LAYOUTGET) {
      gets.push_back(decoded<nfs4::LayoutgetArgs>(reader));
      if (before_grant) before_grant();
      nfs4::LayoutgetResult result;
      result.status = status;
      result.resok4.logr_stateid = {++seqid, {std::byte{7}}};
      const Bytes body = broken ? Bytes(3) : wire::encoded(layout);
      result.resok4.logr_layout.push_back(
          {0, kToTheEnd, gets.back().loga_iomode, {nfs4::LayoutType{1}, body}});
      writer.add(number, result);
    } else if (number == Opnum::OP_GETDEVICEINFO) {
      decoded<nfs4::GetdeviceinfoArgs>(reader);
      nfs4::GetdeviceinfoResult result;
      result.status = status;
      const Bytes body = wire::encoded(device);
      result.resok4.gdir_device_addr.da_addr_body = body;
      writer.add(number, result);
    } else if (number == Opnum::OP_GETATTR) {
      decoded<nfs4::GetattrArgs>(reader);
      nfs4::Attributes values;
      values.size = 100;
      values.fsid = nfs4::Fsid{1, 2};
      Bytes storage;
      nfs4::GetattrResult result;
      result.resok4.obj_attributes =
          nfs4::fattr_of(values, nfs4::Bitmap::of({nfs4::FATTR4_SIZE, nfs4::FATTR4_FSID}), storage);
      writer.add(number, result);
    } else if (number == Opnum::OP_LAYOUTRETURN) {
      returns.push_back(decoded<nfs4::LayoutreturnArgs>(reader));
      nfs4::LayoutreturnResult result;
      result.status = status;
      writer.add(number, result);
    } else {
      return false;
    }
    return true;
  }

  StripedFileRef open(std::uint8_t number, LayoutIomode iomode = LayoutIomode::LAYOUTIOMODE4_RW) {
    return layouts.open(handle(number), opened, iomode);
  }
  nfs4::CbLayoutrecallArgs recall_of(std::uint8_t number, std::uint32_t recall_seqid) const {
    nfs4::CbLayoutrecallArgs args;
    args.clora_recall.lor_recalltype = nfs4::LayoutrecallType::LAYOUTRECALL4_FILE;
    nfs4::LayoutrecallFile& what = args.clora_recall.lor_layout;
    what.lor_fh = nfs4::FileHandle(handle(number).view());
    what.lor_length = kToTheEnd;
    what.lor_stateid = {recall_seqid, {std::byte{7}}};
    return args;
  }
  Status recall(const nfs4::CbLayoutrecallArgs& args) {
    return callback(CbOpnum::OP_CB_LAYOUTRECALL, args);
  }

  DataServerSet servers;
  Layouts layouts;
  nfs4::FileLayout layout;
  nfs4::FileLayoutDevice device;
  nfs4::StateId opened{1, {}};
  bool broken = false;
  std::uint32_t seqid = 0;
  std::function<void()> before_grant;
  std::vector<nfs4::LayoutgetArgs> gets;
  std::vector<nfs4::LayoutreturnArgs> returns;
};

TEST_F(LayoutsTest, IsAskedForByTheOpenAndGoesBackAtTheClose) {
  const StripedFileRef file = open(1);
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->segments.size(), 1U);
  EXPECT_EQ(file->size, 100U);
  EXPECT_EQ(gets.at(0).loga_stateid, opened);  // RFC 8881 12.5.2
  EXPECT_TRUE(layouts.close(file));
  ASSERT_EQ(returns.size(), 1U);
  const nfs4::LayoutreturnFile& back = returns[0].lora_layoutreturn.lr_layout;
  EXPECT_EQ(returns[0].lora_iomode, LayoutIomode::LAYOUTIOMODE4_ANY);
  EXPECT_EQ(back.lrf_length, kToTheEnd);
  EXPECT_EQ(back.lrf_stateid, (nfs4::StateId{1, {std::byte{7}}}));
}

TEST_F(LayoutsTest, SecondIomodeIsAskedForByTheLayoutStateid) {
  const StripedFileRef file = open(1, LayoutIomode::LAYOUTIOMODE4_READ);
  EXPECT_EQ(open(1, LayoutIomode::LAYOUTIOMODE4_RW), file);
  EXPECT_EQ(open(1, LayoutIomode::LAYOUTIOMODE4_READ), file);
  ASSERT_EQ(gets.size(), 2U) << "RW serves READs";
  EXPECT_EQ(gets[1].loga_stateid, (nfs4::StateId{1, {std::byte{7}}}));
  EXPECT_TRUE(layouts.close(file));
  EXPECT_TRUE(layouts.close(file));
  EXPECT_TRUE(returns.empty());
  EXPECT_TRUE(layouts.close(file));
  EXPECT_EQ(returns.size(), 1U);
}

TEST_F(LayoutsTest, WithoutALayoutTheFileIsOrdinary) {
  next_status[Opnum::OP_LAYOUTGET] = {Status::NFS4ERR_LAYOUTUNAVAILABLE};
  EXPECT_EQ(open(1), nullptr);
  next_status[Opnum::OP_LAYOUTGET] = {Status::NFS4ERR_NOTSUPP};
  EXPECT_EQ(open(2), nullptr);
  EXPECT_EQ(open(3), nullptr);
  EXPECT_EQ(gets.size(), 2U) << "such a server is not asked again";
}

TEST_F(LayoutsTest, LayoutOfNoUseGoesBack) {
  const auto expect_return = [&](std::uint8_t number) {
    const std::size_t before = returns.size();
    const StripedFileRef file = open(number);
    ASSERT_NE(file, nullptr) << "it is held";
    EXPECT_TRUE(file->segments.empty());
    settle();
    EXPECT_EQ(returns.size(), before + 1);
    EXPECT_FALSE(file->held);
    EXPECT_TRUE(layouts.close(file));
    EXPECT_EQ(returns.size(), before + 1);
  };
  next_status[Opnum::OP_GETDEVICEINFO] = {Status::NFS4ERR_NOENT};
  expect_return(1);
  layout.nfl_fh_list.resize(2);  // one list has one handle or none (RFC8881-13.3-4)
  expect_return(2);
  broken = true;
  expect_return(3);
}

TEST_F(LayoutsTest, DeviceIsAskedForOnceAndAgainAfterAChange) {
  const StripedFileRef first = open(1);
  const StripedFileRef second = open(2);
  EXPECT_EQ(count(Opnum::OP_GETDEVICEINFO), 1);
  const Bytes change =
      wire::encoded(nfs4::NotifyDeviceidChange{nfs4::LayoutType{1}, layout.nfl_deviceid, true});
  nfs4::CbNotifyDeviceidArgs changes;
  changes.cnda_changes.push_back({nfs4::Bitmap::of({nfs4::NOTIFY_DEVICEID4_CHANGE}), change});
  EXPECT_EQ(callback(CbOpnum::OP_CB_NOTIFY_DEVICEID, changes), Status::NFS4_OK);
  EXPECT_TRUE(first->segments.empty());
  EXPECT_TRUE(second->segments.empty());
  settle();
  EXPECT_EQ(returns.size(), 2U);
  open(3);
  EXPECT_EQ(count(Opnum::OP_GETDEVICEINFO), 2);
  changes.cnda_changes[0].notify_vals = View(change).first(3);
  EXPECT_EQ(callback(CbOpnum::OP_CB_NOTIFY_DEVICEID, changes), Status::NFS4ERR_BADXDR);
}

TEST_F(LayoutsTest, RecallIsAnsweredByAReturnOfItsRange) {
  const StripedFileRef file = open(1);
  layouts.begin_call(*file);
  nfs4::CbLayoutrecallArgs args = recall_of(1, 2);
  args.clora_recall.lor_layout.lor_offset = 10;
  args.clora_recall.lor_layout.lor_length = 20;
  EXPECT_EQ(recall(args), Status::NFS4_OK);
  settle();
  EXPECT_TRUE(file->segments.empty());
  EXPECT_TRUE(returns.empty()) << "a call to a data server is in flight (RFC 8881 20.3.4)";
  layouts.end_call(file);
  settle();
  ASSERT_EQ(returns.size(), 1U);
  const nfs4::LayoutreturnFile& back = returns[0].lora_layoutreturn.lr_layout;
  EXPECT_EQ(back.lrf_offset, 10U);
  EXPECT_EQ(back.lrf_length, 20U);
  EXPECT_EQ(back.lrf_stateid, args.clora_recall.lor_layout.lor_stateid);
  EXPECT_TRUE(layouts.close(file));
}

TEST_F(LayoutsTest, RecallOfSomethingElseIsRefused) {
  const StripedFileRef file = open(1, LayoutIomode::LAYOUTIOMODE4_READ);
  EXPECT_EQ(recall(recall_of(2, 2)), Status::NFS4ERR_NOMATCHING_LAYOUT);
  EXPECT_EQ(recall(recall_of(1, 0)), Status::NFS4ERR_BAD_STATEID);
  nfs4::CbLayoutrecallArgs args = recall_of(1, 2);
  args.clora_recall.lor_layout.lor_stateid.other[0] = std::byte{8};
  EXPECT_EQ(recall(args), Status::NFS4ERR_BAD_STATEID);
  args = recall_of(1, 2);
  args.clora_iomode = LayoutIomode::LAYOUTIOMODE4_RW;
  EXPECT_EQ(recall(args), Status::NFS4ERR_NOMATCHING_LAYOUT);
  args.clora_type = nfs4::LayoutType{2};
  EXPECT_EQ(recall(args), Status::NFS4ERR_UNKNOWN_LAYOUTTYPE);
  EXPECT_EQ(file->segments.size(), 1U);
}

TEST_F(LayoutsTest, RecallThatOvertakesTheLayoutIsToComeAgain) {
  Status early{};
  before_grant = [&] { early = recall(recall_of(1, 2)); };
  const StripedFileRef file = open(1);
  EXPECT_EQ(early, Status::NFS4ERR_DELAY);
  EXPECT_EQ(recall(recall_of(1, 2)), Status::NFS4_OK);
}

TEST_F(LayoutsTest, RecallOfAllEndsWithAReturnOfAll) {
  const StripedFileRef first = open(1);
  const StripedFileRef second = open(2);
  nfs4::CbLayoutrecallArgs args;
  args.clora_recall.lor_recalltype = nfs4::LayoutrecallType::LAYOUTRECALL4_FSID;
  args.clora_recall.lor_fsid = {1, 2};
  EXPECT_EQ(recall(args), Status::NFS4_OK);
  settle();
  ASSERT_EQ(returns.size(), 1U) << "no layout stateid is used (RFC 8881 12.5.5.2.1.5)";
  EXPECT_EQ(returns[0].lora_layoutreturn.lr_returntype, nfs4::LayoutreturnType::LAYOUTRETURN4_FSID);
  EXPECT_FALSE(first->held || second->held);
  EXPECT_EQ(recall(args), Status::NFS4ERR_NOMATCHING_LAYOUT) << "devices are forgotten too";
  open(3);
  EXPECT_EQ(count(Opnum::OP_GETDEVICEINFO), 2);
  args.clora_recall.lor_recalltype = nfs4::LayoutrecallType::LAYOUTRECALL4_ALL;
  EXPECT_EQ(recall(args), Status::NFS4_OK);
  settle();
  EXPECT_EQ(returns.back().lora_layoutreturn.lr_returntype,
            nfs4::LayoutreturnType::LAYOUTRETURN4_ALL);
}

TEST_F(LayoutsTest, RecallOfAllWaitsForALayoutThatGoesBack) {
  const StripedFileRef file = open(1);
  layouts.begin_call(*file);
  EXPECT_EQ(recall(recall_of(1, 2)), Status::NFS4_OK);
  nfs4::CbLayoutrecallArgs all;
  all.clora_recall.lor_recalltype = nfs4::LayoutrecallType::LAYOUTRECALL4_ALL;
  EXPECT_EQ(recall(all), Status::NFS4ERR_DELAY);
  layouts.end_call(file);
  settle();
  EXPECT_EQ(returns.size(), 1U);
  EXPECT_EQ(recall(all), Status::NFS4_OK);
}

TEST_F(LayoutsTest, RecallBeforeItsTurnIsPutOffOnce) {
  const StripedFileRef file = open(1);
  EXPECT_EQ(recall(recall_of(1, 3)), Status::NFS4ERR_DELAY) << "one is missing";
  EXPECT_EQ(file->segments.size(), 1U);
  EXPECT_EQ(recall(recall_of(1, 4)), Status::NFS4_OK) << "its server counts what it repeats";
}

TEST_F(LayoutsTest, RevokedLayoutsAreNotUsed) {
  const StripedFileRef file = open(1);
  flags = nfs4::SEQ4_STATUS_ADMIN_STATE_REVOKED;
  EXPECT_TRUE(call());
  EXPECT_FALSE(file->held);
  EXPECT_TRUE(file->segments.empty());
  EXPECT_TRUE(layouts.close(file));
  EXPECT_TRUE(returns.empty());
}

TEST_F(LayoutsTest, ServerThatHasRestartedHasNoneOfThem) {
  const StripedFileRef file = open(1);
  note_unstable(*file, {nullptr, "x"}, {1, false});
  const WriteVerifier before = file->verifier;
  next_status[Opnum::OP_SEQUENCE] = {Status::NFS4ERR_BADSESSION};
  next_status[Opnum::OP_CREATE_SESSION] = {Status::NFS4ERR_STALE_CLIENTID};
  EXPECT_TRUE(call());
  EXPECT_FALSE(file->held);
  EXPECT_TRUE(file->segments.empty());
  EXPECT_NE(file->verifier, before) << "to be written again";
  EXPECT_TRUE(layouts.close(file));
  EXPECT_TRUE(returns.empty());
}

TEST_F(LayoutsTest, ServerThatHasRestartedIsAskedAgainUntilItGivesOne) {
  const StripedFileRef file = open(1);
  EXPECT_TRUE(layouts.ask_again(file, opened));
  EXPECT_EQ(gets.size(), 1U);
  next_status[Opnum::OP_SEQUENCE] = {Status::NFS4ERR_BADSESSION};
  next_status[Opnum::OP_CREATE_SESSION] = {Status::NFS4ERR_STALE_CLIENTID};
  EXPECT_TRUE(call());
  next_status[Opnum::OP_LAYOUTGET] = {Status::NFS4ERR_BAD_STATEID};
  EXPECT_FALSE(layouts.ask_again(file, opened));
  EXPECT_FALSE(layouts.ask_again(file, opened));
  EXPECT_EQ(gets.size(), 2U) << "not before its pause";
  EXPECT_FALSE(file->held);
  transport.now += kLayoutPause;
  EXPECT_TRUE(layouts.ask_again(file, opened));
  EXPECT_TRUE(file->held);
  EXPECT_EQ(file->segments.size(), 1U);
  EXPECT_EQ(gets.back().loga_stateid, opened);
  EXPECT_EQ(gets.back().loga_iomode, LayoutIomode::LAYOUTIOMODE4_RW);
  EXPECT_TRUE(layouts.ask_again(file, opened));
  EXPECT_EQ(gets.size(), 3U);
  EXPECT_TRUE(layouts.close(file));
  EXPECT_EQ(returns.size(), 1U);
}

}  // namespace
}  // namespace steertag::peer::testing
