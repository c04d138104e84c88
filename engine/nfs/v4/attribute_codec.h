// Values of fattr4 by attribute number: Fattr to Attributes and back.
#pragma once

#include <cstddef>

#include "nfs/v4/attribute_table.h"
#include "support/bytes.h"
#include "support/expected.h"
#include "wire/fault.h"
#include "wire/xdr.h"

namespace steertag::nfs4 {

/// What to do with the number of an attribute that is not in the table.
enum class UnknownAttributes : bool { refuse, keep };

struct DecodedAttributes {
  Attributes known{};
  /// With UnknownAttributes::keep. Values carry no length of their own. Everything from the first
  /// unknown attribute on stays as it is, known ones behind it included.
  Bitmap rest_mask{};
  View rest{};
};

/// The typed values. Views point to where `from` points. A fault names the attribute, or `attrmask`
/// for an unknown number (bad_enum) and `attr_vals` for octets after the last value
/// (trailing_bytes). `at` is the offset of the encoded fattr4 in its message; faults count from the
/// same start.
Expected<DecodedAttributes, wire::Fault> decode_attributes(
    const Fattr& from, UnknownAttributes unknown = UnknownAttributes::refuse, std::size_t at = 0);

/// The numbers of the attributes that are set.
Bitmap present(const Attributes& attributes);

/// Appends a whole fattr4 with those attributes that are both set and wanted, and returns their
/// numbers. Values of optional size are not checked against their limits: cases exceed them.
Bitmap encode_attributes(wire::Writer& writer, const Attributes& attributes, const Bitmap& wanted);

/// The same as a value for arguments and results: `storage` is overwritten with the encoded values
/// and must live as long as the Fattr.
Fattr fattr_of(const Attributes& attributes, const Bitmap& wanted, Bytes& storage);

}  // namespace steertag::nfs4
