// A map with a limit: the entry that was not used for longest makes room for a new one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <utility>

namespace steertag {

template <class Key, class Value>
class LruMap {
 public:
  explicit LruMap(std::size_t limit) : limit_(limit) {}

  /// The value, used just now; null if there is none. Valid until the next `put`.
  Value* find(const Key& key) {
    const auto found = at_.find(key);
    if (found == at_.end()) return nullptr;
    order_.splice(order_.begin(), order_, found->second);
    return &found->second->second;
  }
  /// The value of this key, made if there was none.
  Value& put(const Key& key) {
    if (Value* found = find(key)) return *found;
    if (at_.size() >= limit_) {
      at_.erase(order_.back().first);
      order_.pop_back();
      ++dropped_;
    }
    order_.emplace_front(key, Value{});
    at_.emplace(key, order_.begin());
    return order_.front().second;
  }
  void erase(const Key& key) {
    const auto found = at_.find(key);
    if (found == at_.end()) return;
    order_.erase(found->second);
    at_.erase(found);
  }
  /// Removes entries, the one that was not used for longest first, while `is_due(value)`.
  template <class Due>
  void drop_while(Due&& is_due) {
    while (!order_.empty() && is_due(std::as_const(order_.back().second))) {
      at_.erase(order_.back().first);
      order_.pop_back();
    }
  }
  /// Removes the entries for which `is_gone(key, value)`.
  template <class Gone>
  void erase_if(Gone&& is_gone) {
    for (auto entry = order_.begin(); entry != order_.end();) {
      if (!is_gone(std::as_const(entry->first), std::as_const(entry->second))) {
        ++entry;
        continue;
      }
      at_.erase(entry->first);
      entry = order_.erase(entry);
    }
  }
  void clear() {
    order_.clear();
    at_.clear();
    dropped_ = 0;
  }
  std::size_t size() const { return at_.size(); }
  /// How many entries made room since the map was empty.
  std::uint64_t dropped() const { return dropped_; }

 private:
  using Order = std::list<std::pair<Key, Value>>;

  std::size_t limit_;
  Order order_;  // most recently used first
  std::unordered_map<Key, typename Order::iterator> at_;
  std::uint64_t dropped_ = 0;
};

}  // namespace steertag
