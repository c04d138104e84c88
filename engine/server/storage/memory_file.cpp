// The memory file system's file contents: blocks that are shared with replies in flight.
// A write meanwhile copies them; nothing else does.
#include <algorithm>
#include <cstring>

#include "server/storage/memory_backend.h"

namespace steertag::peer {
namespace {

constexpr std::array<std::byte, kBlockBytes> kZeros{};

std::uint64_t round_up(std::uint64_t value, std::uint64_t grain) {
  return (value + grain - 1) / grain * grain;
}

}  // namespace

void MemoryBackend::release_block(Node& node, std::uint64_t index) {
  const auto block = node.blocks.find(index);
  if (block == node.blocks.end()) return;
  used_bytes_ -= block->second->size();
  node.attributes.used_bytes -= block->second->size();
  node.blocks.erase(block);
}

Status MemoryBackend::resize(Node& node, std::uint64_t size) {
  if (size > limits_.largest_file_bytes) return Status::too_big;
  if (size < node.attributes.size_bytes) {
    const std::uint64_t keep = round_up(size, kBlockBytes) / kBlockBytes;
    while (!node.blocks.empty() && node.blocks.rbegin()->first >= keep)
      release_block(node, node.blocks.rbegin()->first);
    const std::size_t within = size % kBlockBytes;
    const auto last = node.blocks.find(size / kBlockBytes);
    if (last != node.blocks.end() && within < last->second->size()) {
      // What lies behind the new end must read as zeros when the file grows again.
      auto block = std::make_shared<Bytes>(*last->second);
      std::fill(block->begin() + static_cast<std::ptrdiff_t>(within), block->end(), std::byte{0});
      last->second = std::move(block);
    }
  }
  node.attributes.size_bytes = size;
  return Status::ok;
}

std::uint64_t MemoryBackend::growth(const Node& node, std::uint64_t offset,
                                    std::size_t length) const {
  std::uint64_t grow = 0;
  for (std::uint64_t at = offset; at < offset + length;) {
    const std::uint64_t end = std::min(offset + length, (at / kBlockBytes + 1) * kBlockBytes);
    const std::uint64_t need = round_up((end - 1) % kBlockBytes + 1, kBlockGrain);
    const auto block = node.blocks.find(at / kBlockBytes);
    const std::uint64_t had = block == node.blocks.end() ? 0 : block->second->size();
    grow += need > had ? need - had : 0;
    at = end;
  }
  return grow;
}

void MemoryBackend::write_block(Node& node, std::uint64_t index, std::size_t within, View data) {
  const std::size_t need = static_cast<std::size_t>(round_up(within + data.size(), kBlockGrain));
  auto& block = node.blocks[index];
  const std::size_t had = block ? block->size() : 0;
  const std::size_t grow = need > had ? need - had : 0;
  if (!block) {
    block = std::make_shared<Bytes>();
  } else if (block.use_count() > 1) {
    block = std::make_shared<Bytes>(*block);  // a reply that still reads the old octets keeps them
  }
  if (grow > 0) {
    block->reserve(need);  // a vector that grows by itself takes twice what is counted
    block->resize(need);
  }
  std::memcpy(block->data() + within, data.data(), data.size());
  used_bytes_ += grow;
  node.attributes.used_bytes += grow;
}

Status MemoryBackend::write(NodeId id, std::uint64_t offset, View data) {
  Node* node = find(id);
  if (!node) return Status::stale;
  if (node->attributes.type == FileType::directory) return Status::is_directory;
  if (node->attributes.type != FileType::regular) return Status::invalid;
  if (data.empty()) return Status::ok;  // RFC 1813 3.3.7: a WRITE of nothing changes nothing
  if (offset > limits_.largest_file_bytes || data.size() > limits_.largest_file_bytes - offset)
    return Status::too_big;
  if (growth(*node, offset, data.size()) > limits_.total_bytes - used_bytes_)
    return Status::no_space;
  // Octets that the file gains before `offset` are new too.
  tell_of_change(id, std::min(offset, node->attributes.size_bytes), offset + data.size(),
                 ContentChange::data);
  std::uint64_t at = offset;
  while (!data.empty()) {
    const std::size_t within = at % kBlockBytes;
    const std::size_t length = std::min(data.size(), kBlockBytes - within);
    write_block(*node, at / kBlockBytes, within, data.first(length));
    at += length;
    data = data.subspan(length);
    node->attributes.size_bytes = std::max(node->attributes.size_bytes, at);
  }
  touch(*node);
  return Status::ok;
}

Result<std::uint32_t> MemoryBackend::read(NodeId id, std::uint64_t offset, std::uint32_t count,
                                          std::vector<Slice>& out) {
  Node* node = find(id);
  if (!node) return tl::unexpected(Status::stale);
  if (node->attributes.type == FileType::directory) return tl::unexpected(Status::is_directory);
  if (node->attributes.type != FileType::regular) return tl::unexpected(Status::invalid);
  node->attributes.atime = clock_();
  const std::uint64_t size = node->attributes.size_bytes;
  if (offset >= size) return std::uint32_t{0};
  const auto found = static_cast<std::uint32_t>(std::min<std::uint64_t>(count, size - offset));
  std::uint64_t at = offset;
  for (std::uint32_t left = found; left > 0;) {
    const std::size_t within = at % kBlockBytes;
    std::size_t length = std::min<std::size_t>(left, kBlockBytes - within);
    const auto block = node->blocks.find(at / kBlockBytes);
    if (block != node->blocks.end() && within < block->second->size()) {
      length = std::min(length, block->second->size() - within);
      out.push_back({View(*block->second).subspan(within, length), block->second});
    } else {
      out.push_back({View(kZeros).first(length), nullptr});
    }
    at += length;
    left -= static_cast<std::uint32_t>(length);
  }
  return found;
}

Result<Slice> MemoryBackend::read_link(NodeId id) const {
  const Node* node = find(id);
  if (!node) return tl::unexpected(Status::stale);
  if (node->attributes.type != FileType::link) return tl::unexpected(Status::invalid);
  return Slice{View(*node->link_text), node->link_text};
}

Status MemoryBackend::commit(NodeId id) {
  const Node* node = find(id);
  if (!node) return Status::stale;
  if (node->attributes.type == FileType::directory) return Status::is_directory;
  if (node->attributes.type != FileType::regular) return Status::invalid;
  return Status::ok;
}

SpaceUsage MemoryBackend::space() const {
  return {limits_.total_bytes, limits_.total_bytes - used_bytes_, limits_.total_files,
          limits_.total_files - nodes_.size()};
}

}  // namespace steertag::peer
