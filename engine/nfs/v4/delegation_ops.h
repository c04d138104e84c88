// Operations on delegations: DELEGPURGE, DELEGRETURN, WANT_DELEGATION, GET_DIR_DELEGATION.
#pragma once

#include <cstdint>

#include "nfs/v4/delegation.h"
#include "nfs/v4/result.h"
#include "nfs/v4/types.h"

namespace steertag::nfs4 {

/// DELEGPURGE4args
struct DelegpurgeArgs {
  std::uint64_t clientid = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"clientid", &DelegpurgeArgs::clientid}};
};

/// DELEGRETURN4args
struct DelegreturnArgs {
  StateId deleg_stateid{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"deleg_stateid", &DelegreturnArgs::deleg_stateid}};
};

/// deleg_claim4
struct DelegClaim {
  WantClaim dc_claim = WantClaim::CLAIM_FH;
  DelegationType dc_delegate_type = DelegationType::OPEN_DELEGATE_NONE;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"dc_claim", &DelegClaim::dc_claim},
              arm<WantClaim::CLAIM_PREVIOUS>("dc_delegate_type", &DelegClaim::dc_delegate_type)};
};

/// WANT_DELEGATION4args
struct WantDelegationArgs {
  std::uint32_t wda_want = 0;
  DelegClaim wda_claim{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"wda_want", &WantDelegationArgs::wda_want},
                                          Field{"wda_claim", &WantDelegationArgs::wda_claim}};
};

/// GET_DIR_DELEGATION4args
struct GetDirDelegationArgs {
  bool gdda_signal_deleg_avail = false;
  Bitmap gdda_notification_types{};
  Time gdda_child_attr_delay{};
  Time gdda_dir_attr_delay{};
  Bitmap gdda_child_attributes{};
  Bitmap gdda_dir_attributes{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"gdda_signal_deleg_avail", &GetDirDelegationArgs::gdda_signal_deleg_avail},
              Field{"gdda_notification_types", &GetDirDelegationArgs::gdda_notification_types},
              Field{"gdda_child_attr_delay", &GetDirDelegationArgs::gdda_child_attr_delay},
              Field{"gdda_dir_attr_delay", &GetDirDelegationArgs::gdda_dir_attr_delay},
              Field{"gdda_child_attributes", &GetDirDelegationArgs::gdda_child_attributes},
              Field{"gdda_dir_attributes", &GetDirDelegationArgs::gdda_dir_attributes}};
};

/// GET_DIR_DELEGATION4resok
struct GetDirDelegationGranted {
  Verifier gddr_cookieverf{};
  StateId gddr_stateid{};
  Bitmap gddr_notification{};
  Bitmap gddr_child_attributes{};
  Bitmap gddr_dir_attributes{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"gddr_cookieverf", &GetDirDelegationGranted::gddr_cookieverf},
              Field{"gddr_stateid", &GetDirDelegationGranted::gddr_stateid},
              Field{"gddr_notification", &GetDirDelegationGranted::gddr_notification},
              Field{"gddr_child_attributes", &GetDirDelegationGranted::gddr_child_attributes},
              Field{"gddr_dir_attributes", &GetDirDelegationGranted::gddr_dir_attributes}};
};

/// GET_DIR_DELEGATION4res_non_fatal
struct GetDirDelegationOk {
  DirDelegationStatus gddrnf_status = DirDelegationStatus::GDD4_OK;
  GetDirDelegationGranted gddrnf_resok4{};
  bool gddrnf_will_signal_deleg_avail = false;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{
      Field{"gddrnf_status", &GetDirDelegationOk::gddrnf_status},
      arm<DirDelegationStatus::GDD4_OK>("gddrnf_resok4", &GetDirDelegationOk::gddrnf_resok4),
      arm<DirDelegationStatus::GDD4_UNAVAIL>("gddrnf_will_signal_deleg_avail",
                                             &GetDirDelegationOk::gddrnf_will_signal_deleg_avail)};
};

using DelegpurgeResult = Result<Void>;
using DelegreturnResult = Result<Void>;
using WantDelegationResult = Result<Delegation>;
using GetDirDelegationResult = Result<GetDirDelegationOk>;

}  // namespace steertag::nfs4
