// A recall of the server as values: a CB_COMPOUND of CB_SEQUENCE and CB_RECALL.
#pragma once

#include <optional>

#include "nfs/v4/callback_ops.h"
#include "server/interposer.h"

namespace steertag::deviations {

struct Recall {
  std::optional<nfs4::CbSequenceArgs> sequence;
  nfs4::CbRecallArgs recall;
};

/// Nothing if the message is no recall, such as CB_NULL.
std::optional<Recall> recall_of(View message);

void replace_recall(peer::CallbackStep& callback, const Recall& recall);

/// `change(Recall&)` of a callback that is one.
template <class Change>
void change_recall(peer::CallbackStep& callback, Change change) {
  auto recall = recall_of(callback.message);
  if (!recall) return;
  change(*recall);
  replace_recall(callback, *recall);
}

}  // namespace steertag::deviations
