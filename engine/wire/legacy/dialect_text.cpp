// The text of a message in a stated dialect.
#include <algorithm>

#include "wire/describe.h"
#include "wire/legacy/dialect.h"
#include "wire/octet_text.h"

namespace steertag::wire {

namespace {

void append_chunks(std::string& text, const std::vector<PrototypeChunk>& chunks) {
  text += chunks.empty() ? "chunk list absent\n" : "chunk list\n";
  const std::size_t shown = std::min(chunks.size(), kMostDescribedEntries);
  for (std::size_t i = 0; i < shown; ++i) {
    const PrototypeChunk& each = chunks[i];
    text += "  offset " + std::to_string(each.offset) + ": length " + std::to_string(each.length) +
            " handle " + hex(each.handle, 8) + " address " + hex(each.address, 16) + '\n';
  }
  if (shown < chunks.size()) text += "  ... " + std::to_string(chunks.size() - shown) + " more\n";
}

std::string describe_prototype(View message) {
  std::string text;
  if (message.size() < kPrototypeFixedBytes) {
    append_octets(text, "no prototype header in", message, 0);
    return text;
  }
  PrototypeHeader header;
  const Expected<View, Fault> payload = decode(message, header);
  const bool done = header.type == PrototypeType::done;
  text += done               ? "prototype done"
          : header.is_long() ? "prototype long message"
                             : "prototype message";
  text += " xid " + hex(header.xid, 8) + " version " + std::to_string(header.vers) + '\n';
  if (!done) append_chunks(text, header.chunks);
  if (!payload) {
    text += "fault at " + payload.error().message() + '\n';
    const View rest = message.subspan(std::min(payload.error().offset, message.size()));
    append_octets(text, "not decoded", rest, message.size() - rest.size());
  } else if (!done && !header.is_long()) {
    append_octets(text, "payload stream", *payload, message.size() - payload->size());
  }
  return text;
}

}  // namespace

std::string describe(View message, Dialect dialect) {
  switch (dialect) {
    case Dialect::rfc8166:
      break;
    case Dialect::rfc5666:
      return describe(message, Document::rfc5666);
    case Dialect::prototype:
      return describe_prototype(message);
  }
  return describe(message);
}

}  // namespace steertag::wire
