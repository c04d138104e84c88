// Takes a recall apart, and puts it together.
#include "deviations/server/recall.h"

#include "nfs/v4/compound.h"
#include "rpc/message.h"

namespace steertag::deviations {

std::optional<Recall> recall_of(View message) {
  wire::Reader reader(message);
  rpc::CallHeader header;
  header.decode(reader);
  if (!reader.ok() || header.procedure != nfs4::CB_COMPOUND) return std::nullopt;
  nfs4::CbCompoundArgs compound;
  compound.decode(reader);
  nfs4::OperationReader<nfs4::CbOpnum> operations(reader, "argarray");
  if (operations.next() != nfs4::CbOpnum::OP_CB_SEQUENCE) return std::nullopt;
  Recall recall;
  recall.sequence.emplace().decode(reader);
  if (operations.next() != nfs4::CbOpnum::OP_CB_RECALL) return std::nullopt;
  recall.recall.decode(reader);
  return reader.ok() ? std::optional(std::move(recall)) : std::nullopt;
}

void replace_recall(peer::CallbackStep& callback, const Recall& recall) {
  wire::Reader reader(callback.message);
  rpc::CallHeader header;
  header.decode(reader);
  nfs4::CbCompoundArgs compound;
  compound.decode(reader);
  const View fixed = View(callback.message).first(reader.offset());
  Bytes message(fixed.begin(), fixed.end());
  nfs4::CallWriter<nfs4::CbOpnum> operations(message);
  if (recall.sequence) operations.add(nfs4::CbOpnum::OP_CB_SEQUENCE, *recall.sequence);
  operations.add(nfs4::CbOpnum::OP_CB_RECALL, recall.recall);
  callback.message = std::move(message);
}

}  // namespace steertag::deviations
