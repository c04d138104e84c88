// Delegations of a client of NFS version 4.1 (RFC 8881 10.4): kept, recalled, and given back.
#include <algorithm>
#include <utility>

#include "client/v4/nfs4_files.h"

namespace steertag::peer {
namespace {

using nfs4::Opnum;
using nfs4::Status;

}  // namespace

SessionOptions Nfs4Files::answering_recalls(SessionOptions options) {
  options.recall = [this](const nfs4::CbRecallArgs& args) { return recalled(args); };
  return options;
}

void Nfs4Files::give_back(const nfs4::Delegation& delegation, const RemoteHandle& file) {
  nfs4::StateId stateid;
  if (delegation.delegation_type == nfs4::DelegationType::OPEN_DELEGATE_READ) {
    stateid = delegation.read.stateid;
  } else if (delegation.delegation_type == nfs4::DelegationType::OPEN_DELEGATE_WRITE) {
    stateid = delegation.write.stateid;
  } else {
    return;
  }
  unwanted_.insert(stateid.other);
  ClientCompound call;
  call.add_handle(file);
  call.add(Opnum::OP_DELEGRETURN, nfs4::DelegreturnArgs{stateid});
  call.keep_reply();
  session_.call(std::move(call), [this, stateid](const Expected<CompoundReply, FileError>&) {
    unwanted_.erase(stateid.other);
  });
}

bool Nfs4Files::keeps(const nfs4::Delegation& delegation) const {
  return on_recall_ && delegation.delegation_type == nfs4::DelegationType::OPEN_DELEGATE_READ;
}

void Nfs4Files::return_delegation(RemoteFile number) {
  const OpenRef file = open_file(number);
  give_back(std::exchange(file->delegation, {}), file->handle);
}

Status Nfs4Files::recalled(const nfs4::CbRecallArgs& args) {
  const auto found = std::ranges::find_if(open_, [&](const auto& open) {
    const nfs4::Delegation& kept = open.second->delegation;
    return keeps(kept) && kept.read.stateid.other == args.stateid.other;
  });
  if (found != open_.end()) {
    on_recall_(found->first);
    return Status::NFS4_OK;
  }
  return unwanted_.contains(args.stateid.other) ? Status::NFS4_OK : recalled_early(args);
}

// RFC 8881 2.10.6.3: the recall may have raced the reply to an OPEN. Servers that name no referring
// call do so too, so the filehandle decides. RFC 8881 20.2.4: NFS4ERR_DELAY does not complete the
// recall. RFC 7530 10.4.5: it is kept until the reply brings the delegation.
Status Nfs4Files::recalled_early(const nfs4::CbRecallArgs& args) {
  Status status = Status::NFS4ERR_BAD_STATEID;
  for (auto& [number, opening] : opening_) {
    if (!std::ranges::equal(opening.handle.view(), args.fh.view())) continue;
    status = Status::NFS4ERR_DELAY;
    if (opening.recalled.size() < kMostEarlyRecalls) opening.recalled.insert(args.stateid.other);
  }
  return status;
}

}  // namespace steertag::peer
