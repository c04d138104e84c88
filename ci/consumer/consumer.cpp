// Links the installed engine with all that it depends on: a capture, a provider.
#include <iostream>
#include <sstream>

#include "fabric/fabric.h"
#include "trace/stream_capture.h"

namespace {

bool capture_is_written() {
  using steertag::trace::Role;
  const auto client = steertag::trace::parse_endpoint("192.0.2.1", 50000);
  const auto server = steertag::trace::parse_endpoint("192.0.2.2", 20049);
  if (!client || !server) return false;
  steertag::trace::StreamCapture capture({*client, *server});
  capture.on_end(0, Role::client, true);
  const steertag::trace::Capture* captures[] = {&capture};
  std::ostringstream out;
  steertag::trace::write_captures(out, captures, {});
  return !out.str().empty();
}

bool provider_is_found() {
  return steertag::fabric::make_provider("iwarp", steertag::fabric::system_random()).has_value();
}

}  // namespace

int main() {
  if (capture_is_written() && provider_is_found()) return 0;
  std::cerr << "the installed engine does not do what its headers say\n";
  return 1;
}
