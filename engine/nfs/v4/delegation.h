// open_delegation4 (RFC 8881 18.16.2): what a server grants, or why it does not.
#pragma once

#include <cstdint>

#include "nfs/v4/result.h"
#include "nfs/v4/types.h"

namespace steertag::nfs4 {

/// nfs_modified_limit4
struct ModifiedLimit {
  std::uint32_t num_blocks = 0;
  std::uint32_t bytes_per_block = 0;

  bool operator==(const ModifiedLimit&) const = default;
  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"num_blocks", &ModifiedLimit::num_blocks},
              Field{"bytes_per_block", &ModifiedLimit::bytes_per_block}};
};

/// nfs_space_limit4: how much a client with a write delegation may keep to itself.
struct SpaceLimit {
  LimitBy limitby = LimitBy::NFS_LIMIT_SIZE;
  std::uint64_t filesize = 0;
  ModifiedLimit mod_blocks{};

  bool operator==(const SpaceLimit&) const = default;
  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"limitby", &SpaceLimit::limitby},
              arm<LimitBy::NFS_LIMIT_SIZE>("filesize", &SpaceLimit::filesize),
              arm<LimitBy::NFS_LIMIT_BLOCKS>("mod_blocks", &SpaceLimit::mod_blocks)};
};

/// open_read_delegation4
struct ReadDelegation {
  StateId stateid{};
  bool recall = false;
  Ace permissions{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"stateid", &ReadDelegation::stateid}, Field{"recall", &ReadDelegation::recall},
              Field{"permissions", &ReadDelegation::permissions}};
};

/// open_write_delegation4
struct WriteDelegation {
  StateId stateid{};
  bool recall = false;
  SpaceLimit space_limit{};
  Ace permissions{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"stateid", &WriteDelegation::stateid},
                                          Field{"recall", &WriteDelegation::recall},
                                          Field{"space_limit", &WriteDelegation::space_limit},
                                          Field{"permissions", &WriteDelegation::permissions}};
};

/// open_none_delegation4, new in minor version 1.
struct NoneDelegation {
  WhyNoDelegation ond_why = WhyNoDelegation::WND4_NOT_WANTED;
  bool ond_server_will_push_deleg = false;
  bool ond_server_will_signal_avail = false;

  bool operator==(const NoneDelegation&) const = default;
  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"ond_why", &NoneDelegation::ond_why},
              arm<WhyNoDelegation::WND4_CONTENTION>("ond_server_will_push_deleg",
                                                    &NoneDelegation::ond_server_will_push_deleg),
              arm<WhyNoDelegation::WND4_RESOURCE>("ond_server_will_signal_avail",
                                                  &NoneDelegation::ond_server_will_signal_avail)};
};

/// open_delegation4
struct Delegation {
  DelegationType delegation_type = DelegationType::OPEN_DELEGATE_NONE;
  ReadDelegation read{};
  WriteDelegation write{};
  NoneDelegation od_whynone{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"delegation_type", &Delegation::delegation_type},
              arm<DelegationType::OPEN_DELEGATE_READ>("read", &Delegation::read),
              arm<DelegationType::OPEN_DELEGATE_WRITE>("write", &Delegation::write),
              arm<DelegationType::OPEN_DELEGATE_NONE_EXT>("od_whynone", &Delegation::od_whynone)};
};

}  // namespace steertag::nfs4
