// Memory of the software providers: guarded regions, their domain, and the table of steering tags.
#pragma once

#include <memory>
#include <unordered_map>

#include "fabric/fabric.h"
#include "fabric/provider/observed_memory.h"
#include "fabric/software/windows.h"

namespace steertag::fabric::software {

class SoftwareDomain;
class SoftwareRegion;

/// Octets shared by a region and the operations that still use them. The region may be destroyed
/// while a Read Response is being sent.
using Memory = std::shared_ptr<std::byte[]>;

/// All valid STags of a provider. STags are random over 32 bits and never 0 (RFC 5040 8.1.1, 8).
class StagTable {
 public:
  explicit StagTable(RandomSource random) : random_(std::move(random)) {}

  SoftwareRegion* find(std::uint32_t stag) const;
  std::uint64_t random() const { return random_(); }
  /// Whether a region may have this STag.
  bool is_free(std::uint32_t stag) const { return stag != 0 && !map_.contains(stag); }
  /// A random STag that no region has.
  std::uint32_t fresh_stag() const;

 private:
  friend class SoftwareRegion;
  using Map = std::unordered_map<std::uint32_t, SoftwareRegion*>;
  RandomSource random_;
  Map map_;
};

class SoftwareRegion final : public RegisteredRegion {
 public:
  SoftwareRegion(SoftwareDomain& domain, std::size_t length, Rights rights,
                 std::optional<std::uint64_t> base, std::optional<std::uint32_t> stag = {});
  ~SoftwareRegion() override;

  MutableView bytes() override { return {first(), length_}; }
  bool invalidate() override;
  using Region::open;
  void open(Rights rights, std::size_t length) override;
  /// The same for the peer of one connection.
  void open_window(Windows& windows, Rights rights, std::size_t length);
  bool guards_intact() const override { return fabric::guards_intact(first(), length_); }

  std::size_t length() const { return length_; }
  SoftwareDomain& domain() const { return domain_; }
  const Memory& memory() const { return memory_; }
  /// Whether the connection with these windows may access it.
  bool open_to(const Windows& windows) const { return windows_ == nullptr || windows_ == &windows; }
  /// Whether the STag covers `length` octets from `offset`; the sum must not wrap.
  bool contains(std::uint64_t offset, std::uint64_t length) const;
  /// The octet at `offset`, which must be in the region or at its end.
  std::byte* at(std::uint64_t offset) { return first() + (offset - base_); }

 private:
  void enter(std::optional<std::uint64_t> base = {}, std::optional<std::uint32_t> stag = {});
  void reopen(Windows* windows, Rights rights, std::size_t length);
  std::byte* first() const { return memory_.get() + kGuardBytes; }

  SoftwareDomain& domain_;
  std::size_t length_;
  Memory memory_;
  Windows* windows_ = nullptr;      // if it is a window
  StagTable::Map::node_type node_;  // kept while invalid: opening again allocates nothing
};

class SoftwareDomain final : public Domain, public ObservedMemory {
 public:
  explicit SoftwareDomain(StagTable& table) : table_(table) {}
  std::unique_ptr<Region> allocate(std::size_t length, Rights rights,
                                   std::optional<std::uint64_t> base = {},
                                   std::optional<std::uint32_t> stag = {}) override;

  StagTable& table() { return table_; }

 private:
  friend class SoftwareRegion;

  StagTable& table_;
};

/// The domain as this provider's own type. The provider of `table` must have made it.
Expected<SoftwareDomain*, Error> domain_of(const StagTable& table, Domain& domain);

}  // namespace steertag::fabric::software
