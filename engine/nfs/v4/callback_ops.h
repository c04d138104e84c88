// Operations of CB_COMPOUND (RFC 7530 15, RFC 8881 20).
#pragma once

#include <cstdint>
#include <vector>

#include "nfs/v4/attribute_ops.h"
#include "nfs/v4/delegation.h"
#include "nfs/v4/result.h"
#include "nfs/v4/types.h"

namespace steertag::nfs4 {

/// CB_GETATTR4args
struct CbGetattrArgs {
  FileHandle fh{};
  Bitmap attr_request{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"fh", &CbGetattrArgs::fh}, Field{"attr_request", &CbGetattrArgs::attr_request}};
};

/// CB_RECALL4args
struct CbRecallArgs {
  StateId stateid{};
  bool truncate = false;
  FileHandle fh{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"stateid", &CbRecallArgs::stateid}, Field{"truncate", &CbRecallArgs::truncate},
              Field{"fh", &CbRecallArgs::fh}};
};

/// layoutrecall_file4
struct LayoutrecallFile {
  FileHandle lor_fh{};
  std::uint64_t lor_offset = 0;
  std::uint64_t lor_length = 0;
  StateId lor_stateid{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"lor_fh", &LayoutrecallFile::lor_fh},
                                          Field{"lor_offset", &LayoutrecallFile::lor_offset},
                                          Field{"lor_length", &LayoutrecallFile::lor_length},
                                          Field{"lor_stateid", &LayoutrecallFile::lor_stateid}};
};

/// layoutrecall4
struct Layoutrecall {
  LayoutrecallType lor_recalltype = LayoutrecallType::LAYOUTRECALL4_ALL;
  LayoutrecallFile lor_layout{};
  Fsid lor_fsid{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"lor_recalltype", &Layoutrecall::lor_recalltype},
              arm<LayoutrecallType::LAYOUTRECALL4_FILE>("lor_layout", &Layoutrecall::lor_layout),
              arm<LayoutrecallType::LAYOUTRECALL4_FSID>("lor_fsid", &Layoutrecall::lor_fsid)};
};

/// CB_LAYOUTRECALL4args
struct CbLayoutrecallArgs {
  LayoutType clora_type = LayoutType::LAYOUT4_NFSV4_1_FILES;
  LayoutIomode clora_iomode = LayoutIomode::LAYOUTIOMODE4_ANY;
  bool clora_changed = false;
  Layoutrecall clora_recall{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"clora_type", &CbLayoutrecallArgs::clora_type},
              Field{"clora_iomode", &CbLayoutrecallArgs::clora_iomode},
              Field{"clora_changed", &CbLayoutrecallArgs::clora_changed},
              Field{"clora_recall", &CbLayoutrecallArgs::clora_recall}};
};

/// notify4. The values depend on the bits of the mask and stay opaque.
struct Notify {
  Bitmap notify_mask{};
  View notify_vals{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"notify_mask", &Notify::notify_mask},
              Field{"notify_vals", &Notify::notify_vals, kMostNotificationOctets}};
};

/// CB_NOTIFY4args
struct CbNotifyArgs {
  StateId cna_stateid{};
  FileHandle cna_fh{};
  std::vector<Notify> cna_changes{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{
      Field{"cna_stateid", &CbNotifyArgs::cna_stateid}, Field{"cna_fh", &CbNotifyArgs::cna_fh},
      Field{"cna_changes", &CbNotifyArgs::cna_changes, kMostNotifications}};
};

/// CB_PUSH_DELEG4args
struct CbPushDelegArgs {
  FileHandle cpda_fh{};
  Delegation cpda_delegation{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"cpda_fh", &CbPushDelegArgs::cpda_fh},
              Field{"cpda_delegation", &CbPushDelegArgs::cpda_delegation}};
};

/// Bits of craa_type_mask (RFC 8881 20.6.1).
inline constexpr std::uint32_t RCA4_TYPE_MASK_RDATA_DLG = 0;
inline constexpr std::uint32_t RCA4_TYPE_MASK_WDATA_DLG = 1;
inline constexpr std::uint32_t RCA4_TYPE_MASK_DIR_DLG = 2;
inline constexpr std::uint32_t RCA4_TYPE_MASK_FILE_LAYOUT = 3;
inline constexpr std::uint32_t RCA4_TYPE_MASK_BLK_LAYOUT = 4;
inline constexpr std::uint32_t RCA4_TYPE_MASK_OBJ_LAYOUT_MIN = 8;
inline constexpr std::uint32_t RCA4_TYPE_MASK_OBJ_LAYOUT_MAX = 9;
inline constexpr std::uint32_t RCA4_TYPE_MASK_OTHER_LAYOUT_MIN = 12;
inline constexpr std::uint32_t RCA4_TYPE_MASK_OTHER_LAYOUT_MAX = 15;

/// CB_RECALL_ANY4args and CB_RECALLABLE_OBJ_AVAIL4args
struct CbRecallAnyArgs {
  std::uint32_t craa_objects_to_keep = 0;
  Bitmap craa_type_mask{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"craa_objects_to_keep", &CbRecallAnyArgs::craa_objects_to_keep},
              Field{"craa_type_mask", &CbRecallAnyArgs::craa_type_mask}};
};

/// CB_RECALL_SLOT4args
struct CbRecallSlotArgs {
  std::uint32_t rsa_target_highest_slotid = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"rsa_target_highest_slotid", &CbRecallSlotArgs::rsa_target_highest_slotid}};
};

/// referring_call4
struct ReferringCall {
  std::uint32_t rc_sequenceid = 0;
  std::uint32_t rc_slotid = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"rc_sequenceid", &ReferringCall::rc_sequenceid},
                                          Field{"rc_slotid", &ReferringCall::rc_slotid}};
};

/// referring_call_list4
struct ReferringCallList {
  SessionId rcl_sessionid{};
  std::vector<ReferringCall> rcl_referring_calls{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{
      Field{"rcl_sessionid", &ReferringCallList::rcl_sessionid},
      Field{"rcl_referring_calls", &ReferringCallList::rcl_referring_calls, kMostReferringCalls}};
};

/// CB_SEQUENCE4args
struct CbSequenceArgs {
  SessionId csa_sessionid{};
  std::uint32_t csa_sequenceid = 0;
  std::uint32_t csa_slotid = 0;
  std::uint32_t csa_highest_slotid = 0;
  bool csa_cachethis = false;
  std::vector<ReferringCallList> csa_referring_call_lists{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"csa_sessionid", &CbSequenceArgs::csa_sessionid},
              Field{"csa_sequenceid", &CbSequenceArgs::csa_sequenceid},
              Field{"csa_slotid", &CbSequenceArgs::csa_slotid},
              Field{"csa_highest_slotid", &CbSequenceArgs::csa_highest_slotid},
              Field{"csa_cachethis", &CbSequenceArgs::csa_cachethis},
              Field{"csa_referring_call_lists", &CbSequenceArgs::csa_referring_call_lists,
                    kMostReferringLists}};
};

/// CB_SEQUENCE4resok
struct CbSequenceOk {
  SessionId csr_sessionid{};
  std::uint32_t csr_sequenceid = 0;
  std::uint32_t csr_slotid = 0;
  std::uint32_t csr_highest_slotid = 0;
  std::uint32_t csr_target_highest_slotid = 0;

  bool operator==(const CbSequenceOk&) const = default;
  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"csr_sessionid", &CbSequenceOk::csr_sessionid},
              Field{"csr_sequenceid", &CbSequenceOk::csr_sequenceid},
              Field{"csr_slotid", &CbSequenceOk::csr_slotid},
              Field{"csr_highest_slotid", &CbSequenceOk::csr_highest_slotid},
              Field{"csr_target_highest_slotid", &CbSequenceOk::csr_target_highest_slotid}};
};

/// CB_WANTS_CANCELLED4args
struct CbWantsCancelledArgs {
  bool cwca_contended_wants_cancelled = false;
  bool cwca_resourced_wants_cancelled = false;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"cwca_contended_wants_cancelled",
                    &CbWantsCancelledArgs::cwca_contended_wants_cancelled},
              Field{"cwca_resourced_wants_cancelled",
                    &CbWantsCancelledArgs::cwca_resourced_wants_cancelled}};
};

/// CB_NOTIFY_LOCK4args
struct CbNotifyLockArgs {
  FileHandle cnla_fh{};
  StateOwner cnla_lock_owner{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"cnla_fh", &CbNotifyLockArgs::cnla_fh},
              Field{"cnla_lock_owner", &CbNotifyLockArgs::cnla_lock_owner}};
};

/// CB_NOTIFY_DEVICEID4args
struct CbNotifyDeviceidArgs {
  std::vector<Notify> cnda_changes{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"cnda_changes", &CbNotifyDeviceidArgs::cnda_changes, kMostNotifications}};
};

using CbRecallableObjAvailArgs = CbRecallAnyArgs;
using CbGetattrResult = Result<GetattrOk>;
using CbSequenceResult = Result<CbSequenceOk>;

}  // namespace steertag::nfs4
