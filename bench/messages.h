// Typical messages of NFSv3 over RDMA, for benchmarks.
#pragma once

#include <initializer_list>

#include "wire/header.h"
#include "wire/xdr.h"

namespace steertag::bench {

inline constexpr std::uint32_t kXid = 0x12345678;

/// An RPC call of NFSv3 with a 32-octet file handle and further words of arguments.
inline Bytes nfs3_call(std::uint32_t procedure, std::initializer_list<std::uint32_t> arguments) {
  Bytes out;
  wire::Writer writer(out);
  for (const std::uint32_t word : {kXid, 0u, 2u, 100003u, 3u, procedure, 0u, 0u, 0u, 0u}) {
    writer.u32(word);
  }
  const Bytes file_handle(32, std::byte{0xfe});
  writer.opaque(file_handle);
  for (const std::uint32_t word : arguments) writer.u32(word);
  return out;
}

inline wire::Header msg_header() {
  wire::Header header;
  header.xid = kXid;
  header.credit = 32;
  return header;
}

/// GETATTR: no chunks at all.
inline wire::Header chunkless() {
  return msg_header();
}

/// READ: one write chunk of one segment takes the data.
inline wire::Header read_call() {
  wire::Header header = msg_header();
  const wire::Segment data{0xaabbcc11, 65536, 0x00007f0000100000};
  header.write_list.add({&data, 1});
  return header;
}

/// WRITE: one read chunk of one segment holds the data.
inline wire::Header write_call() {
  wire::Header header = msg_header();
  header.read_list = {{0x60, {0xaabbcc01, 65536, 0x00007f0000001000}}};
  return header;
}

/// As many segments as any responder must take: 16 in each list.
inline wire::Header many_segments() {
  wire::Header header = msg_header();
  const std::vector<wire::Segment> segments(16, {0xaabbcc11, 4096, 0x00007f0000100000});
  for (const wire::Segment& each : segments) header.read_list.push_back({0x60, each});
  header.write_list.add(segments);
  header.has_reply_chunk = true;
  header.reply_chunk = segments;
  return header;
}

inline Bytes message(const wire::Header& header, View payload) {
  Bytes out;
  wire::encode(header, out);
  out.insert(out.end(), payload.begin(), payload.end());
  return out;
}

}  // namespace steertag::bench
