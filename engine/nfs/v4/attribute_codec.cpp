// Walks over the table of attributes, for decoding and encoding.
#include "nfs/v4/attribute_codec.h"

#include <algorithm>

namespace steertag::nfs4 {

namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

/// The first number in the mask that the table does not have, or kNone. Bitmap::kNumbers stands for
/// all from it on.
std::uint32_t first_unknown(const Bitmap& mask) {
  std::uint32_t first = mask.has_beyond() ? Bitmap::kNumbers : kNone;
  mask.for_each([&](std::uint32_t number) {
    if (attribute_name(number).empty()) first = std::min(first, number);
  });
  return first;
}

void encode_values(wire::Writer& writer, const Attributes& attributes, const Bitmap& mask) {
  kAttributes.for_each([&](const auto& attribute) {
    if (mask.test(attribute.number)) rpc::encode_value(writer, *(attributes.*attribute.member));
  });
}

}  // namespace

Expected<DecodedAttributes, wire::Fault> decode_attributes(const Fattr& from,
                                                           UnknownAttributes unknown,
                                                           std::size_t at) {
  const std::uint32_t end = first_unknown(from.attrmask);
  if (end != kNone && unknown == UnknownAttributes::refuse) {
    const std::size_t word_at = at + 4 + 4 * std::size_t{end / 32};
    return Unexpected<wire::Fault>({wire::FaultCode::bad_enum, word_at, "attrmask"});
  }
  DecodedAttributes to;
  wire::Reader reader(from.attr_vals);
  kAttributes.for_each([&](const auto& attribute) {
    if (attribute.number >= end || !from.attrmask.test(attribute.number)) return;
    auto& value = (to.known.*attribute.member).emplace();
    rpc::decode_value(reader, value, attribute.name, attribute.limit);
  });
  if (end != kNone) {
    from.attrmask.for_each([&](std::uint32_t number) {
      if (number >= end) to.rest_mask.set(number);
    });
    to.rest = reader.rest();
  } else if (reader.remaining() != 0) {
    reader.fail(wire::FaultCode::trailing_bytes, reader.offset(), "attr_vals");
  }
  if (reader.ok()) return to;
  wire::Fault fault = reader.fault();
  // Before the values: the mask with its count, and the count of attr_vals.
  fault.offset += at + 4 + 4 * from.attrmask.wire_words() + 4;
  return Unexpected<wire::Fault>(fault);
}

Bitmap present(const Attributes& attributes) {
  Bitmap mask;
  kAttributes.for_each([&](const auto& attribute) {
    if ((attributes.*attribute.member).has_value()) mask.set(attribute.number);
  });
  return mask;
}

Bitmap encode_attributes(wire::Writer& writer, const Attributes& attributes, const Bitmap& wanted) {
  const Bitmap mask = present(attributes) & wanted;
  rpc::encode_value(writer, mask);
  const std::size_t count_at = writer.size();
  writer.u32(0);
  encode_values(writer, attributes, mask);
  writer.patch_u32(count_at, static_cast<std::uint32_t>(writer.size() - count_at - 4));
  return mask;
}

Fattr fattr_of(const Attributes& attributes, const Bitmap& wanted, Bytes& storage) {
  storage.clear();
  wire::Writer writer(storage);
  Fattr made;
  made.attrmask = present(attributes) & wanted;
  encode_values(writer, attributes, made.attrmask);
  made.attr_vals = storage;
  return made;
}

}  // namespace steertag::nfs4
