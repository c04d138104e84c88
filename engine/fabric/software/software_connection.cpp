// The owner's calls, and the events of messages.
#include "fabric/software/software_connection.h"

#include <algorithm>

#include "fabric/provider/sink.h"

namespace steertag::fabric::software {
namespace {

Unexpected<Error> fail(Errc code, std::string detail) {
  return tl::unexpected(Error{code, std::move(detail)});
}

Unexpected<Error> too_large(const char* what, std::uint64_t length) {
  return fail(Errc::too_large, what + std::to_string(length) + " octets");
}

}  // namespace

Expected<void, Error> SoftwareConnection::send(std::span<const View> parts, WorkId id,
                                               std::optional<std::uint32_t> invalidate,
                                               const Fault* fault) {
  const std::uint64_t length = length_of(parts);
  if (length > most_message_bytes_) {
    return too_large("a Send of ", length);
  }
  const auto operation = post(Operation::send, id, fault);
  if (!operation) {
    return tl::unexpected(operation.error());
  }
  (*operation)->parts.assign(parts.begin(), parts.end());
  (*operation)->length = length;
  (*operation)->invalidate = invalidate.has_value();
  (*operation)->stag = invalidate.value_or(0);
  return {};
}

Expected<void, Error> SoftwareConnection::rdma_write(std::span<const View> parts,
                                                     std::uint32_t stag, std::uint64_t offset,
                                                     WorkId id, const Fault* fault) {
  const std::uint64_t length = length_of(parts);
  if (length > most_message_bytes_) {
    return too_large("an RDMA Write of ", length);
  }
  const auto operation = post(Operation::rdma_write, id, fault);
  if (!operation) {
    return tl::unexpected(operation.error());
  }
  (*operation)->parts.assign(parts.begin(), parts.end());
  (*operation)->length = length;
  (*operation)->stag = stag;
  (*operation)->offset = offset;
  return {};
}

Expected<void, Error> SoftwareConnection::rdma_read(Region& sink, std::uint64_t sink_offset,
                                                    std::uint32_t length, std::uint32_t stag,
                                                    std::uint64_t offset, WorkId id,
                                                    const Fault* fault) {
  SoftwareRegion* const region = own(sink);
  if (region == nullptr) {
    return fail(Errc::bad_region, "the sink belongs to another domain");
  }
  if (auto inside = check_sink(sink, sink_offset, length); !inside) {
    return inside;
  }
  if (established() && ord_ == 0) {
    return fail(Errc::unsupported, "the peer takes no RDMA Reads (ORD 0)");
  }
  if (length > most_message_bytes_) {
    return too_large("an RDMA Read of ", length);
  }
  // A tag of its own, valid for this Read alone, is what the peer gets to know of the sink.
  return post_read({core_.stags.fresh_stag(), sink_offset, length, stag, offset, region->memory(),
                    region->bytes().data() + sink_offset},
                   id, fault);
}

SoftwareRegion* SoftwareConnection::own(Region& region) const {
  auto* const ours = dynamic_cast<SoftwareRegion*>(&region);
  return ours != nullptr && &ours->domain() == &domain_ ? ours : nullptr;
}

void SoftwareConnection::tell_send(const Posted& operation) {
  std::optional<std::uint32_t> invalidated;
  if (operation.invalidate) {
    invalidated = operation.stag;
  }
  observed().by_us(trace::Send{joined(operation, 0, operation.length), invalidated});
}

void SoftwareConnection::tell_write(const Posted& operation, std::uint64_t offset,
                                    std::uint64_t octets) {
  observed().by_us(trace::RdmaWrite{operation.stag, operation.offset + offset, octets,
                                    joined(operation, offset, octets)});
}

// In one piece, like a received message. Every observer reads it as consecutive octets, so parts in
// the event would only move this copy into each of them. Without observers there is no copy.
View SoftwareConnection::joined(const Posted& operation, std::uint64_t offset,
                                std::uint64_t octets) {
  core_.joined.clear();
  for (View part : operation.parts) {
    const std::uint64_t skipped = std::min<std::uint64_t>(offset, part.size());
    offset -= skipped;
    part = part.subspan(skipped);
    part = part.first(std::min<std::uint64_t>(octets, part.size()));
    if (core_.joined.empty() && part.size() == octets) {
      return part;
    }
    core_.joined.insert(core_.joined.end(), part.begin(), part.end());
    octets -= part.size();
  }
  return core_.joined;
}

void SoftwareConnection::take_message(const PostedReceive& receive, MutableView bytes,
                                      std::optional<std::uint32_t> invalidated) {
  if (splitter_.used()) {
    if (observed().wants_events()) {
      splitter_.gather(bytes);
    }
    splitter_.end();
  }
  observed().by_peer(trace::Send{bytes, invalidated});
  if (invalidated) {
    domain_.table().find(*invalidated)->invalidate();
  }
  give_received(receive.id, bytes, invalidated);
}

}  // namespace steertag::fabric::software
