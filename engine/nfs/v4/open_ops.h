// Operations on opens: OPEN, OPEN_CONFIRM, OPEN_DOWNGRADE, CLOSE.
#pragma once

#include <cstdint>
#include <string_view>

#include "nfs/v4/delegation.h"
#include "nfs/v4/result.h"
#include "nfs/v4/types.h"

namespace steertag::nfs4 {

/// Bits of `share_access` and `share_deny` (RFC 7530 16.16.1, RFC 8881 18.16.1).
inline constexpr std::uint32_t OPEN4_SHARE_ACCESS_READ = 1;
inline constexpr std::uint32_t OPEN4_SHARE_ACCESS_WRITE = 2;
inline constexpr std::uint32_t OPEN4_SHARE_ACCESS_BOTH = 3;
inline constexpr std::uint32_t OPEN4_SHARE_DENY_NONE = 0;
inline constexpr std::uint32_t OPEN4_SHARE_DENY_READ = 1;
inline constexpr std::uint32_t OPEN4_SHARE_DENY_WRITE = 2;
inline constexpr std::uint32_t OPEN4_SHARE_DENY_BOTH = 3;
/// Values of `share_access` & OPEN4_SHARE_ACCESS_WANT_DELEG_MASK, new in minor version 1.
inline constexpr std::uint32_t OPEN4_SHARE_ACCESS_WANT_DELEG_MASK = 0xff00;
inline constexpr std::uint32_t OPEN4_SHARE_ACCESS_WANT_NO_PREFERENCE = 0x0000;
inline constexpr std::uint32_t OPEN4_SHARE_ACCESS_WANT_READ_DELEG = 0x0100;
inline constexpr std::uint32_t OPEN4_SHARE_ACCESS_WANT_WRITE_DELEG = 0x0200;
inline constexpr std::uint32_t OPEN4_SHARE_ACCESS_WANT_ANY_DELEG = 0x0300;
inline constexpr std::uint32_t OPEN4_SHARE_ACCESS_WANT_NO_DELEG = 0x0400;
inline constexpr std::uint32_t OPEN4_SHARE_ACCESS_WANT_CANCEL = 0x0500;
inline constexpr std::uint32_t OPEN4_SHARE_ACCESS_WANT_SIGNAL_DELEG_WHEN_RESRC_AVAIL = 0x10000;
inline constexpr std::uint32_t OPEN4_SHARE_ACCESS_WANT_PUSH_DELEG_WHEN_UNCONTENDED = 0x20000;
/// Bits of `rflags` (RFC 8881 18.16.2).
inline constexpr std::uint32_t OPEN4_RESULT_CONFIRM = 0x02;
inline constexpr std::uint32_t OPEN4_RESULT_LOCKTYPE_POSIX = 0x04;
inline constexpr std::uint32_t OPEN4_RESULT_PRESERVE_UNLINKED = 0x08;
inline constexpr std::uint32_t OPEN4_RESULT_MAY_NOTIFY_LOCK = 0x20;

/// creatverfattr, new in minor version 1.
struct CreateVerfAttr {
  Verifier cva_verf{};
  Fattr cva_attrs{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"cva_verf", &CreateVerfAttr::cva_verf},
                                          Field{"cva_attrs", &CreateVerfAttr::cva_attrs}};
};

/// createhow4
struct CreateHow {
  CreateMode mode = CreateMode::UNCHECKED4;
  Fattr createattrs{};
  Verifier createverf{};
  CreateVerfAttr ch_createboth{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{
      Field{"mode", &CreateHow::mode},
      arm<CreateMode::UNCHECKED4, CreateMode::GUARDED4>("createattrs", &CreateHow::createattrs),
      arm<CreateMode::EXCLUSIVE4>("createverf", &CreateHow::createverf),
      arm<CreateMode::EXCLUSIVE4_1>("ch_createboth", &CreateHow::ch_createboth)};
};

/// openflag4
struct OpenFlag {
  OpenType opentype = OpenType::OPEN4_NOCREATE;
  CreateHow how{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"opentype", &OpenFlag::opentype},
                                          arm<OpenType::OPEN4_CREATE>("how", &OpenFlag::how)};
};

/// open_claim_delegate_cur4
struct ClaimDelegateCur {
  StateId delegate_stateid{};
  std::string_view file{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"delegate_stateid", &ClaimDelegateCur::delegate_stateid},
              Field{"file", &ClaimDelegateCur::file, kMostNameOctets}};
};

/// open_claim4. CLAIM_FH and CLAIM_DELEG_PREV_FH are void: the current filehandle is the file.
struct OpenClaim {
  ClaimType claim = ClaimType::CLAIM_NULL;
  std::string_view file{};
  DelegationType delegate_type = DelegationType::OPEN_DELEGATE_NONE;
  ClaimDelegateCur delegate_cur_info{};
  std::string_view file_delegate_prev{};
  StateId oc_delegate_stateid{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{
      Field{"claim", &OpenClaim::claim},
      arm<ClaimType::CLAIM_NULL>("file", &OpenClaim::file, kMostNameOctets),
      arm<ClaimType::CLAIM_PREVIOUS>("delegate_type", &OpenClaim::delegate_type),
      arm<ClaimType::CLAIM_DELEGATE_CUR>("delegate_cur_info", &OpenClaim::delegate_cur_info),
      arm<ClaimType::CLAIM_DELEGATE_PREV>("file_delegate_prev", &OpenClaim::file_delegate_prev,
                                          kMostNameOctets),
      arm<ClaimType::CLAIM_DELEG_CUR_FH>("oc_delegate_stateid", &OpenClaim::oc_delegate_stateid)};
};

/// OPEN4args. In minor version 1 `seqid` is ignored.
struct OpenArgs {
  std::uint32_t seqid = 0;
  std::uint32_t share_access = 0;
  std::uint32_t share_deny = 0;
  StateOwner owner{};
  OpenFlag openhow{};
  OpenClaim claim{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{
      Field{"seqid", &OpenArgs::seqid},           Field{"share_access", &OpenArgs::share_access},
      Field{"share_deny", &OpenArgs::share_deny}, Field{"owner", &OpenArgs::owner},
      Field{"openhow", &OpenArgs::openhow},       Field{"claim", &OpenArgs::claim}};
};

/// OPEN4resok
struct OpenOk {
  StateId stateid{};
  ChangeInfo cinfo{};
  std::uint32_t rflags = 0;
  Bitmap attrset{};
  Delegation delegation{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"stateid", &OpenOk::stateid}, Field{"cinfo", &OpenOk::cinfo},
              Field{"rflags", &OpenOk::rflags}, Field{"attrset", &OpenOk::attrset},
              Field{"delegation", &OpenOk::delegation}};
};

/// OPEN_CONFIRM4args
struct OpenConfirmArgs {
  StateId open_stateid{};
  std::uint32_t seqid = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"open_stateid", &OpenConfirmArgs::open_stateid},
                                          Field{"seqid", &OpenConfirmArgs::seqid}};
};

/// OPEN_DOWNGRADE4args
struct OpenDowngradeArgs {
  StateId open_stateid{};
  std::uint32_t seqid = 0;
  std::uint32_t share_access = 0;
  std::uint32_t share_deny = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"open_stateid", &OpenDowngradeArgs::open_stateid},
                                          Field{"seqid", &OpenDowngradeArgs::seqid},
                                          Field{"share_access", &OpenDowngradeArgs::share_access},
                                          Field{"share_deny", &OpenDowngradeArgs::share_deny}};
};

/// OPEN_CONFIRM4resok, OPEN_DOWNGRADE4resok and the same arm of CLOSE4res
struct OpenStateOk {
  StateId open_stateid{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"open_stateid", &OpenStateOk::open_stateid}};
};

/// CLOSE4args
struct CloseArgs {
  std::uint32_t seqid = 0;
  StateId open_stateid{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"seqid", &CloseArgs::seqid}, Field{"open_stateid", &CloseArgs::open_stateid}};
};

using OpenResult = Result<OpenOk>;
using OpenConfirmResult = Result<OpenStateOk>;
using OpenDowngradeResult = Result<OpenStateOk>;
using CloseResult = Result<OpenStateOk>;

}  // namespace steertag::nfs4
