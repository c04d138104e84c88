// Uses the installed engine from several folders: a header there and back, a capture, a provider.
#include <iostream>
#include <sstream>

#include "fabric/fabric.h"
#include "trace/stream_capture.h"
#include "wire/header.h"

namespace {

bool header_survives() {
  steertag::wire::Header header;
  header.xid = 0x12345678;
  header.credit = 32;
  header.write_list.open();
  header.write_list.extend({.handle = 1, .length = 4096, .offset = 0x7f0000001000});
  steertag::Bytes message;
  steertag::wire::encode(header, message);
  steertag::wire::Header decoded;
  return steertag::wire::decode(message, decoded) && decoded == header;
}

bool capture_is_written() {
  using steertag::trace::Role;
  const auto client = steertag::trace::parse_endpoint("192.0.2.1", 50000);
  const auto server = steertag::trace::parse_endpoint("192.0.2.2", 20049);
  if (!client || !server) return false;
  steertag::trace::StreamCapture capture({*client, *server});
  capture.on_end(0, Role::client, true);
  const steertag::trace::StreamCapture* captures[] = {&capture};
  std::ostringstream out;
  steertag::trace::write_captures(out, captures, {});
  return !out.str().empty();
}

bool provider_is_found() {
  return steertag::fabric::make_provider("iwarp", steertag::fabric::system_random()).has_value();
}

}  // namespace

int main() {
  if (header_survives() && capture_is_written() && provider_is_found()) return 0;
  std::cerr << "the installed engine does not do what its headers say\n";
  return 1;
}
