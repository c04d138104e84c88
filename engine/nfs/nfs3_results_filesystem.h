// Results of the procedures on file systems: FSSTAT, FSINFO and PATHCONF.
#pragma once

#include <cstdint>

#include "nfs/nfs3_result.h"
#include "nfs/nfs3_results_attributes.h"
#include "nfs/nfs3_types.h"

namespace steertag::nfs3 {

/// FSSTAT3resok
struct FsstatOk {
  PostOpAttr obj_attributes{};
  std::uint64_t tbytes = 0;
  std::uint64_t fbytes = 0;
  std::uint64_t abytes = 0;
  std::uint64_t tfiles = 0;
  std::uint64_t ffiles = 0;
  std::uint64_t afiles = 0;
  std::uint32_t invarsec = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"obj_attributes", &FsstatOk::obj_attributes},
                                          Field{"tbytes", &FsstatOk::tbytes},
                                          Field{"fbytes", &FsstatOk::fbytes},
                                          Field{"abytes", &FsstatOk::abytes},
                                          Field{"tfiles", &FsstatOk::tfiles},
                                          Field{"ffiles", &FsstatOk::ffiles},
                                          Field{"afiles", &FsstatOk::afiles},
                                          Field{"invarsec", &FsstatOk::invarsec}};
};

using FsstatResult = Result<FsstatOk, ObjectFail>;

/// Bits of `properties` (RFC 1813 3.3.19).
inline constexpr std::uint32_t FSF3_LINK = 0x0001;
inline constexpr std::uint32_t FSF3_SYMLINK = 0x0002;
inline constexpr std::uint32_t FSF3_HOMOGENEOUS = 0x0008;
inline constexpr std::uint32_t FSF3_CANSETTIME = 0x0010;

/// FSINFO3resok
struct FsinfoOk {
  PostOpAttr obj_attributes{};
  std::uint32_t rtmax = 0;
  std::uint32_t rtpref = 0;
  std::uint32_t rtmult = 0;
  std::uint32_t wtmax = 0;
  std::uint32_t wtpref = 0;
  std::uint32_t wtmult = 0;
  std::uint32_t dtpref = 0;
  std::uint64_t maxfilesize = 0;
  Time time_delta{};
  std::uint32_t properties = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"obj_attributes", &FsinfoOk::obj_attributes},
                                          Field{"rtmax", &FsinfoOk::rtmax},
                                          Field{"rtpref", &FsinfoOk::rtpref},
                                          Field{"rtmult", &FsinfoOk::rtmult},
                                          Field{"wtmax", &FsinfoOk::wtmax},
                                          Field{"wtpref", &FsinfoOk::wtpref},
                                          Field{"wtmult", &FsinfoOk::wtmult},
                                          Field{"dtpref", &FsinfoOk::dtpref},
                                          Field{"maxfilesize", &FsinfoOk::maxfilesize},
                                          Field{"time_delta", &FsinfoOk::time_delta},
                                          Field{"properties", &FsinfoOk::properties}};
};

using FsinfoResult = Result<FsinfoOk, ObjectFail>;

/// PATHCONF3resok
struct PathconfOk {
  PostOpAttr obj_attributes{};
  std::uint32_t linkmax = 0;
  std::uint32_t name_max = 0;
  bool no_trunc = false;
  bool chown_restricted = false;
  bool case_insensitive = false;
  bool case_preserving = false;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"obj_attributes", &PathconfOk::obj_attributes},
                                          Field{"linkmax", &PathconfOk::linkmax},
                                          Field{"name_max", &PathconfOk::name_max},
                                          Field{"no_trunc", &PathconfOk::no_trunc},
                                          Field{"chown_restricted", &PathconfOk::chown_restricted},
                                          Field{"case_insensitive", &PathconfOk::case_insensitive},
                                          Field{"case_preserving", &PathconfOk::case_preserving}};
};

using PathconfResult = Result<PathconfOk, ObjectFail>;

}  // namespace steertag::nfs3
