// Any packets of two pairs of queue pairs.
//
// Each message is reported once, from packets of the input, and never after the end. Queued octets
// stay within limits. The input is records of four octets, see `Record`.
// fixtures/corpus/make_infiniband_seeds.py writes them too.
#include <algorithm>
#include <deque>
#include <set>

#include "capture/infiniband/requests.h"
#include "capture/infiniband/testing.h"
#include "wire/fuzz/check.h"

namespace {

using namespace steertag;
using namespace steertag::capture;
using namespace steertag::capture::infiniband;
using namespace steertag::capture::infiniband::testing;

class CheckingSink : public ConnectionSink {
 public:
  explicit CheckingSink(const std::uint64_t& now) : now_(now) {}
  void on_event(const FrameStamp& stamp, const trace::Event& event) override {
    fuzz::check(!ended_ && stamp.frame >= 1 && stamp.frame <= now_);
    fuzz::check(event.index == next_index_++);
    if (const auto* send = std::get_if<trace::Send>(&event.body)) {
      fuzz::check(send->bytes.size() <= kMostSendBytes);
      fuzz::check(sends_.insert(stamp.frame).second);
      read(send->bytes);
    }
    if (const auto* write = std::get_if<trace::RdmaWrite>(&event.body)) {
      fuzz::check(write->payload.empty() || write->payload.size() == write->length);
      read(write->payload);
    }
    if (const auto* connect = std::get_if<trace::Connect>(&event.body)) read(connect->private_data);
    if (const auto* accept = std::get_if<trace::Accept>(&event.body)) read(accept->private_data);
  }
  void on_loss(const FrameStamp& stamp, trace::Role, LossKind) override {
    fuzz::check(!ended_ && stamp.frame <= now_);
  }
  void on_end(const FrameStamp& stamp) override {
    fuzz::check(!ended_ && stamp.frame <= now_);
    ended_ = true;
  }
  bool ended() const { return ended_; }

 private:
  /// A view of what is gone is seen.
  static void read(View octets) {
    unsigned sum = 0;
    for (const std::byte each : octets) sum += std::to_integer<unsigned>(each);
    fuzz::check(sum <= 255u * octets.size());
  }

  const std::uint64_t& now_;
  std::uint64_t next_index_ = 0;
  std::set<std::uint64_t> sends_;
  bool ended_ = false;
};

struct CheckingSinks : ConnectionSinks {
  ConnectionSink& open(const FrameStamp&, const ConnectionName& name) override {
    fuzz::check(!name.ends.client.empty() && !name.ends.server.empty());
    return sinks.emplace_back(now);
  }
  std::uint64_t now = 0;
  std::deque<CheckingSink> sinks;
};

struct Record {
  Side side;             // bit 0 of the first octet
  std::size_t talk;      // bit 1
  unsigned what;         // bits 2 to 6
  Medium medium;         // bit 7
  std::int8_t psn;       // added to the number that is due
  std::size_t size;      // a length in words, a syndrome, a packet's index ...
  std::size_t captured;  // octets in the capture; 0 for all
};

/// What a record adds to its conversation.
void write(const Record& record, View& rest, Conversation& talk) {
  Party& party = talk.party(record.side);
  party.psn = (party.psn + static_cast<std::uint32_t>(record.psn)) & ib::kPsnMask;
  const auto syndrome = static_cast<std::uint8_t>(record.size);
  ib::CmMessage reject = Conversation::of_kind(ib::CmKind::connect_reject);
  reject.reason = static_cast<std::uint16_t>(record.size);
  switch (record.what) {
    case 0:
      return talk.connect_request();
    case 1:
      return talk.connect_reply();
    case 2:
      return talk.ready();
    case 3:
      return talk.cm(record.side, reject);
    case 4:
      return talk.disconnect(record.side);
    case 5:
      return talk.send(record.side, call(party.psn, 4 * record.size));
    case 6:
      return talk.send(record.side, reply(talk.party(other(record.side)).psn, record.size));
    case 7:
      return talk.send(record.side, call(1, record.size), 0xabc);
    case 8:
      return talk.write(record.side, 0xabc, 0x1000, Bytes(4 * record.size));
    case 9:
      talk.read(record.side, 0xabc, 0x1000, static_cast<std::uint32_t>(16 * record.size));
      return;
    case 10:
      return talk.read_response(record.side, talk.party(other(record.side)).psn,
                                static_cast<std::uint32_t>(4 * record.size));
    case 11:
      return talk.acknowledge(record.side);
    case 12:
      return talk.acknowledge(record.side, talk.party(other(record.side)).psn, syndrome);
    case 13:
      ++talk.client_id;
      ++talk.client.queue_pair;
      return;
    case 14:
      talk.mtu = 256u << record.size % 5;
      return;
    case 15: {
      const Bytes octets(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(
                                                          std::min(rest.size(), record.size)));
      rest = rest.subspan(octets.size());
      talk.packets.push_back({party.host, talk.party(other(record.side)).host, octets});
      return;
    }
    default:  // an opcode, with some octets for its headers
      return talk.request(record.side,
                          static_cast<ib::Opcode>(record.what - 16 + 8 * (record.size & 3)),
                          Bytes(record.size / 4), Bytes(16));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  View rest = fuzz::view_of(data, size);
  Conversation talks[2];
  talks[1].client = {1, 0x12, 1010};
  talks[1].server = {2, 0x23, 0xfffffa};
  talks[1].client_id = 0xc2;
  CheckingSinks sinks;
  QueuePairs reader(sinks);
  while (rest.size() >= 4) {
    const auto octet = [&](std::size_t at) { return std::to_integer<unsigned>(rest[at]); };
    const Record record{octet(0) & 1 ? Side::b : Side::a,
                        octet(0) >> 1 & 1,
                        octet(0) >> 2 & 31,
                        octet(0) & 128 ? Medium::infiniband : Medium::rocev2,
                        static_cast<std::int8_t>(octet(1)),
                        octet(2),
                        octet(3)};
    rest = rest.subspan(4);
    Conversation& talk = talks[record.talk];
    write(record, rest, talk);
    for (const Carried& each : talk.packets) {
      hand_over(reader, record.medium, each, ++sinks.now,
                record.captured == 0 ? SIZE_MAX : record.captured);
    }
    talk.packets.clear();
  }
  reader.finish();
  for (const CheckingSink& sink : sinks.sinks) fuzz::check(sink.ended());
  return 0;
}
