// Copies events together with the octets that they show.
#include "trace/recorder.h"

#include <type_traits>

namespace steertag::trace {
namespace {

/// The body's only view, or nullptr.
View* octets_of(Body& body) {
  return std::visit(
      [](auto& value) -> View* {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, Send>) {
          return &value.bytes;
        } else if constexpr (std::is_same_v<Value, RdmaWrite>) {
          return &value.payload;
        } else if constexpr (std::is_same_v<Value, Connect> || std::is_same_v<Value, Accept> ||
                             std::is_same_v<Value, Reject>) {
          return &value.private_data;
        } else {
          return nullptr;
        }
      },
      body);
}

}  // namespace

void Recorder::on_event(const Event& event) {
  if (dropped_ != 0 || records_.size() >= limits_.events) {
    ++dropped_;
    return;
  }
  Record record{event, {}};
  if (View* view = octets_of(record.event.body)) {
    if (view->size() > limits_.bytes - bytes_) {
      if (!std::holds_alternative<RdmaWrite>(event.body)) {
        ++dropped_;
        return;
      }
      *view = {};
    }
    record.octets.assign(view->begin(), view->end());
    *view = record.octets;
    bytes_ += record.octets.size();
  }
  records_.push_back(std::move(record));
}

void Recorder::replay(EventSink& sink) const {
  for (const Record& record : records_) sink.on_event(record.event);
}

void Recorder::clear() {
  records_.clear();
  bytes_ = 0;
  dropped_ = 0;
}

}  // namespace steertag::trace
