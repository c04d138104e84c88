// Memory of the iwarp provider: guarded regions, their domain, and the table of steering tags.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/observed_memory.h"
#include "fabric/region.h"

namespace steertag::fabric::iwarp {

class IwarpDomain;
class IwarpRegion;

/// Octets shared by a region and the operations that still use them. The region may be destroyed
/// while a Read Response is being sent.
using Memory = std::shared_ptr<std::byte[]>;

/// All valid STags of a provider. STags are random over 32 bits and never 0 (RFC 5040 8.1.1, 8).
class StagTable {
 public:
  explicit StagTable(RandomSource random) : random_(std::move(random)) {}

  IwarpRegion* find(std::uint32_t stag) const;
  std::uint64_t random() const { return random_(); }
  /// A random STag that no region has.
  std::uint32_t fresh_stag() const;

 private:
  friend class IwarpRegion;
  using Map = std::unordered_map<std::uint32_t, IwarpRegion*>;
  RandomSource random_;
  Map map_;
};

class IwarpRegion final : public Region {
 public:
  IwarpRegion(IwarpDomain& domain, std::size_t length, Rights rights,
              std::optional<std::uint64_t> base);
  ~IwarpRegion() override;
  IwarpRegion(const IwarpRegion&) = delete;
  IwarpRegion& operator=(const IwarpRegion&) = delete;

  MutableView bytes() override { return {memory_.get() + kGuardBytes, length_}; }
  std::uint32_t stag() const override { return stag_; }
  std::uint64_t base() const override { return base_; }
  Rights rights() const override { return rights_; }
  bool valid() const override { return valid_; }
  bool invalidate() override;
  using Region::open;
  void open(Rights rights, std::size_t length) override;
  bool guards_intact() const override;

  std::size_t length() const { return length_; }
  /// Octets that the STag covers.
  std::size_t open_length() const { return open_length_; }
  bool remotely_open() const { return valid_ && (rights_.remote_read || rights_.remote_write); }
  IwarpDomain& domain() const { return domain_; }
  const Memory& memory() const { return memory_; }
  /// Whether the STag covers `length` octets from `offset`; the sum must not wrap.
  bool contains(std::uint64_t offset, std::uint64_t length) const;
  /// The octet at `offset`, which must be in the region or at its end.
  std::byte* at(std::uint64_t offset) { return memory_.get() + kGuardBytes + (offset - base_); }

 private:
  void enter(std::optional<std::uint64_t> base);
  void fill_guards();

  IwarpDomain& domain_;
  std::size_t length_;
  std::size_t open_length_;
  Memory memory_;
  Rights rights_;
  std::uint32_t stag_ = 0;
  std::uint64_t base_ = 0;
  bool valid_ = false;
  StagTable::Map::node_type node_;  // kept while invalid: opening again allocates nothing
};

class IwarpDomain final : public Domain, public ObservedMemory {
 public:
  explicit IwarpDomain(StagTable& table) : table_(table) {}
  std::unique_ptr<Region> allocate(std::size_t length, Rights rights,
                                   std::optional<std::uint64_t> base) override;

  StagTable& table() { return table_; }

 private:
  friend class IwarpRegion;
  void notify_open(MemoryObserver& observer) const override;

  StagTable& table_;
  std::vector<IwarpRegion*> regions_;  // in order of allocation
};

/// The domain as this provider's own type. The provider of `table` must have made it.
Expected<IwarpDomain*, Error> domain_of(const StagTable& table, Domain& domain);

}  // namespace steertag::fabric::iwarp
