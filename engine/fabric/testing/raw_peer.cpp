// Implements the raw peer.
#include "fabric/testing/raw_peer.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "fabric/iwarp/formats.h"
#include "fabric/iwarp/fpdu.h"

namespace steertag::fabric::testing {

using namespace iwarp;  // NOLINT: the codecs under the raw peer

Bytes fpdu(const Segment& segment, View payload) {
  const std::size_t ulpdu = segment.header_bytes() + payload.size();
  Bytes bytes(kUlpduLengthBytes + segment.header_bytes());
  store16(bytes.data(), static_cast<std::uint16_t>(ulpdu));
  encode(segment, bytes.data() + kUlpduLengthBytes);
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  Crc32c crc;
  crc.update(bytes);
  std::array<std::byte, kMostTrailerBytes> trailer;
  const std::size_t count = encode_trailer(ulpdu, crc, true, trailer.data());
  bytes.insert(bytes.end(), trailer.begin(), trailer.begin() + static_cast<std::ptrdiff_t>(count));
  return bytes;
}

Segment untagged(Opcode opcode, std::uint32_t qn, std::uint32_t msn) {
  Segment segment;
  segment.opcode = opcode;
  segment.qn = qn;
  segment.msn = msn;
  return segment;
}

Segment tagged(Opcode opcode, std::uint32_t stag, std::uint64_t offset) {
  Segment segment;
  segment.tagged = true;
  segment.opcode = opcode;
  segment.stag = stag;
  segment.offset = offset;
  return segment;
}

RawPeer RawPeer::to(std::uint16_t port, std::string_view source) {
  const auto addresses = resolve({"iwarp", "127.0.0.1", port, ""}, false);
  Socket socket = make_socket(addresses->front());
  const auto sources = resolve({"iwarp", std::string(source), 0, ""}, false);
  const Address& from = sources->front();
  [[maybe_unused]] const int bound = ::bind(socket.fd(), from.generic(), from.length);
  // A loopback connection may take a moment: the provider's polls bring it.
  const Address& address = addresses->front();
  [[maybe_unused]] const int connected = ::connect(socket.fd(), address.generic(), address.length);
  set_no_delay(socket);
  return RawPeer(std::move(socket));
}

std::size_t RawPeer::send(View bytes) {
  const ssize_t count = ::send(socket_.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  return count < 0 ? 0 : static_cast<std::size_t>(count);
}

bool RawPeer::read() {
  std::array<std::byte, 65536> buffer;
  while (!ended) {
    const ssize_t count = ::recv(socket_.fd(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == ENOTCONN)) {
      break;
    }
    if (count <= 0) {
      ended = true;
      break;
    }
    got.insert(got.end(), buffer.begin(), buffer.begin() + count);
  }
  return !ended;
}

std::string RawPeer::terminate(std::size_t from) const {
  std::string last = "none";
  std::size_t at = from;
  while (at + kUlpduLengthBytes + kUntaggedHeaderBytes <= got.size()) {
    const std::size_t ulpdu = load16(got.data() + at);
    const Segment segment = decode_segment(got.data() + at + kUlpduLengthBytes);
    const std::size_t content = at + kUlpduLengthBytes + kUntaggedHeaderBytes;
    last = "none";
    if (!segment.tagged && segment.opcode == Opcode::terminate && segment.qn == kTerminateQueue) {
      const auto cause = decode_terminate(View(got).subspan(content));
      last = cause ? std::to_string(cause->layer) + "/" + std::to_string(cause->type) + "/" +
                         std::to_string(cause->code)
                   : "empty";
    }
    at += kUlpduLengthBytes + ulpdu + pad_bytes(ulpdu) + kCrcBytes;
  }
  return last;
}

RawServer::RawServer() {
  const auto addresses = resolve({"iwarp", "127.0.0.1", 0, ""}, true);
  socket_ = make_socket(addresses->front());
  const Address& address = addresses->front();
  ::bind(socket_.fd(), address.generic(), address.length);
  ::listen(socket_.fd(), 8);
}

std::optional<RawPeer> RawServer::accept() {
  Address peer;
  Socket socket = accept_from(socket_, peer);
  if (!socket.open()) {
    return std::nullopt;
  }
  return RawPeer(std::move(socket));
}

}  // namespace steertag::fabric::testing
