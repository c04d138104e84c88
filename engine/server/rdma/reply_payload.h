// The payload stream of a reply before its form is chosen: octets in order.
// The DDP-eligible items stay in the storage's memory.
#pragma once

#include <span>
#include <vector>

#include "server/rpc/reply_gate.h"
#include "server/storage/backend.h"
#include "support/bytes.h"
#include "wire/xdr.h"

namespace steertag::peer {

/// Filled by a program, then sent as it is, reduced, or placed in a reply chunk. Reused from call
/// to call without allocating.
class ReplyPayload {
 public:
  struct Item {
    std::size_t at = 0;        // octets of `stream()` before it, its count word included
    std::uint32_t length = 0;  // without roundup
    std::size_t first_slice = 0;
    std::size_t slice_count = 0;
    bool reduced = false;  // it travels in a write chunk
  };

  Bytes& stream() { return stream_; }
  const Bytes& stream() const { return stream_; }
  std::vector<Slice>& slices() { return slices_; }
  std::vector<Item>& items() { return items_; }
  const std::vector<Item>& items() const { return items_; }

  /// What has to happen before the reply may leave.
  Tickets& tickets() { return tickets_; }

  /// Makes the slices that were appended since `first_slice` an eligible item at the end of the
  /// stream. The count word must have been written.
  void add_item(std::size_t first_slice, std::uint32_t length);
  /// Forgets everything behind the first `stream_bytes` octets.
  void rewind(std::size_t stream_bytes);
  /// Puts the octets and items of `other` behind these; the items' contents are shared.
  void append(const ReplyPayload& other);
  /// What is behind the first `stream_bytes` octets. No item may lie across the border.
  ReplyPayload tail(std::size_t stream_bytes) const;
  /// Forgets everything, and gives back what is above kKeptBufferBytes.
  void clear();
  /// Octets that are kept until the reply has left, those of the items in the storage's memory
  /// included.
  std::size_t held_bytes() const;

  /// Octets of the stream without its reduced items.
  std::size_t size() const;
  /// Appends the octets of one item, without roundup, to `parts`.
  void item_parts(const Item& item, std::vector<View>& parts) const;
  /// Appends the stream without its reduced items, roundup of the others included.
  void stream_parts(std::vector<View>& parts) const;

 private:
  Bytes stream_;
  std::vector<Slice> slices_;
  std::vector<Item> items_;
  Tickets tickets_;
};

/// Appends the encoding of anything that has one.
template <class Result>
void put(const Result& result, ReplyPayload& reply) {
  wire::Writer writer(reply.stream());
  result.encode(writer);
}

}  // namespace steertag::peer
