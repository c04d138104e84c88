// The attributes of an object as fattr4 has them, and which of them this server has.
#pragma once

#include <string>

#include "nfs/v4/attributes.h"
#include "server/v4/compound_call.h"

namespace steertag::peer {

/// supported_attrs in the minor version of the COMPOUND.
nfs4::Bitmap supported_attributes(const CompoundCall& call);
/// Those that SETATTR, CREATE and OPEN can set.
nfs4::Bitmap settable_attributes();
/// Those of them that an exclusive OPEN of minor version 1 can set: the times keep its verifier
/// (RFC 8881 5.8.1.14).
nfs4::Bitmap exclusive_attributes();

/// Makes the values of objects of one COMPOUND, one after the other.
class AttributeValues {
 public:
  /// Only what is in `wanted` is asked of the storage.
  AttributeValues(const CompoundCall& call, const nfs4::Bitmap& wanted);

  /// The values, without those that are not supported. Valid until the next object.
  const nfs4::Attributes& of(const Object& object);

 private:
  void describe_file_system();
  void describe_layouts(const Object& object);

  const CompoundCall& call_;
  nfs4::Bitmap wanted_;
  nfs4::Attributes values_;
  std::string owner_;
  std::string owner_group_;
};

}  // namespace steertag::peer
