// What the fuzzers of COMPOUND check of an argarray or resarray.
// Every operation that decodes encodes to the same octets, and a fault lies inside the input.
#pragma once

#include <algorithm>
#include <cstdlib>

#include "nfs/fuzz/check_codec.h"
#include "nfs/v4/attribute_codec.h"
#include "nfs/v4/compound.h"

namespace steertag::fuzz {

inline void check_fault(const wire::Reader& reader, View input) {
  if (reader.ok()) return;
  if (reader.fault().offset > input.size() || reader.fault().field.empty()) std::abort();
}

/// Decodes a T in the middle of a message and compares its encoding with the octets it came from.
template <class T>
T check_part(wire::Reader& reader, View input) {
  const std::size_t from = reader.offset();
  T value{};
  value.decode(reader);
  if (!reader.ok()) return value;
  Bytes again;
  wire::Writer writer(again);
  value.encode(writer);
  if (!std::ranges::equal(again, input.subspan(from, reader.offset() - from))) std::abort();
  return value;
}

/// Attributes that decode to their end encode to themselves, their mask without empty words.
inline void check_attributes(const nfs4::Fattr& fattr) {
  const auto to = nfs4::decode_attributes(fattr);
  if (!to) {
    if (to.error().field.empty()) std::abort();
    return;
  }
  Bytes storage;
  const nfs4::Fattr again = nfs4::fattr_of(to->known, fattr.attrmask, storage);
  if (again.attrmask != fattr.attrmask || !std::ranges::equal(storage, fattr.attr_vals)) {
    std::abort();
  }
}

/// `kResults` chooses between arguments and results.
template <class Header, class Number, bool kResults>
void check_compound(View input) {
  wire::Reader reader(input);
  check_part<Header>(reader, input);
  nfs4::OperationReader<Number> operations(reader, kResults ? "resarray" : "argarray");
  while (const auto number = operations.next()) {
    if (rpc::name(*number).empty()) break;
    nfs4::with_signature(*number, [&]<class Args, class Res>(nfs4::Signature<Args, Res>) {
      using Part = std::conditional_t<kResults, Res, Args>;
      const Part part = check_part<Part>(reader, input);
      if constexpr (std::is_same_v<Part, nfs4::SetattrArgs>) check_attributes(part.obj_attributes);
      if constexpr (std::is_same_v<Part, nfs4::GetattrResult>) {
        check_attributes(part.resok4.obj_attributes);
      }
    });
  }
  check_fault(reader, input);
}

}  // namespace steertag::fuzz
