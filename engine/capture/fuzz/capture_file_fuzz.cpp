// Any octets as a capture give packets, and then at most one error.
//
// A copy with comments has the same packets up to the damage, with the comments.
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "capture/file/annotate.h"
#include "capture/file/capture_file.h"
#include "capture/file/limits.h"
#include "wire/fuzz/check.h"

namespace {

using namespace steertag;
using namespace steertag::capture;

struct Kept {
  Packet packet;
  Bytes octets;
  std::optional<std::string> first_comment;
};

struct Outcome {
  std::vector<Kept> packets;
  std::optional<FileError> error;
};

Outcome read_all(View octets) {
  Outcome outcome;
  auto file = CaptureFile::open(octets, "input");
  if (!file) {
    outcome.error = file.error();
    return outcome;
  }
  std::uint64_t frame = 0;
  while (true) {
    const auto packet = file->next();
    fuzz::check(file->offset() <= octets.size());
    if (!packet) outcome.error = packet.error();
    if (!packet || !*packet) return outcome;
    fuzz::check((*packet)->stamp.frame > frame);
    fuzz::check((*packet)->octets.size() <= kMostPacketBytes);
    fuzz::check((*packet)->octets.size() <= (*packet)->wire_bytes);
    frame = (*packet)->stamp.frame;
    Kept kept{**packet, Bytes((*packet)->octets.begin(), (*packet)->octets.end()), std::nullopt};
    const auto comments = file->comments();
    if (!comments.empty()) kept.first_comment = comments.front();
    outcome.packets.push_back(std::move(kept));
  }
}

/// A Simple Packet Block has no time. The Enhanced one has that of its interface.
bool same_time(const Packet& before, const Packet& after) {
  return before.stamp.time_ns == after.stamp.time_ns || before.stamp.time_ns == 0;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const View input = fuzz::view_of(data, size);
  const Outcome before = read_all(input);
  if (before.error) fuzz::check(before.error->offset.value_or(0) <= size);

  FrameComments comments;
  for (std::size_t i = 0; i < before.packets.size(); i += 2) {
    comments[before.packets[i].packet.stamp.frame] = {"a comment"};
  }
  OctetSource source(input, "input");
  std::ostringstream out;
  const auto annotated = annotate(source, out, comments, "fuzzer");
  if (!annotated) return 0;
  fuzz::check(annotated->damage.has_value() == before.error.has_value());
  fuzz::check(annotated->commented == comments.size());

  const std::string copy = out.str();
  const Outcome after = read_all(std::as_bytes(std::span(copy)));
  fuzz::check(after.packets.size() == before.packets.size());
  // Damage before the first block gives no output. Any other copy is a complete file.
  fuzz::check(!after.error || copy.empty());
  for (std::size_t i = 0; i < after.packets.size(); ++i) {
    const Kept& was = before.packets[i];
    const Kept& is = after.packets[i];
    fuzz::check(is.packet.stamp.frame == was.packet.stamp.frame);
    fuzz::check(is.packet.link_type == was.packet.link_type);
    fuzz::check(is.packet.wire_bytes == was.packet.wire_bytes);
    fuzz::check(is.octets == was.octets && same_time(was.packet, is.packet));
    fuzz::check(i % 2 == 1 ? is.first_comment == was.first_comment
                           : is.first_comment == "a comment");
  }
  return 0;
}
