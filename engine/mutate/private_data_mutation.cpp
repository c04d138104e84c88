// Unusual, damaged or hidden private data, with the meaning that a receiver must find.
#include "mutate/private_data_mutation.h"

namespace steertag::mutate {

namespace {

using wire::PrivateData;
using wire::PrivateDataDraft;

class Builder {
 public:
  explicit Builder(const PrivateData& legal) : legal_(legal) {
    draft_.flags = legal.remote_invalidation ? 1 : 0;
    draft_.send_size = wire::encode_size(legal.send_bytes);
    draft_.receive_size = wire::encode_size(legal.receive_bytes);
    meaning_ = PrivateData{legal.remote_invalidation, wire::decode_size(draft_.send_size),
                           wire::decode_size(draft_.receive_size)};
  }

  std::vector<PrivateDataVariant> build() {
    add("legal", bytes(draft_), meaning_);
    lengths();
    identifiers();
    offsets();
    versions();
    reserved_bits();
    neighbours();
    sizes();
    return std::move(result_);
  }

 private:
  static Bytes bytes(const PrivateDataDraft& draft) {
    Bytes out;
    wire::encode(draft, out);
    return out;
  }
  static Bytes joined(Bytes left, const Bytes& right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
  }

  void add(const std::string& name, Bytes bytes, std::optional<PrivateData> meaning) {
    result_.push_back({"private-data." + name, std::move(bytes), meaning});
  }

  void lengths() {
    add("absent", {}, std::nullopt);
    for (std::size_t missing = 1; missing < wire::kPrivateDataBytes; ++missing) {
      Bytes cut = bytes(draft_);
      cut.resize(wire::kPrivateDataBytes - missing);
      add("short-by-" + std::to_string(missing), std::move(cut), std::nullopt);
    }
  }

  void identifiers() {
    PrivateDataDraft other = draft_;
    other.identifier = wire::kPrivateDataIdentifier ^ 1;
    add("identifier-one-bit-flipped", bytes(other), std::nullopt);
    other.identifier = __builtin_bswap32(wire::kPrivateDataIdentifier);
    add("identifier-octets-swapped", bytes(other), std::nullopt);
    other.identifier = 0;
    add("identifier-zero", bytes(other), std::nullopt);
  }

  void offsets() {
    // RFC 8797 5.2: the identifier may start at any octet.
    for (std::size_t offset = 1; offset < wire::kPrivateDataBytes; ++offset) {
      add("unaligned-" + std::to_string(offset), joined(Bytes(offset), bytes(draft_)), meaning_);
    }
    add("behind-4-octets-of-its-identifier",
        joined(Bytes{std::byte{0xf6}, std::byte{0xab}, std::byte{0x0e}, std::byte{0xf6}},
               bytes(draft_)),
        meaning_);
    add("at-the-end", joined(Bytes(kMostPrivateDataBytes - wire::kPrivateDataBytes), bytes(draft_)),
        meaning_);
    Bytes identifier = bytes(draft_);
    identifier.resize(4);
    add("identifier-alone-at-the-end",
        joined(Bytes(kMostPrivateDataBytes - identifier.size()), identifier), std::nullopt);
  }

  void versions() {
    for (const int version : {0, 2, 255}) {
      PrivateDataDraft other = draft_;
      other.version = static_cast<std::uint8_t>(version);
      add("version-" + std::to_string(version), bytes(other), std::nullopt);
    }
    PrivateDataDraft longer = draft_;
    longer.version = 2;
    add("version-2-of-16-octets", joined(bytes(longer), Bytes(8)), std::nullopt);
  }

  void reserved_bits() {
    // RFC 8797 4: receivers ignore them.
    for (int bit = 1; bit < 8; ++bit) {
      PrivateDataDraft other = draft_;
      other.flags = static_cast<std::uint8_t>(draft_.flags | 1 << bit);
      add("reserved-bit-" + std::to_string(bit), bytes(other), meaning_);
    }
    PrivateDataDraft all = draft_;
    all.flags = static_cast<std::uint8_t>(draft_.flags | 0xfe);
    add("reserved-bits-all", bytes(all), meaning_);
    PrivateDataDraft toggled = draft_;
    toggled.flags ^= 1;
    PrivateData meaning = meaning_;
    meaning.remote_invalidation = !meaning.remote_invalidation;
    add("r-flag-toggled", bytes(toggled), meaning);
  }

  void neighbours() {
    add("trailing-junk", joined(bytes(draft_), Bytes(kMostPrivateDataBytes - 8, std::byte{0xff})),
        meaning_);
    PrivateDataDraft second = draft_;
    second.send_size = static_cast<std::uint8_t>(~draft_.send_size);
    second.receive_size = static_cast<std::uint8_t>(~draft_.receive_size);
    add("two-announcements", joined(bytes(draft_), bytes(second)), meaning_);
    PrivateDataDraft foreign = draft_;
    foreign.version = 2;
    add("behind-another-version", joined(bytes(foreign), bytes(draft_)), meaning_);
  }

  void sizes() {
    constexpr std::uint8_t kEdges[] = {0x00, 0xff};
    for (const std::uint8_t send : kEdges) {
      for (const std::uint8_t receive : kEdges) {
        PrivateDataDraft other = draft_;
        other.send_size = send;
        other.receive_size = receive;
        add(std::string("send-") + (send == 0 ? "0x00" : "0xff") + "-receive-" +
                (receive == 0 ? "0x00" : "0xff"),
            bytes(other),
            PrivateData{legal_.remote_invalidation, wire::decode_size(send),
                        wire::decode_size(receive)});
      }
    }
  }

  PrivateData legal_;
  PrivateData meaning_;
  PrivateDataDraft draft_;
  std::vector<PrivateDataVariant> result_;
};

}  // namespace

std::vector<PrivateDataVariant> private_data(const wire::PrivateData& legal) {
  return Builder(legal).build();
}

std::optional<PrivateDataVariant> private_data(const wire::PrivateData& legal,
                                               std::string_view name) {
  for (PrivateDataVariant& each : private_data(legal)) {
    if (each.name == name) return std::move(each);
  }
  return std::nullopt;
}

}  // namespace steertag::mutate
