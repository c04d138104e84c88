// The calls of one direction by XID, as a judge of a superseded dialect records them.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <unordered_map>
#include <utility>

namespace steertag::conformance {

/// At most this many exchanges of one direction, far more than a server grants credits. In a long
/// capture it covers the answered calls that a late message may refer to.
inline constexpr std::size_t kMostLegacyExchanges = 16384;

/// Exchanges that wait for their reply, and the latest answered ones. A full table evicts the
/// exchange with the oldest answer, or the oldest call if all wait. `Value` is the judge's record
/// of one.
template <class Value>
class ExchangeTable {
 public:
  struct Exchange {
    std::uint32_t xid = 0;
    bool answered = false;
    Value value{};
  };

  explicit ExchangeTable(std::size_t most = kMostLegacyExchanges) : most_(most) {}
  // The index has iterators of the lists.
  ExchangeTable(ExchangeTable&&) = default;
  ExchangeTable& operator=(ExchangeTable&&) = default;

  /// nullptr for an unknown XID. The pointer is valid until the next call or answer.
  Exchange* find(std::uint32_t xid) {
    const auto found = index_.find(xid);
    return found == index_.end() ? nullptr : &*found->second;
  }

  /// A call starts or restarts the exchange of its XID. Returns the exchange that it replaces or
  /// evicts.
  std::optional<Exchange> call(std::uint32_t xid, Value value) {
    return put(waiting_, {xid, false, std::move(value)});
  }

  /// A reply ends the exchange of its XID. The call may be unknown.
  std::optional<Exchange> answer(std::uint32_t xid, Value value) {
    return put(answered_, {xid, true, std::move(value)});
  }

  /// Calls without a reply.
  std::size_t waiting() const { return waiting_.size(); }
  /// Calls that were evicted before their reply.
  std::uint64_t forgotten() const { return forgotten_; }

 private:
  using Entries = std::list<Exchange>;  // oldest first

  std::optional<Exchange> put(Entries& entries, Exchange exchange) {
    std::optional<Exchange> gone;
    const auto found = index_.find(exchange.xid);
    if (found != index_.end()) {
      gone = take(found->second->answered ? answered_ : waiting_, found->second);
    } else if (index_.size() >= most_) {
      Entries& from = answered_.empty() ? waiting_ : answered_;
      if (answered_.empty()) ++forgotten_;
      gone = take(from, from.begin());
    }
    const std::uint32_t xid = exchange.xid;
    index_[xid] = entries.insert(entries.end(), std::move(exchange));
    return gone;
  }

  Exchange take(Entries& entries, typename Entries::iterator each) {
    Exchange taken = std::move(*each);
    index_.erase(taken.xid);
    entries.erase(each);
    return taken;
  }

  std::size_t most_;  // at least 1
  Entries waiting_;
  Entries answered_;
  std::unordered_map<std::uint32_t, typename Entries::iterator> index_;
  std::uint64_t forgotten_ = 0;
};

}  // namespace steertag::conformance
