// The frames of one user of direct access: registered memory with blocks of files.
#pragma once

#include <chrono>
#include <compare>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "endpoint/deadline_clock.h"
#include "fabric/fabric.h"
#include "net/source_quota.h"
#include "nfs/direct/messages.h"
#include "server/direct/limits.h"
#include "server/direct/policy.h"
#include "server/storage/backend.h"

namespace steertag::peer {

/// Of a frame: what does not stand is random.
struct FramePlace {
  std::optional<std::uint64_t> base;
  std::optional<std::uint32_t> stag;
};

/// What the frames of all users have in common.
struct FrameTotals {
  explicit FrameTotals(const DirectLimits& limits)
      : frames({.most = limits.frames,
                .of_source = limits.frames_of_source,
                .early_drop = limits.frames},
               {}) {}

  net::SourceQuota frames;  // that exist, wiped ones included
  // Where places are not random.
  std::uint64_t last_base = 0;
  std::uint32_t last_stag = 0;
  std::vector<FramePlace> returned;
  direct::Counters counters;
};

class Frames {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Block {
    NodeId node = 0;
    std::uint64_t number = 0;
    auto operator<=>(const Block&) const = default;
  };
  /// Puts the octets of a block there; false if they cannot be had.
  using Fill = std::function<bool(MutableView)>;

  /// Those for `peer`. `random` gives generations. All must outlive the frames, `domain` too.
  Frames(const net::Address& peer, fabric::Domain& domain, const DirectLimits& limits,
         const DirectPolicy& policy, FrameTotals& totals,
         const std::function<std::uint64_t()>& random)
      : peer_(peer),
        domain_(domain),
        limits_(limits),
        policy_(policy),
        totals_(totals),
        random_(random) {}
  ~Frames();
  Frames(const Frames&) = delete;
  Frames& operator=(const Frames&) = delete;

  /// From now on frames are windows of this connection where it can open them. It is in the same
  /// domain, and must outlive the frames or be closed.
  void bind_to(fabric::Connection& connection) { window_of_ = &connection; }
  /// Revoked frames are closed at once from now on: who reads one is refused that Read alone.
  void close_revoked() { keeps_revoked_ = false; }
  /// The reference to a block that is granted and valid, for another lease.
  std::optional<direct::Reference> renew(const Block& block, Time now);
  /// A new reference to a block with `length` octets of its file; none beyond a limit.
  std::optional<direct::Reference> grant(const Block& block, std::uint32_t length, Time now,
                                         const Fill& fill);
  /// Wipes the frames of blocks that have octets of the file in this range.
  void revoke(NodeId node, std::uint64_t from, std::uint64_t to);
  /// Closes what its holder does not use any more.
  void take_back(std::span<const direct::Reference> references);
  /// The files that have frames here.
  std::set<NodeId> nodes() const;
  /// The octets of the frame with this STag, whether it is valid or not; none: empty.
  MutableView find(std::uint32_t stag);
  /// Closes frames whose lease is over.
  void expire(Time now);
  std::size_t size() const { return frames_.size() + replaced_.size(); }

 private:
  struct Frame {
    net::SourceQuota::Slot slot;
    std::unique_ptr<fabric::Region> region;  // whose STag covers the frame, and no more
    std::uint64_t generation = 0;            // 0: wiped
    std::uint64_t last_generation = 0;
    Time granted{};
  };
  using Map = std::map<Block, Frame>;

  bool is_over(const Frame& frame, Time now) const { return now - frame.granted >= limits_.lease; }
  direct::Reference reference(const Block& block, const Frame& frame) const;
  MutableView octets(const Frame& frame) const;
  void wipe(Frame& frame);
  std::uint64_t next_generation(const Frame& frame) const;
  /// The place of the next frame, where it is not random.
  FramePlace choose_place();
  std::unique_ptr<fabric::Region> allocate(std::size_t octets);
  /// A wiped frame of this size of another block, if frames are not each block's own.
  std::optional<Frame> find_wiped(std::size_t octets);
  /// A wiped frame of this size for the block: the one that it had, or a new one.
  Frame* prepare(const Block& block, std::size_t octets);

  net::Address peer_;
  fabric::Domain& domain_;
  const DirectLimits& limits_;
  const DirectPolicy& policy_;
  FrameTotals& totals_;
  const std::function<std::uint64_t()>& random_;
  fabric::Connection* window_of_ = nullptr;
  bool keeps_revoked_ = policy_.revocation.keeps_memory;
  Map frames_;
  /// Wiped frames of blocks that have another length now. Their memory waits for its lease.
  std::vector<Frame> replaced_;
};

}  // namespace steertag::peer
