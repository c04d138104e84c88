// Any octets read back as a draft, described, and encoded again octet for octet.
#include "wire/draft.h"

#include <algorithm>

#include "wire/describe.h"
#include "wire/fuzz/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace steertag;
  const View message = fuzz::view_of(data, size);
  const wire::Draft draft = wire::draft_of(message);
  Bytes again;
  wire::encode(draft, again);
  fuzz::check(std::ranges::equal(again, message));
  fuzz::check(!wire::describe(message).empty());

  std::size_t end = 0;
  for (const wire::FieldSpan& field : wire::fields(draft)) {
    fuzz::check(field.offset == end);
    end += field.length;
  }

  wire::Header header;
  const Expected<View, wire::Fault> payload = wire::decode(message, header);
  if (!payload) return 0;
  // A message that the strict decoder accepts has no unexplained octets.
  fuzz::check(!draft.cut_to && draft.append.empty());
  const wire::Draft strict = wire::Draft::from(header, *payload);
  fuzz::check(draft.read_list == strict.read_list && draft.write_list == strict.write_list);
  fuzz::check(draft.reply_chunk == strict.reply_chunk && draft.payload == strict.payload);
  return 0;
}
