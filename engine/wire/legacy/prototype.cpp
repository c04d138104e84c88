// Strict decoding and encoding of the prototype's header.
#include "wire/legacy/prototype.h"

#include "wire/field_name.h"
#include "wire/xdr.h"

namespace steertag::wire {

namespace {

namespace name = field_name::prototype;

/// Checks one entry after its presence word against the previous one. False on a fault.
bool read_chunk(Reader& reader, PrototypeHeader& header) {
  const std::size_t at = reader.offset();
  PrototypeChunk chunk;
  chunk.offset = reader.u32(name::kOffset);
  const bool first = header.chunks.empty();
  // Callaghan et al. 2003 4.6.2: offset zero is the whole RPC message, so it comes first. The parts
  // of a long message in several pieces of memory follow each other.
  if (reader.ok() && !first && chunk.offset == 0 && header.chunks.back().offset != 0) {
    reader.fail(FaultCode::position_zero_not_first, at, name::kOffset);
  }
  // Callaghan et al. 2003 4: by ascending XDR offset.
  if (reader.ok() && !first && chunk.offset < header.chunks.back().offset) {
    reader.fail(FaultCode::bad_order, at, name::kOffset);
  }
  chunk.length = reader.u32(name::kLength);
  chunk.handle = reader.u32(name::kHandle);
  chunk.address = reader.u64(name::kAddress);
  if (reader.ok()) header.chunks.push_back(chunk);
  return reader.ok();
}

void read_chunks(Reader& reader, PrototypeHeader& header) {
  for (;;) {  // ends at kMostPrototypeChunks, or at the end of the message
    const std::size_t at = reader.offset();
    if (!reader.boolean(name::kPresence)) return;
    if (header.chunks.size() == kMostPrototypeChunks) {
      reader.fail(FaultCode::limit_exceeded, at, name::kPresence);
    }
    if (!reader.ok() || !read_chunk(reader, header)) return;
  }
}

void expect_end(Reader& reader) {
  if (reader.ok() && reader.remaining() != 0) {
    reader.fail(FaultCode::trailing_bytes, reader.offset(), field_name::kPayload);
  }
}

}  // namespace

void PrototypeHeader::clear() {
  xid = 0;
  vers = 1;
  type = PrototypeType::message;
  chunks.clear();
}

Expected<View, Fault> decode(View message, PrototypeHeader& header) {
  header.clear();
  Reader reader(message);
  header.xid = reader.u32(name::kXid);
  header.vers = reader.u32(name::kVersion);
  const std::size_t type_at = reader.offset();
  const std::uint32_t type = reader.u32(name::kType);
  View payload;
  if (type == static_cast<std::uint32_t>(PrototypeType::done)) {
    header.type = PrototypeType::done;
    expect_end(reader);
  } else if (type == static_cast<std::uint32_t>(PrototypeType::message)) {
    read_chunks(reader, header);
    if (header.is_long()) expect_end(reader);
    payload = reader.rest();
  } else {
    reader.fail(FaultCode::bad_enum, type_at, name::kType);
  }
  if (!reader.ok()) return Unexpected<Fault>(reader.fault());
  return payload;
}

void encode(const PrototypeHeader& header, Bytes& out) {
  Writer writer(out);
  writer.u32(header.xid);
  writer.u32(header.vers);
  writer.u32(static_cast<std::uint32_t>(header.type));
  if (header.type == PrototypeType::done) return;
  for (const PrototypeChunk& each : header.chunks) {
    writer.boolean(true);
    writer.u32(each.offset);
    writer.u32(each.length);
    writer.u32(each.handle);
    writer.u64(each.address);
  }
  writer.boolean(false);
}

std::size_t encoded_size(const PrototypeHeader& header) {
  if (header.type == PrototypeType::done) return kPrototypeFixedBytes;
  return kPrototypeFixedBytes + header.chunks.size() * (4 + kPrototypeChunkBytes) + 4;
}

}  // namespace steertag::wire
