// Test helper of the readers: a sink that writes one line per event.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "capture/connection.h"
#include "trace/describe.h"

namespace steertag::capture::testing {

/// "12 client send 40 octets [...]": the frame, then the event without its index. A loss is "12
/// client loss missing", and the end is "12 end".
class Lines : public ConnectionSink {
 public:
  explicit Lines(const ConnectionName& given) : name(given) {}
  void on_event(const FrameStamp& stamp, const trace::Event& event) override {
    const std::string text = trace::describe(event);
    lines.push_back(std::to_string(stamp.frame) + text.substr(text.find(' ')));
    if (const auto* send = std::get_if<trace::Send>(&event.body)) {
      sends.emplace_back(send->bytes.begin(), send->bytes.end());
    }
  }
  void on_loss(const FrameStamp& stamp, trace::Role actor, LossKind kind) override {
    lines.push_back(std::to_string(stamp.frame) + ' ' + std::string(trace::role_name(actor)) +
                    " loss: " + std::string(sentence(kind)));
  }
  void on_acknowledged(const FrameStamp& stamp, trace::Role actor,
                       const FrameStamp& up_to) override {
    turns.push_back(std::to_string(stamp.frame) + ' ' + std::string(trace::role_name(actor)) +
                    " received up to " + std::to_string(up_to.frame));
  }
  void on_message_packet(const FrameStamp& stamp, trace::Role actor, bool in_order) override {
    turns.push_back(std::to_string(stamp.frame) + ' ' + std::string(trace::role_name(actor)) +
                    (in_order ? " turn" : " late turn"));
  }
  void on_wrong_crcs(trace::Role actor, const PacketTally& packets) override {
    wrong_crcs.push_back(
        std::string(trace::role_name(actor)) + ' ' + std::to_string(packets.count) + ", frames " +
        std::to_string(packets.first_frame) + " to " + std::to_string(packets.last_frame));
  }
  void on_end(const FrameStamp& stamp) override {
    lines.push_back(std::to_string(stamp.frame) + " end");
    ended = true;
  }

  ConnectionName name;
  std::vector<std::string> lines;
  std::vector<Bytes> sends;
  std::vector<std::string> turns;  // of on_acknowledged and on_message_packet
  std::vector<std::string> wrong_crcs;
  bool ended = false;
};

/// All connections that were opened, in order.
class AllLines : public ConnectionSinks {
 public:
  ConnectionSink& open(const FrameStamp&, const ConnectionName& name) override {
    return connections.emplace_back(name);
  }
  std::deque<Lines> connections;
};

}  // namespace steertag::capture::testing
