// The data types that the operations of NFS version 4 share (RFC 7530 2.2, RFC 8881 3.3).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "nfs/v4/bitmap.h"
#include "nfs/v4/enums.h"
#include "nfs/v4/limits.h"
#include "nfs/v4/status.h"
#include "rpc/fields.h"
#include "rpc/held_opaque.h"
#include "support/bytes.h"
#include "wire/xdr.h"

namespace steertag::nfs4 {

using rpc::arm;
using rpc::BoundedArray;
using rpc::Chain;
using rpc::Field;
using rpc::Void;

inline constexpr std::uint32_t kProgram = 100003;
inline constexpr std::uint32_t kVersion = 4;
/// NFS4_CALLBACK of minor version 0 in its tests. Clients choose the number themselves (RFC 8881
/// 18.36, RFC 7530 16.33). The version is 1 in every minor version.
inline constexpr std::uint32_t kCallbackProgram = 0x40000000;
inline constexpr std::uint32_t kCallbackVersion = 1;

using FileHandle = rpc::HeldOpaque<kMostHandleOctets>;
using Verifier = std::array<std::byte, kVerifierOctets>;
using SessionId = std::array<std::byte, kSessionIdOctets>;
using DeviceId = std::array<std::byte, kDeviceIdOctets>;

/// nfstime4. `nseconds` from 1000000000 on is NFS4ERR_INVAL, not a fault.
struct Time {
  std::int64_t seconds = 0;
  std::uint32_t nseconds = 0;

  bool operator==(const Time&) const = default;
  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"seconds", &Time::seconds}, Field{"nseconds", &Time::nseconds}};
};

/// settime4: `time` is on the wire only with SET_TO_CLIENT_TIME4.
struct SetTime {
  TimeHow set_it = TimeHow::SET_TO_SERVER_TIME4;
  Time time{};

  bool operator==(const SetTime&) const = default;
  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{
      Field{"set_it", &SetTime::set_it}, arm<TimeHow::SET_TO_CLIENT_TIME4>("time", &SetTime::time)};
};

/// fsid4
struct Fsid {
  std::uint64_t major = 0;
  std::uint64_t minor = 0;

  bool operator==(const Fsid&) const = default;
  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"major", &Fsid::major}, Field{"minor", &Fsid::minor}};
};

/// specdata4: major and minor number of a device.
struct SpecData {
  std::uint32_t specdata1 = 0;
  std::uint32_t specdata2 = 0;

  bool operator==(const SpecData&) const = default;
  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"specdata1", &SpecData::specdata1}, Field{"specdata2", &SpecData::specdata2}};
};

/// stateid4
struct StateId {
  std::uint32_t seqid = 0;
  std::array<std::byte, kStateIdOtherOctets> other{};

  bool operator==(const StateId&) const = default;
  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"seqid", &StateId::seqid}, Field{"other", &StateId::other}};
};

/// change_info4
struct ChangeInfo {
  bool atomic = false;
  std::uint64_t before = 0;
  std::uint64_t after = 0;

  bool operator==(const ChangeInfo&) const = default;
  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"atomic", &ChangeInfo::atomic}, Field{"before", &ChangeInfo::before},
              Field{"after", &ChangeInfo::after}};
};

/// state_owner4, open_owner4 and lock_owner4. `owner` points into the message.
struct StateOwner {
  std::uint64_t clientid = 0;
  View owner{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"clientid", &StateOwner::clientid},
                                          Field{"owner", &StateOwner::owner, kMostOpaqueOctets}};
};

/// netaddr4, clientaddr4: netid and universal address (RFC 5665).
struct NetAddr {
  std::string_view na_r_netid{};
  std::string_view na_r_addr{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"na_r_netid", &NetAddr::na_r_netid, kMostNetaddrOctets},
              Field{"na_r_addr", &NetAddr::na_r_addr, kMostNetaddrOctets}};
};

/// nfsace4
struct Ace {
  std::uint32_t type = 0;
  std::uint32_t flag = 0;
  std::uint32_t access_mask = 0;
  std::string_view who{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"type", &Ace::type}, Field{"flag", &Ace::flag},
              Field{"access_mask", &Ace::access_mask}, Field{"who", &Ace::who, kMostOwnerOctets}};
};

/// nfsacl41
struct Acl {
  std::uint32_t na41_flag = 0;
  std::vector<Ace> na41_aces{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"na41_flag", &Acl::na41_flag}, Field{"na41_aces", &Acl::na41_aces, kMostAces}};
};

/// component4, as an element of pathname4.
struct Component {
  std::string_view component{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"component", &Component::component, kMostNameOctets}};
};

/// nfs_impl_id4
struct ImplId {
  std::string_view nii_domain{};
  std::string_view nii_name{};
  Time nii_date{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"nii_domain", &ImplId::nii_domain, kMostTextOctets},
                                          Field{"nii_name", &ImplId::nii_name, kMostTextOctets},
                                          Field{"nii_date", &ImplId::nii_date}};
};

/// fattr4 as it is on the wire: the numbers of the attributes, and their values one after the
/// other. The values point into the message; attributes.h gives them types.
struct Fattr {
  Bitmap attrmask{};
  View attr_vals{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"attrmask", &Fattr::attrmask},
              Field{"attr_vals", &Fattr::attr_vals, kMostAttributeOctets}};
};

/// pathname4
using PathName = std::vector<Component>;

}  // namespace steertag::nfs4
