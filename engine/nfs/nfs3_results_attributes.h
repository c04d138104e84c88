// Results of the procedures on one object's attributes: GETATTR, SETATTR, ACCESS, and LOOKUP.
#pragma once

#include <cstdint>
#include <string_view>

#include "nfs/nfs3_result.h"
#include "nfs/nfs3_types.h"

namespace steertag::nfs3 {

/// The failure arm of ACCESS, FSSTAT, FSINFO and PATHCONF.
struct ObjectFail {
  PostOpAttr obj_attributes{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"obj_attributes", &ObjectFail::obj_attributes}};
};

/// GETATTR3resok
struct GetattrOk {
  Fattr obj_attributes{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"obj_attributes", &GetattrOk::obj_attributes}};
};

using GetattrResult = Result<GetattrOk, Void>;

/// SETATTR3resok and SETATTR3resfail
struct SetattrOk {
  WccData obj_wcc{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"obj_wcc", &SetattrOk::obj_wcc}};
};

using SetattrResult = Result<SetattrOk, SetattrOk>;

/// LOOKUP3resok
struct LookupOk {
  FileHandle object{};
  PostOpAttr obj_attributes{};
  PostOpAttr dir_attributes{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"object", &LookupOk::object},
                                          Field{"obj_attributes", &LookupOk::obj_attributes},
                                          Field{"dir_attributes", &LookupOk::dir_attributes}};
};

/// LOOKUP3resfail
struct LookupFail {
  PostOpAttr dir_attributes{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"dir_attributes", &LookupFail::dir_attributes}};
};

using LookupResult = Result<LookupOk, LookupFail>;

/// ACCESS3resok
struct AccessOk {
  PostOpAttr obj_attributes{};
  std::uint32_t access = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"obj_attributes", &AccessOk::obj_attributes},
                                          Field{"access", &AccessOk::access}};
};

using AccessResult = Result<AccessOk, ObjectFail>;

}  // namespace steertag::nfs3
