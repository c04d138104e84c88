// Operations on attributes: ACCESS, GETATTR, SETATTR, VERIFY, NVERIFY, OPENATTR.
#pragma once

#include <cstdint>

#include "nfs/v4/result.h"
#include "nfs/v4/types.h"

namespace steertag::nfs4 {

/// Bits of `access` (RFC 8881 18.1.1).
inline constexpr std::uint32_t ACCESS4_READ = 0x0001;
inline constexpr std::uint32_t ACCESS4_LOOKUP = 0x0002;
inline constexpr std::uint32_t ACCESS4_MODIFY = 0x0004;
inline constexpr std::uint32_t ACCESS4_EXTEND = 0x0008;
inline constexpr std::uint32_t ACCESS4_DELETE = 0x0010;
inline constexpr std::uint32_t ACCESS4_EXECUTE = 0x0020;

/// ACCESS4args
struct AccessArgs {
  std::uint32_t access = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"access", &AccessArgs::access}};
};

/// ACCESS4resok: the bits that the server can judge, and those that it grants.
struct AccessOk {
  std::uint32_t supported = 0;
  std::uint32_t access = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"supported", &AccessOk::supported}, Field{"access", &AccessOk::access}};
};

/// GETATTR4args
struct GetattrArgs {
  Bitmap attr_request{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"attr_request", &GetattrArgs::attr_request}};
};

/// GETATTR4resok and CB_GETATTR4resok
struct GetattrOk {
  Fattr obj_attributes{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"obj_attributes", &GetattrOk::obj_attributes}};
};

/// SETATTR4args
struct SetattrArgs {
  StateId stateid{};
  Fattr obj_attributes{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"stateid", &SetattrArgs::stateid},
                                          Field{"obj_attributes", &SetattrArgs::obj_attributes}};
};

/// SETATTR4res: `attrsset` is there with every status.
struct SetattrResult {
  Status status = Status::NFS4_OK;
  Bitmap attrsset{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"status", &SetattrResult::status}, Field{"attrsset", &SetattrResult::attrsset}};
};

/// VERIFY4args and NVERIFY4args
struct VerifyArgs {
  Fattr obj_attributes{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"obj_attributes", &VerifyArgs::obj_attributes}};
};

/// OPENATTR4args
struct OpenattrArgs {
  bool createdir = false;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"createdir", &OpenattrArgs::createdir}};
};

using NverifyArgs = VerifyArgs;
using AccessResult = Result<AccessOk>;
using GetattrResult = Result<GetattrOk>;
using VerifyResult = Result<Void>;
using NverifyResult = Result<Void>;
using OpenattrResult = Result<Void>;

}  // namespace steertag::nfs4
