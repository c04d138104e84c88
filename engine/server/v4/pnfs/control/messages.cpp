// XDR of the control messages.
#include "server/v4/pnfs/control/messages.h"

#include <algorithm>

#include "wire/xdr.h"

namespace steertag::peer::control {
namespace {

/// Writes the fields that it is shown.
class Encoder {
 public:
  explicit Encoder(Bytes& to) : writer_(to) {}
  void operator()(std::uint32_t value) { writer_.u32(value); }
  void operator()(std::uint64_t value) { writer_.u64(value); }
  void operator()(bool value) { writer_.boolean(value); }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void operator()(Enum value) { writer_.u32(static_cast<std::uint32_t>(value)); }
  template <std::size_t kSize>
  void operator()(const std::array<std::byte, kSize>& octets) {
    writer_.opaque_fixed(octets);
  }
  void operator()(const std::string& text, std::size_t /*limit*/) { writer_.string(text); }
  void operator()(const std::vector<DataServerAddress>& addresses) {
    writer_.u32(static_cast<std::uint32_t>(addresses.size()));
    for (const DataServerAddress& each : addresses) {
      writer_.string(each.netid);
      writer_.string(each.address);
    }
  }

 private:
  wire::Writer writer_;
};

/// Reads them in the same order.
class Decoder {
 public:
  explicit Decoder(View octets) : reader_(octets) {}
  void operator()(std::uint32_t& value) { value = reader_.u32("word"); }
  void operator()(std::uint64_t& value) { value = reader_.u64("number"); }
  void operator()(bool& value) { value = reader_.boolean("flag"); }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void operator()(Enum& value) { value = static_cast<Enum>(reader_.u32("value")); }
  template <std::size_t kSize>
  void operator()(std::array<std::byte, kSize>& octets) {
    const View found = reader_.opaque_fixed(kSize, "octets");
    if (reader_.ok()) std::ranges::copy(found, octets.begin());
  }
  void operator()(std::string& text, std::size_t limit) { text = reader_.string(limit, "text"); }
  void operator()(std::vector<DataServerAddress>& addresses) {
    const std::uint32_t count = reader_.count(8, kMostAddresses, "addresses");
    for (std::uint32_t i = 0; i < count && reader_.ok(); ++i) {
      DataServerAddress& each = addresses.emplace_back();
      each.netid = reader_.string(kMostAddressOctets, "netid");
      each.address = reader_.string(kMostAddressOctets, "address");
    }
  }
  const wire::Reader& reader() const { return reader_; }

 private:
  wire::Reader reader_;
};

// The fields of each message, in the order of the wire.
template <class Visit, class Value>
concept Of = std::same_as<std::remove_cvref_t<Visit>, Value>;

void fields(auto& visit, Of<Hello> auto& message) {
  visit(message.version);
  visit(message.index);
  visit(message.addresses);
}
void fields(auto& visit, Of<Ask> auto& message) {
  visit(message.number);
  visit(message.file);
  visit(message.owner, nfs4::kMostOpaqueOctets);
  visit(message.stateid.seqid);
  visit(message.stateid.other);
  visit(message.deed);
  visit(message.has_range);
  visit(message.first);
  visit(message.last);
}
void fields(auto& visit, Of<Acknowledgement> auto& message) {
  visit(message.epoch);
}
void fields(auto& visit, Of<Ping> auto& message) {
  visit(message.number);
}
void fields(auto& visit, Of<Welcome> auto& message) {
  visit(message.secret.key[0]);
  visit(message.secret.key[1]);
  visit(message.pattern.count);
  visit(message.pattern.unit_bytes);
  visit(message.pattern.dense);
  visit(message.pattern.commit_through_server);
  visit(message.pattern.turns);
  visit(message.lease_ms);
  visit(message.verifier);
}
void fields(auto& visit, Of<Refusal> auto& message) {
  visit(message.why, kMostRefusalOctets);
}
void fields(auto& visit, Of<Answer> auto& message) {
  visit(message.number);
  visit(message.status);
  visit(message.first);
  visit(message.last);
}
void fields(auto& visit, Of<Revoke> auto& message) {
  visit(message.epoch);
  visit(message.file);
}
void fields(auto& visit, Of<Pong> auto& message) {
  visit(message.number);
}
void fields(auto& visit, Of<NewVerifier> auto& message) {
  visit(message.verifier);
}

/// What no field alone shows to be wrong.
template <class Value>
bool is_sound(const Value& /*message*/) {
  return true;
}
bool is_sound(const Ask& message) {
  return message.deed <= Deed::commit && message.first <= message.last;
}
bool is_sound(const Welcome& message) {
  return check_pattern(message.pattern).has_value() && message.lease_ms > 0;
}

template <class Value>
Expected<Message, std::string> read_fields(View octets) {
  Value message;
  Decoder decoder(octets);
  fields(decoder, message);
  const wire::Reader& reader = decoder.reader();
  if (!reader.ok())
    return Unexpected<std::string>("a message with a fault: " + std::string(reader.fault().field));
  if (reader.remaining() > 0) return Unexpected<std::string>("a message that is too long");
  if (!is_sound(message)) return Unexpected<std::string>("a message with values that cannot be");
  return Message(std::move(message));
}

template <std::size_t kKind = 0>
Expected<Message, std::string> read_kind(std::uint32_t kind, View fields) {
  if constexpr (kKind < std::variant_size_v<Message>) {
    if (kind == kKind) return read_fields<std::variant_alternative_t<kKind, Message>>(fields);
    return read_kind<kKind + 1>(kind, fields);
  } else {
    return Unexpected<std::string>("a message of the unknown kind " + std::to_string(kind));
  }
}

}  // namespace

void append(const Message& message, Bytes& to) {
  const std::size_t start = to.size();
  wire::Writer writer(to);
  writer.u32(0);
  writer.u32(static_cast<std::uint32_t>(message.index()));
  Encoder encoder(to);
  std::visit([&](const auto& each) { fields(encoder, each); }, message);
  writer.patch_u32(start, static_cast<std::uint32_t>(to.size() - start - kLengthOctets));
}

Expected<Message, std::string> read(View octets) {
  wire::Reader reader(octets);
  const std::uint32_t kind = reader.u32("kind");
  if (!reader.ok()) return Unexpected<std::string>("a message without a kind");
  return read_kind(kind, reader.rest());
}

}  // namespace steertag::peer::control
