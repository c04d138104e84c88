// Operations on byte-range locks: LOCK, LOCKT, LOCKU, RELEASE_LOCKOWNER.
#pragma once

#include <cstdint>

#include "nfs/v4/result.h"
#include "nfs/v4/types.h"

namespace steertag::nfs4 {

/// open_to_lock_owner4
struct OpenToLockOwner {
  std::uint32_t open_seqid = 0;
  StateId open_stateid{};
  std::uint32_t lock_seqid = 0;
  StateOwner lock_owner{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"open_seqid", &OpenToLockOwner::open_seqid},
                                          Field{"open_stateid", &OpenToLockOwner::open_stateid},
                                          Field{"lock_seqid", &OpenToLockOwner::lock_seqid},
                                          Field{"lock_owner", &OpenToLockOwner::lock_owner}};
};

/// exist_lock_owner4
struct ExistLockOwner {
  StateId lock_stateid{};
  std::uint32_t lock_seqid = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"lock_stateid", &ExistLockOwner::lock_stateid},
                                          Field{"lock_seqid", &ExistLockOwner::lock_seqid}};
};

/// locker4. `open_owner` with TRUE, `lock_owner` with FALSE.
struct Locker {
  bool new_lock_owner = false;
  OpenToLockOwner open_owner{};
  ExistLockOwner lock_owner{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"new_lock_owner", &Locker::new_lock_owner},
                                          arm<true>("open_owner", &Locker::open_owner),
                                          arm<false>("lock_owner", &Locker::lock_owner)};
};

/// LOCK4args
struct LockArgs {
  LockType locktype = LockType::READ_LT;
  bool reclaim = false;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  Locker locker{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"locktype", &LockArgs::locktype}, Field{"reclaim", &LockArgs::reclaim},
              Field{"offset", &LockArgs::offset}, Field{"length", &LockArgs::length},
              Field{"locker", &LockArgs::locker}};
};

/// LOCK4denied: a lock that is in the way.
struct LockDenied {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  LockType locktype = LockType::READ_LT;
  StateOwner owner{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"offset", &LockDenied::offset}, Field{"length", &LockDenied::length},
              Field{"locktype", &LockDenied::locktype}, Field{"owner", &LockDenied::owner}};
};

/// LOCK4resok and the same arm of LOCKU4res
struct LockOk {
  StateId lock_stateid{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"lock_stateid", &LockOk::lock_stateid}};
};

/// LOCK4res
struct LockResult {
  Status status = Status::NFS4_OK;
  LockOk resok4{};
  LockDenied denied{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{
      Field{"status", &LockResult::status}, arm<Status::NFS4_OK>("resok4", &LockResult::resok4),
      arm<Status::NFS4ERR_DENIED>("denied", &LockResult::denied)};
};

/// LOCKT4args
struct LocktArgs {
  LockType locktype = LockType::READ_LT;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  StateOwner owner{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"locktype", &LocktArgs::locktype}, Field{"offset", &LocktArgs::offset},
              Field{"length", &LocktArgs::length}, Field{"owner", &LocktArgs::owner}};
};

/// LOCKT4res
struct LocktResult {
  Status status = Status::NFS4_OK;
  LockDenied denied{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"status", &LocktResult::status},
              arm<Status::NFS4ERR_DENIED>("denied", &LocktResult::denied)};
};

/// LOCKU4args
struct LockuArgs {
  LockType locktype = LockType::READ_LT;
  std::uint32_t seqid = 0;
  StateId lock_stateid{};
  std::uint64_t offset = 0;
  std::uint64_t length = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"locktype", &LockuArgs::locktype}, Field{"seqid", &LockuArgs::seqid},
              Field{"lock_stateid", &LockuArgs::lock_stateid}, Field{"offset", &LockuArgs::offset},
              Field{"length", &LockuArgs::length}};
};

/// RELEASE_LOCKOWNER4args
struct ReleaseLockownerArgs {
  StateOwner lock_owner{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"lock_owner", &ReleaseLockownerArgs::lock_owner}};
};

using LockuResult = Result<LockOk>;
using ReleaseLockownerResult = Result<Void>;

}  // namespace steertag::nfs4
