// A trace-like text of transport headers and messages.
#include "wire/describe.h"

#include <algorithm>

#include "wire/draft.h"
#include "wire/octet_text.h"

namespace steertag::wire {

namespace {

/// Writes a draft as lines.
class Text {
 public:
  std::string take() { return std::move(text_); }

  void header(const Draft& draft) {
    text_ += procedure_name(draft.proc);
    text_ += " xid " + hex(draft.xid, 8) + " vers " + std::to_string(draft.vers) + " credit " +
             std::to_string(draft.credit) + '\n';
    switch (draft.proc) {
      case static_cast<std::uint32_t>(Procedure::done):
        return;
      case static_cast<std::uint32_t>(Procedure::error):
        error(draft);
        return;
      case static_cast<std::uint32_t>(Procedure::msgp):
        text_ += "align " + std::to_string(draft.align) + " thresh " +
                 std::to_string(draft.thresh) + '\n';
        break;
      default:
        break;
    }
    read_list(draft);
    write_list(draft);
    reply_chunk(draft);
  }

  void octets(std::string_view title, View bytes, std::size_t offset) {
    append_octets(text_, title, bytes, offset);
  }

  void line(const std::string& line) { text_ += line + '\n'; }

 private:
  void error(const Draft& draft) {
    if (draft.error == static_cast<std::uint32_t>(ErrorCode::vers)) {
      line("ERR_VERS low " + std::to_string(draft.vers_low) + " high " +
           std::to_string(draft.vers_high));
    } else if (draft.error == static_cast<std::uint32_t>(ErrorCode::chunk)) {
      line("ERR_CHUNK");
    } else {
      line("rdma_err " + std::to_string(draft.error));
    }
  }

  void segment(const Segment& segment) {
    text_ += "handle " + hex(segment.handle, 8) + " length " + std::to_string(segment.length) +
             " offset " + hex(segment.offset, 16) + '\n';
  }

  void more(std::size_t entries, const char* indent) {
    if (entries > kMostDescribedEntries) {
      text_ += indent;
      text_ += "... " + std::to_string(entries - kMostDescribedEntries) + " more\n";
    }
  }

  void list_title(const char* title, bool empty, std::uint32_t end) {
    text_ += title;
    if (empty) text_ += " absent";
    if (end != 0) text_ += ", ended by presence word " + std::to_string(end);
    text_ += '\n';
  }

  void presence(std::uint32_t word) {
    if (word != 1) text_ += "presence word " + std::to_string(word) + " ";
  }

  void read_list(const Draft& draft) {
    list_title("read list", draft.read_list.empty(), draft.read_list_end);
    const std::size_t shown = std::min(draft.read_list.size(), kMostDescribedEntries);
    for (std::size_t i = 0; i < shown; ++i) {
      const DraftReadEntry& entry = draft.read_list[i];
      text_ += "  ";
      presence(entry.presence);
      text_ += "position " + std::to_string(entry.segment.position) + ": ";
      segment(entry.segment.target);
    }
    more(draft.read_list.size(), "  ");
  }

  void chunk(const std::string& title, const DraftChunk& chunk, const char* indent) {
    text_ += title;
    presence(chunk.presence);
    const std::size_t count = chunk.segments.size();
    text_ += std::to_string(count) + (count == 1 ? " segment" : " segments");
    if (chunk.count && *chunk.count != count) text_ += ", count word " + hex(*chunk.count, 8);
    text_ += '\n';
    const std::size_t shown = std::min(count, kMostDescribedEntries);
    for (std::size_t i = 0; i < shown; ++i) {
      text_ += indent;
      segment(chunk.segments[i]);
    }
    more(count, indent);
  }

  void write_list(const Draft& draft) {
    list_title("write list", draft.write_list.empty(), draft.write_list_end);
    const std::size_t shown = std::min(draft.write_list.size(), kMostDescribedEntries);
    for (std::size_t i = 0; i < shown; ++i) {
      chunk("  chunk " + std::to_string(i + 1) + ": ", draft.write_list[i], "    ");
    }
    more(draft.write_list.size(), "  ");
  }

  void reply_chunk(const Draft& draft) {
    if (draft.reply_chunk) {
      chunk("reply chunk: ", *draft.reply_chunk, "  ");
    } else {
      list_title("reply chunk", true, draft.reply_chunk_absent);
    }
  }

  std::string text_;
};

bool carries_payload(std::uint32_t proc) {
  return proc == static_cast<std::uint32_t>(Procedure::msg) ||
         proc == static_cast<std::uint32_t>(Procedure::msgp);
}

std::string too_few_octets(View message) {
  Text text;
  text.octets("no transport header in", message, 0);
  return text.take();
}

}  // namespace

std::string procedure_name(std::uint32_t proc) {
  switch (proc) {
    case static_cast<std::uint32_t>(Procedure::msg):
      return "RDMA_MSG";
    case static_cast<std::uint32_t>(Procedure::nomsg):
      return "RDMA_NOMSG";
    case static_cast<std::uint32_t>(Procedure::msgp):
      return "RDMA_MSGP";
    case static_cast<std::uint32_t>(Procedure::done):
      return "RDMA_DONE";
    case static_cast<std::uint32_t>(Procedure::error):
      return "RDMA_ERROR";
    default:
      return "procedure " + std::to_string(proc);
  }
}

std::string describe(const Header& header, View payload) {
  const Draft draft = Draft::from(header, {});
  Text text;
  text.header(draft);
  if (carries_payload(draft.proc) || !payload.empty()) {
    text.octets("payload stream", payload, encoded_size(header));
  }
  return text.take();
}

std::string describe(View message, Document document) {
  if (message.size() < kFixedBytes) return too_few_octets(message);
  const Draft draft = draft_of(message);
  Text text;
  text.header(draft);
  Header header;
  const Expected<View, Fault> decoded = decode(message, header, document);
  if (!decoded) text.line("fault at " + decoded.error().message());
  const Bytes& rest = draft.cut_to ? draft.append : draft.payload;
  if (draft.cut_to) {
    text.octets("not decoded", rest, message.size() - rest.size());
  } else if (carries_payload(draft.proc) || !rest.empty()) {
    // RFC 5666 4.3: an undefined error has undefined words.
    const bool extra = decoded && header.proc == Procedure::error;
    text.octets(extra ? "rdma_extra" : "payload stream", rest, message.size() - rest.size());
  }
  return text.take();
}

}  // namespace steertag::wire
