// Copies events and their octets.
#include "trace/recorder.h"

#include "trace/body_octets.h"

namespace steertag::trace {

void Recorder::on_event(const Event& event) {
  if (dropped_ != 0 || records_.size() >= limits_.events) {
    ++dropped_;
    return;
  }
  Record record{event, {}};
  if (auto* response = std::get_if<RdmaReadResponse>(&record.event.body)) response->payload = {};
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
