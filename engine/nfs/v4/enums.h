// The enumerations that operations of NFS version 4 share (RFC 7530, RFC 8881) with their names.
#pragma once

#include <cstdint>
#include <span>

#include "rpc/fields.h"

namespace steertag::nfs4 {

/// nfs_ftype4
enum class FileType : std::uint32_t {
  NF4REG = 1,
  NF4DIR = 2,
  NF4BLK = 3,
  NF4CHR = 4,
  NF4LNK = 5,
  NF4SOCK = 6,
  NF4FIFO = 7,
  NF4ATTRDIR = 8,
  NF4NAMEDATTR = 9,
};
inline constexpr rpc::Named<FileType> kFileTypeNames[] = {
    {FileType::NF4REG, "NF4REG"},
    {FileType::NF4DIR, "NF4DIR"},
    {FileType::NF4BLK, "NF4BLK"},
    {FileType::NF4CHR, "NF4CHR"},
    {FileType::NF4LNK, "NF4LNK"},
    {FileType::NF4SOCK, "NF4SOCK"},
    {FileType::NF4FIFO, "NF4FIFO"},
    {FileType::NF4ATTRDIR, "NF4ATTRDIR"},
    {FileType::NF4NAMEDATTR, "NF4NAMEDATTR"},
};
constexpr std::span<const rpc::Named<FileType>> names_of(FileType) {
  return kFileTypeNames;
}

/// time_how4
enum class TimeHow : std::uint32_t {
  SET_TO_SERVER_TIME4 = 0,
  SET_TO_CLIENT_TIME4 = 1,
};
inline constexpr rpc::Named<TimeHow> kTimeHowNames[] = {
    {TimeHow::SET_TO_SERVER_TIME4, "SET_TO_SERVER_TIME4"},
    {TimeHow::SET_TO_CLIENT_TIME4, "SET_TO_CLIENT_TIME4"},
};
constexpr std::span<const rpc::Named<TimeHow>> names_of(TimeHow) {
  return kTimeHowNames;
}

/// nfs_lock_type4; READW_LT and WRITEW_LT tell that the client would wait.
enum class LockType : std::uint32_t {
  READ_LT = 1,
  WRITE_LT = 2,
  READW_LT = 3,
  WRITEW_LT = 4,
};
inline constexpr rpc::Named<LockType> kLockTypeNames[] = {
    {LockType::READ_LT, "READ_LT"},
    {LockType::WRITE_LT, "WRITE_LT"},
    {LockType::READW_LT, "READW_LT"},
    {LockType::WRITEW_LT, "WRITEW_LT"},
};
constexpr std::span<const rpc::Named<LockType>> names_of(LockType) {
  return kLockTypeNames;
}

/// createmode4; EXCLUSIVE4_1 is new in minor version 1.
enum class CreateMode : std::uint32_t {
  UNCHECKED4 = 0,
  GUARDED4 = 1,
  EXCLUSIVE4 = 2,
  EXCLUSIVE4_1 = 3,
};
inline constexpr rpc::Named<CreateMode> kCreateModeNames[] = {
    {CreateMode::UNCHECKED4, "UNCHECKED4"},
    {CreateMode::GUARDED4, "GUARDED4"},
    {CreateMode::EXCLUSIVE4, "EXCLUSIVE4"},
    {CreateMode::EXCLUSIVE4_1, "EXCLUSIVE4_1"},
};
constexpr std::span<const rpc::Named<CreateMode>> names_of(CreateMode) {
  return kCreateModeNames;
}

/// opentype4
enum class OpenType : std::uint32_t {
  OPEN4_NOCREATE = 0,
  OPEN4_CREATE = 1,
};
inline constexpr rpc::Named<OpenType> kOpenTypeNames[] = {
    {OpenType::OPEN4_NOCREATE, "OPEN4_NOCREATE"},
    {OpenType::OPEN4_CREATE, "OPEN4_CREATE"},
};
constexpr std::span<const rpc::Named<OpenType>> names_of(OpenType) {
  return kOpenTypeNames;
}

/// limit_by4
enum class LimitBy : std::uint32_t {
  NFS_LIMIT_SIZE = 1,
  NFS_LIMIT_BLOCKS = 2,
};
inline constexpr rpc::Named<LimitBy> kLimitByNames[] = {
    {LimitBy::NFS_LIMIT_SIZE, "NFS_LIMIT_SIZE"},
    {LimitBy::NFS_LIMIT_BLOCKS, "NFS_LIMIT_BLOCKS"},
};
constexpr std::span<const rpc::Named<LimitBy>> names_of(LimitBy) {
  return kLimitByNames;
}

/// open_delegation_type4; OPEN_DELEGATE_NONE_EXT is new in minor version 1.
enum class DelegationType : std::uint32_t {
  OPEN_DELEGATE_NONE = 0,
  OPEN_DELEGATE_READ = 1,
  OPEN_DELEGATE_WRITE = 2,
  OPEN_DELEGATE_NONE_EXT = 3,
};
inline constexpr rpc::Named<DelegationType> kDelegationTypeNames[] = {
    {DelegationType::OPEN_DELEGATE_NONE, "OPEN_DELEGATE_NONE"},
    {DelegationType::OPEN_DELEGATE_READ, "OPEN_DELEGATE_READ"},
    {DelegationType::OPEN_DELEGATE_WRITE, "OPEN_DELEGATE_WRITE"},
    {DelegationType::OPEN_DELEGATE_NONE_EXT, "OPEN_DELEGATE_NONE_EXT"},
};
constexpr std::span<const rpc::Named<DelegationType>> names_of(DelegationType) {
  return kDelegationTypeNames;
}

/// open_claim_type4; values from CLAIM_FH on are new in minor version 1.
enum class ClaimType : std::uint32_t {
  CLAIM_NULL = 0,
  CLAIM_PREVIOUS = 1,
  CLAIM_DELEGATE_CUR = 2,
  CLAIM_DELEGATE_PREV = 3,
  CLAIM_FH = 4,
  CLAIM_DELEG_CUR_FH = 5,
  CLAIM_DELEG_PREV_FH = 6,
};
inline constexpr rpc::Named<ClaimType> kClaimTypeNames[] = {
    {ClaimType::CLAIM_NULL, "CLAIM_NULL"},
    {ClaimType::CLAIM_PREVIOUS, "CLAIM_PREVIOUS"},
    {ClaimType::CLAIM_DELEGATE_CUR, "CLAIM_DELEGATE_CUR"},
    {ClaimType::CLAIM_DELEGATE_PREV, "CLAIM_DELEGATE_PREV"},
    {ClaimType::CLAIM_FH, "CLAIM_FH"},
    {ClaimType::CLAIM_DELEG_CUR_FH, "CLAIM_DELEG_CUR_FH"},
    {ClaimType::CLAIM_DELEG_PREV_FH, "CLAIM_DELEG_PREV_FH"},
};
constexpr std::span<const rpc::Named<ClaimType>> names_of(ClaimType) {
  return kClaimTypeNames;
}

/// The values of open_claim_type4 that deleg_claim4 has arms for (RFC 8881 18.49.1).
enum class WantClaim : std::uint32_t {
  CLAIM_PREVIOUS = 1,
  CLAIM_FH = 4,
  CLAIM_DELEG_PREV_FH = 6,
};
inline constexpr rpc::Named<WantClaim> kWantClaimNames[] = {
    {WantClaim::CLAIM_PREVIOUS, "CLAIM_PREVIOUS"},
    {WantClaim::CLAIM_FH, "CLAIM_FH"},
    {WantClaim::CLAIM_DELEG_PREV_FH, "CLAIM_DELEG_PREV_FH"},
};
constexpr std::span<const rpc::Named<WantClaim>> names_of(WantClaim) {
  return kWantClaimNames;
}

/// why_no_delegation4
enum class WhyNoDelegation : std::uint32_t {
  WND4_NOT_WANTED = 0,
  WND4_CONTENTION = 1,
  WND4_RESOURCE = 2,
  WND4_NOT_SUPP_FTYPE = 3,
  WND4_WRITE_DELEG_NOT_SUPP_FTYPE = 4,
  WND4_NOT_SUPP_UPGRADE = 5,
  WND4_NOT_SUPP_DOWNGRADE = 6,
  WND4_CANCELLED = 7,
  WND4_IS_DIR = 8,
};
inline constexpr rpc::Named<WhyNoDelegation> kWhyNoDelegationNames[] = {
    {WhyNoDelegation::WND4_NOT_WANTED, "WND4_NOT_WANTED"},
    {WhyNoDelegation::WND4_CONTENTION, "WND4_CONTENTION"},
    {WhyNoDelegation::WND4_RESOURCE, "WND4_RESOURCE"},
    {WhyNoDelegation::WND4_NOT_SUPP_FTYPE, "WND4_NOT_SUPP_FTYPE"},
    {WhyNoDelegation::WND4_WRITE_DELEG_NOT_SUPP_FTYPE, "WND4_WRITE_DELEG_NOT_SUPP_FTYPE"},
    {WhyNoDelegation::WND4_NOT_SUPP_UPGRADE, "WND4_NOT_SUPP_UPGRADE"},
    {WhyNoDelegation::WND4_NOT_SUPP_DOWNGRADE, "WND4_NOT_SUPP_DOWNGRADE"},
    {WhyNoDelegation::WND4_CANCELLED, "WND4_CANCELLED"},
    {WhyNoDelegation::WND4_IS_DIR, "WND4_IS_DIR"},
};
constexpr std::span<const rpc::Named<WhyNoDelegation>> names_of(WhyNoDelegation) {
  return kWhyNoDelegationNames;
}

/// gddrnf4_status
enum class DirDelegationStatus : std::uint32_t {
  GDD4_OK = 0,
  GDD4_UNAVAIL = 1,
};
inline constexpr rpc::Named<DirDelegationStatus> kDirDelegationStatusNames[] = {
    {DirDelegationStatus::GDD4_OK, "GDD4_OK"},
    {DirDelegationStatus::GDD4_UNAVAIL, "GDD4_UNAVAIL"},
};
constexpr std::span<const rpc::Named<DirDelegationStatus>> names_of(DirDelegationStatus) {
  return kDirDelegationStatusNames;
}

/// stable_how4
enum class StableHow : std::uint32_t {
  UNSTABLE4 = 0,
  DATA_SYNC4 = 1,
  FILE_SYNC4 = 2,
};
inline constexpr rpc::Named<StableHow> kStableHowNames[] = {
    {StableHow::UNSTABLE4, "UNSTABLE4"},
    {StableHow::DATA_SYNC4, "DATA_SYNC4"},
    {StableHow::FILE_SYNC4, "FILE_SYNC4"},
};
constexpr std::span<const rpc::Named<StableHow>> names_of(StableHow) {
  return kStableHowNames;
}

/// rpc_gss_svc_t
enum class GssService : std::uint32_t {
  RPC_GSS_SVC_NONE = 1,
  RPC_GSS_SVC_INTEGRITY = 2,
  RPC_GSS_SVC_PRIVACY = 3,
};
inline constexpr rpc::Named<GssService> kGssServiceNames[] = {
    {GssService::RPC_GSS_SVC_NONE, "RPC_GSS_SVC_NONE"},
    {GssService::RPC_GSS_SVC_INTEGRITY, "RPC_GSS_SVC_INTEGRITY"},
    {GssService::RPC_GSS_SVC_PRIVACY, "RPC_GSS_SVC_PRIVACY"},
};
constexpr std::span<const rpc::Named<GssService>> names_of(GssService) {
  return kGssServiceNames;
}

/// secinfo_style4
enum class SecinfoStyle : std::uint32_t {
  SECINFO_STYLE4_CURRENT_FH = 0,
  SECINFO_STYLE4_PARENT = 1,
};
inline constexpr rpc::Named<SecinfoStyle> kSecinfoStyleNames[] = {
    {SecinfoStyle::SECINFO_STYLE4_CURRENT_FH, "SECINFO_STYLE4_CURRENT_FH"},
    {SecinfoStyle::SECINFO_STYLE4_PARENT, "SECINFO_STYLE4_PARENT"},
};
constexpr std::span<const rpc::Named<SecinfoStyle>> names_of(SecinfoStyle) {
  return kSecinfoStyleNames;
}

/// The flavours that callback_sec_parms4 has arms for.
enum class CallbackFlavor : std::uint32_t {
  AUTH_NONE = 0,
  AUTH_SYS = 1,
  RPCSEC_GSS = 6,
};
inline constexpr rpc::Named<CallbackFlavor> kCallbackFlavorNames[] = {
    {CallbackFlavor::AUTH_NONE, "AUTH_NONE"},
    {CallbackFlavor::AUTH_SYS, "AUTH_SYS"},
    {CallbackFlavor::RPCSEC_GSS, "RPCSEC_GSS"},
};
constexpr std::span<const rpc::Named<CallbackFlavor>> names_of(CallbackFlavor) {
  return kCallbackFlavorNames;
}

/// channel_dir_from_client4
enum class ChannelDirFromClient : std::uint32_t {
  CDFC4_FORE = 1,
  CDFC4_BACK = 2,
  CDFC4_FORE_OR_BOTH = 3,
  CDFC4_BACK_OR_BOTH = 7,
};
inline constexpr rpc::Named<ChannelDirFromClient> kChannelDirFromClientNames[] = {
    {ChannelDirFromClient::CDFC4_FORE, "CDFC4_FORE"},
    {ChannelDirFromClient::CDFC4_BACK, "CDFC4_BACK"},
    {ChannelDirFromClient::CDFC4_FORE_OR_BOTH, "CDFC4_FORE_OR_BOTH"},
    {ChannelDirFromClient::CDFC4_BACK_OR_BOTH, "CDFC4_BACK_OR_BOTH"},
};
constexpr std::span<const rpc::Named<ChannelDirFromClient>> names_of(ChannelDirFromClient) {
  return kChannelDirFromClientNames;
}

/// channel_dir_from_server4
enum class ChannelDirFromServer : std::uint32_t {
  CDFS4_FORE = 1,
  CDFS4_BACK = 2,
  CDFS4_BOTH = 3,
};
inline constexpr rpc::Named<ChannelDirFromServer> kChannelDirFromServerNames[] = {
    {ChannelDirFromServer::CDFS4_FORE, "CDFS4_FORE"},
    {ChannelDirFromServer::CDFS4_BACK, "CDFS4_BACK"},
    {ChannelDirFromServer::CDFS4_BOTH, "CDFS4_BOTH"},
};
constexpr std::span<const rpc::Named<ChannelDirFromServer>> names_of(ChannelDirFromServer) {
  return kChannelDirFromServerNames;
}

/// state_protect_how4
enum class StateProtectHow : std::uint32_t {
  SP4_NONE = 0,
  SP4_MACH_CRED = 1,
  SP4_SSV = 2,
};
inline constexpr rpc::Named<StateProtectHow> kStateProtectHowNames[] = {
    {StateProtectHow::SP4_NONE, "SP4_NONE"},
    {StateProtectHow::SP4_MACH_CRED, "SP4_MACH_CRED"},
    {StateProtectHow::SP4_SSV, "SP4_SSV"},
};
constexpr std::span<const rpc::Named<StateProtectHow>> names_of(StateProtectHow) {
  return kStateProtectHowNames;
}

/// layouttype4, an open registry (RFC 8881 22.5): decoding accepts every number.
enum class LayoutType : std::uint32_t {
  LAYOUT4_NFSV4_1_FILES = 1,
  LAYOUT4_OSD2_OBJECTS = 2,
  LAYOUT4_BLOCK_VOLUME = 3,
};
inline constexpr rpc::Named<LayoutType> kLayoutTypeNames[] = {
    {LayoutType::LAYOUT4_NFSV4_1_FILES, "LAYOUT4_NFSV4_1_FILES"},
    {LayoutType::LAYOUT4_OSD2_OBJECTS, "LAYOUT4_OSD2_OBJECTS"},
    {LayoutType::LAYOUT4_BLOCK_VOLUME, "LAYOUT4_BLOCK_VOLUME"},
};
constexpr std::span<const rpc::Named<LayoutType>> names_of(LayoutType) {
  return kLayoutTypeNames;
}
constexpr bool is_open(LayoutType) {
  return true;
}

/// layoutiomode4
enum class LayoutIomode : std::uint32_t {
  LAYOUTIOMODE4_READ = 1,
  LAYOUTIOMODE4_RW = 2,
  LAYOUTIOMODE4_ANY = 3,
};
inline constexpr rpc::Named<LayoutIomode> kLayoutIomodeNames[] = {
    {LayoutIomode::LAYOUTIOMODE4_READ, "LAYOUTIOMODE4_READ"},
    {LayoutIomode::LAYOUTIOMODE4_RW, "LAYOUTIOMODE4_RW"},
    {LayoutIomode::LAYOUTIOMODE4_ANY, "LAYOUTIOMODE4_ANY"},
};
constexpr std::span<const rpc::Named<LayoutIomode>> names_of(LayoutIomode) {
  return kLayoutIomodeNames;
}
/// RFC 8881 18.43.3: LAYOUTGET has an error of its own for an invalid one.
constexpr bool is_open(LayoutIomode) {
  return true;
}

/// layoutreturn_type4
enum class LayoutreturnType : std::uint32_t {
  LAYOUTRETURN4_FILE = 1,
  LAYOUTRETURN4_FSID = 2,
  LAYOUTRETURN4_ALL = 3,
};
inline constexpr rpc::Named<LayoutreturnType> kLayoutreturnTypeNames[] = {
    {LayoutreturnType::LAYOUTRETURN4_FILE, "LAYOUTRETURN4_FILE"},
    {LayoutreturnType::LAYOUTRETURN4_FSID, "LAYOUTRETURN4_FSID"},
    {LayoutreturnType::LAYOUTRETURN4_ALL, "LAYOUTRETURN4_ALL"},
};
constexpr std::span<const rpc::Named<LayoutreturnType>> names_of(LayoutreturnType) {
  return kLayoutreturnTypeNames;
}

/// layoutrecall_type4
enum class LayoutrecallType : std::uint32_t {
  LAYOUTRECALL4_FILE = 1,
  LAYOUTRECALL4_FSID = 2,
  LAYOUTRECALL4_ALL = 3,
};
inline constexpr rpc::Named<LayoutrecallType> kLayoutrecallTypeNames[] = {
    {LayoutrecallType::LAYOUTRECALL4_FILE, "LAYOUTRECALL4_FILE"},
    {LayoutrecallType::LAYOUTRECALL4_FSID, "LAYOUTRECALL4_FSID"},
    {LayoutrecallType::LAYOUTRECALL4_ALL, "LAYOUTRECALL4_ALL"},
};
constexpr std::span<const rpc::Named<LayoutrecallType>> names_of(LayoutrecallType) {
  return kLayoutrecallTypeNames;
}

/// fs4_status_type
enum class FsStatusType : std::uint32_t {
  STATUS4_FIXED = 1,
  STATUS4_UPDATED = 2,
  STATUS4_VERSIONED = 3,
  STATUS4_WRITABLE = 4,
  STATUS4_REFERRAL = 5,
};
inline constexpr rpc::Named<FsStatusType> kFsStatusTypeNames[] = {
    {FsStatusType::STATUS4_FIXED, "STATUS4_FIXED"},
    {FsStatusType::STATUS4_UPDATED, "STATUS4_UPDATED"},
    {FsStatusType::STATUS4_VERSIONED, "STATUS4_VERSIONED"},
    {FsStatusType::STATUS4_WRITABLE, "STATUS4_WRITABLE"},
    {FsStatusType::STATUS4_REFERRAL, "STATUS4_REFERRAL"},
};
constexpr std::span<const rpc::Named<FsStatusType>> names_of(FsStatusType) {
  return kFsStatusTypeNames;
}

}  // namespace steertag::nfs4
