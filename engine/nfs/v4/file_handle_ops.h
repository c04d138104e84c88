// Operations that set, move along or query the current filehandle.
// PUTFH, GETFH, LOOKUP, SECINFO and their likes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "nfs/v4/result.h"
#include "nfs/v4/types.h"
#include "rpc/auth.h"

namespace steertag::nfs4 {

/// PUTFH4args
struct PutfhArgs {
  FileHandle object{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"object", &PutfhArgs::object}};
};

/// GETFH4resok
struct GetfhOk {
  FileHandle object{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"object", &GetfhOk::object}};
};

/// LOOKUP4args
struct LookupArgs {
  std::string_view objname{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"objname", &LookupArgs::objname, kMostNameOctets}};
};

using PutfhResult = Result<Void>;
using PutpubfhResult = Result<Void>;
using PutrootfhResult = Result<Void>;
using GetfhResult = Result<GetfhOk>;
using LookupResult = Result<Void>;
using LookuppResult = Result<Void>;
using RestorefhResult = Result<Void>;
using SavefhResult = Result<Void>;

/// SECINFO4args
struct SecinfoArgs {
  std::string_view name{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"name", &SecinfoArgs::name, kMostNameOctets}};
};

/// SECINFO_NO_NAME4args
struct SecinfoNoNameArgs {
  SecinfoStyle style = SecinfoStyle::SECINFO_STYLE4_CURRENT_FH;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"style", &SecinfoNoNameArgs::style}};
};

/// rpcsec_gss_info
struct GssInfo {
  View oid{};
  std::uint32_t qop = 0;
  GssService service = GssService::RPC_GSS_SVC_NONE;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"oid", &GssInfo::oid, kMostOidOctets}, Field{"qop", &GssInfo::qop},
              Field{"service", &GssInfo::service}};
};

/// secinfo4: a flavour, with RPCSEC_GSS also its mechanism and service.
struct Secinfo {
  rpc::AuthFlavor flavor = rpc::AuthFlavor::AUTH_NONE;
  GssInfo flavor_info{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"flavor", &Secinfo::flavor},
              arm<rpc::AuthFlavor::RPCSEC_GSS>("flavor_info", &Secinfo::flavor_info)};
};

/// SECINFO4resok: what is allowed, in the order of the server's preference.
struct SecinfoOk {
  std::vector<Secinfo> resok4{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"resok4", &SecinfoOk::resok4, kMostFlavors}};
};

using SecinfoResult = Result<SecinfoOk>;
using SecinfoNoNameResult = SecinfoResult;

}  // namespace steertag::nfs4
