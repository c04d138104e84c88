// Helpers of capture file tests: files built from octets, independent of the readers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/bytes.h"
#include "support/roundup.h"

namespace steertag::capture::testing {

/// A temporary folder; the end of the test removes it with its files.
class TemporaryFolder {
 public:
  TemporaryFolder() : path_(::testing::TempDir() + "steertag-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) ADD_FAILURE() << "no folder " << path_;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  std::string path(const std::string& name) const { return path_ + '/' + name; }
  /// The names of its files, sorted.
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& each : std::filesystem::directory_iterator(path_)) {
      found.push_back(each.path().filename());
    }
    std::ranges::sort(found);
    return found;
  }
  /// Writes a file and returns its path.
  std::string write(const std::string& name, View octets) const {
    std::ofstream(path(name), std::ios::binary)
        .write(reinterpret_cast<const char*>(octets.data()),
               static_cast<std::streamsize>(octets.size()));
    return path(name);
  }
  std::string read(const std::string& name) const {
    std::ifstream in(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::string path_;
};

/// Octets of a file in one byte order.
class FileBuilder {
 public:
  explicit FileBuilder(bool big = false) : big_(big) {}

  FileBuilder& u8(std::uint64_t value) { return put(value, 1); }
  FileBuilder& u16(std::uint64_t value) { return put(value, 2); }
  FileBuilder& u32(std::uint64_t value) { return put(value, 4); }
  FileBuilder& u64(std::uint64_t value) { return put(value, 8); }
  FileBuilder& octets(View more) {
    bytes_.insert(bytes_.end(), more.begin(), more.end());
    return *this;
  }
  FileBuilder& pad() {
    bytes_.resize(roundup4(bytes_.size()));
    return *this;
  }
  FileBuilder& option(std::uint16_t code, std::string_view value) {
    return u16(code).u16(value.size()).octets(std::as_bytes(std::span(value))).pad();
  }
  FileBuilder& end_of_options() { return u32(0); }
  const Bytes& bytes() const { return bytes_; }

  /// A pcap file's header, and one record.
  FileBuilder& classic(std::uint32_t magic = 0xa1b2c3d4, std::uint32_t link_type = 1) {
    return u32(magic).u16(2).u16(4).u32(0).u32(0).u32(262144).u32(link_type);
  }
  FileBuilder& record(std::uint32_t seconds, std::uint32_t fraction, View packet,
                      std::uint32_t wire) {
    return u32(seconds).u32(fraction).u32(packet.size()).u32(wire).octets(packet);
  }

  /// A pcapng block around a body.
  FileBuilder& block(std::uint32_t type, const FileBuilder& body) {
    const std::size_t length = 12 + roundup4(body.bytes().size());
    return u32(type).u32(length).octets(body.bytes()).pad().u32(length);
  }
  FileBuilder& section() {
    return block(0x0a0d0d0a, body().u32(0x1a2b3c4d).u16(1).u16(0).u64(~std::uint64_t{0}));
  }
  FileBuilder& interface(std::uint16_t link_type = 1, std::uint32_t snap_length = 0,
                         const Bytes& options = {}) {
    return block(1, body().u16(link_type).u16(0).u32(snap_length).octets(options));
  }
  FileBuilder& enhanced(std::uint32_t interface, std::uint64_t time, View packet,
                        std::uint32_t wire, const Bytes& options = {}) {
    return block(6, body()
                        .u32(interface)
                        .u32(time >> 32)
                        .u32(time & 0xffffffff)
                        .u32(packet.size())
                        .u32(wire)
                        .octets(packet)
                        .pad()
                        .octets(options));
  }
  FileBuilder& simple(View packet, std::uint32_t wire) {
    return block(3, body().u32(wire).octets(packet));
  }
  FileBuilder& obsolete(std::uint16_t interface, std::uint16_t drops, std::uint64_t time,
                        View packet, std::uint32_t wire, const Bytes& options = {}) {
    return block(2, body()
                        .u16(interface)
                        .u16(drops)
                        .u32(time >> 32)
                        .u32(time & 0xffffffff)
                        .u32(packet.size())
                        .u32(wire)
                        .octets(packet)
                        .pad()
                        .octets(options));
  }
  /// An empty body in the same byte order.
  FileBuilder body() const { return FileBuilder(big_); }

 private:
  FileBuilder& put(std::uint64_t value, int count) {
    for (int i = 0; i < count; ++i) {
      const int shift = 8 * (big_ ? count - 1 - i : i);
      bytes_.push_back(static_cast<std::byte>(value >> shift));
    }
    return *this;
  }

  bool big_;
  Bytes bytes_;
};

}  // namespace steertag::capture::testing
