// Unstable octets in memory.
#include "server/storage/volatile_backend.h"

#include <algorithm>

namespace steertag::peer {
namespace {

bool is_later(const Time& one, const Time& other) {
  return std::pair(one.seconds, one.nanoseconds) > std::pair(other.seconds, other.nanoseconds);
}

/// What an extent of these octets counts against the limit.
std::size_t cost(View octets) {
  return VolatileBackend::kExtentOverhead + octets.size();
}

}  // namespace

VolatileBackend::VolatileBackend(std::unique_ptr<Backend> stable, std::size_t most_bytes,
                                 Clock clock)
    : stable_(std::move(stable)), most_bytes_(most_bytes), clock_(std::move(clock)) {}

const VolatileBackend::Unstable* VolatileBackend::find(NodeId node) const {
  if (files_.empty()) return nullptr;
  const auto found = files_.find(stable_->handle(node));
  return found == files_.end() ? nullptr : &found->second;
}

Result<Attributes> VolatileBackend::attributes(NodeId node) const {
  auto found = stable_->attributes(node);
  if (!found) return found;
  if (const std::uint64_t* writes = writes_.find(node)) found->change += *writes;
  if (const Unstable* file = find(node)) {
    found->size_bytes = std::max(found->size_bytes, file->end);
    if (is_later(file->mtime, found->mtime)) found->mtime = found->ctime = file->mtime;
  }
  return found;
}

Status VolatileBackend::change(NodeId node, const AttributeChange& change) {
  if (const Status status = publish(node); status != Status::ok) return status;
  return stable_->change(node, change);
}

void VolatileBackend::forget_if_gone(const Result<NodeId>& file) {
  if (!file || files_.empty() || stable_->attributes(*file)) return;
  std::erase_if(files_, [&](const auto& each) {
    if (stable_->resolve(each.first)) return false;
    for (const auto& [offset, octets] : each.second.extents) bytes_ -= cost(octets);
    return true;
  });
}

Status VolatileBackend::remove(NodeId directory, std::string_view name) {
  const auto file = stable_->lookup(directory, name);
  const Status status = stable_->remove(directory, name);
  if (status == Status::ok) forget_if_gone(file);
  return status;
}

Status VolatileBackend::rename(NodeId from_directory, std::string_view from_name,
                               NodeId to_directory, std::string_view to_name) {
  const auto replaced = stable_->lookup(to_directory, to_name);
  const Status status = stable_->rename(from_directory, from_name, to_directory, to_name);
  if (status == Status::ok) forget_if_gone(replaced);
  return status;
}

Result<std::uint32_t> VolatileBackend::read(NodeId node, std::uint64_t offset, std::uint32_t count,
                                            std::vector<Slice>& out) {
  const Unstable* file = find(node);
  if (!file) return stable_->read(node, offset, count, out);
  std::vector<Slice> below;
  const auto stable = stable_->read(node, offset, count, below);
  if (!stable) return stable;
  const std::uint64_t size = std::max(file->end, offset + *stable);
  if (offset >= size) return std::uint32_t{0};
  const auto octets = std::make_shared<Bytes>(std::min<std::uint64_t>(count, size - offset));
  auto into = octets->begin();
  for (const Slice& each : below) into = std::ranges::copy(each.bytes, into).out;
  const std::uint64_t end = offset + octets->size();
  for (const auto& [begin, extent] : file->extents) {
    const std::uint64_t from = std::max(begin, offset);
    const std::uint64_t to = std::min(begin + extent.size(), end);
    if (from < to)
      std::ranges::copy(View(extent).subspan(from - begin, to - from),
                        octets->begin() + static_cast<std::ptrdiff_t>(from - offset));
  }
  const auto length = static_cast<std::uint32_t>(octets->size());
  if (length > 0) out.push_back({View(*octets), octets});
  return length;
}

void VolatileBackend::cut(Unstable& file, std::uint64_t from, std::uint64_t to) {
  auto at = file.extents.lower_bound(from);
  if (at != file.extents.begin()) --at;
  while (at != file.extents.end() && at->first < to) {
    const std::uint64_t begin = at->first;
    const std::uint64_t end = begin + at->second.size();
    if (end <= from) {
      ++at;
      continue;
    }
    const Bytes octets = std::move(at->second);
    at = file.extents.erase(at);
    bytes_ -= cost(octets);
    const auto keep = [&](std::uint64_t first, std::uint64_t last) {
      if (first >= last) return;
      const View kept = View(octets).subspan(first - begin, last - first);
      file.extents.emplace(first, Bytes(kept.begin(), kept.end()));
      bytes_ += cost(kept);
    };
    keep(begin, from);
    keep(to, end);
  }
}

Status VolatileBackend::write(NodeId node, std::uint64_t offset, View data) {
  // What is wrong with the file is wrong with a write of nothing too.
  if (const Status status = stable_->write(node, offset, {}); status != Status::ok || data.empty())
    return status;
  const std::uint64_t most = stable_->largest_file_bytes();
  if (offset > most || data.size() > most - offset) return Status::too_big;
  const Handle handle = stable_->handle(node);
  Unstable& file = files_[handle];
  cut(file, offset, offset + data.size());
  file.extents.emplace(offset, Bytes(data.begin(), data.end()));
  file.end = std::max(file.end, offset + data.size());
  file.mtime = clock_();
  bytes_ += cost(data);
  ++writes_.put(node);
  return bytes_ > most_bytes_ ? hand_over_all(handle) : Status::ok;
}

Status VolatileBackend::hand_over(const Handle& handle, Unstable file) {
  const auto node = stable_->resolve(handle);
  Status status = node ? Status::ok : node.error();
  for (const auto& [offset, octets] : file.extents) {
    bytes_ -= cost(octets);
    if (status == Status::ok) status = stable_->write(*node, offset, octets);
  }
  // By the write verifier clients see that they have to send again what the storage did not take.
  if (status != Status::ok) ++losses_;
  return status;
}

Status VolatileBackend::publish(NodeId node) {
  auto file = files_.extract(stable_->handle(node));
  return file ? hand_over(file.key(), std::move(file.mapped())) : Status::ok;
}

Status VolatileBackend::hand_over_all(const Handle& own) {
  Status of_own = Status::ok;
  while (!files_.empty()) {  // shrinks in every round
    auto file = files_.extract(files_.begin());
    const Status status = hand_over(file.key(), std::move(file.mapped()));
    if (file.key() == own) of_own = status;
  }
  return of_own;
}

Status VolatileBackend::commit(NodeId node) {
  if (const Status status = publish(node); status != Status::ok) return status;
  return stable_->commit(node);
}

}  // namespace steertag::peer
