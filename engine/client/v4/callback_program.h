// The callback program of a client of NFS version 4.1 (RFC 8881 20).
// It answers the server's calls on a session's backchannel.
#pragma once

#include <functional>
#include <vector>

#include "client/policy.h"
#include "client/rdma/reverse_service.h"
#include "nfs/v4/compound.h"

namespace steertag::peer {

/// csa_cb_program: the first of the transient numbers (RFC 5531 8.1).
inline constexpr std::uint32_t kCallbackProgram = 0x40000000;
/// ca_maxrequests of the backchannel: recalls are rare and answered at once.
inline constexpr std::uint32_t kClientBackSlots = 4;

/// What the client does for its callbacks; each must be there.
struct CallbackActions {
  /// CB_RECALL: the status that answers it.
  std::function<nfs4::Status(const nfs4::CbRecallArgs&)> recall;
  /// CB_LAYOUTRECALL and CB_NOTIFY_DEVICEID likewise.
  std::function<nfs4::Status(const nfs4::CbLayoutrecallArgs&)> recall_layout;
  std::function<nfs4::Status(const nfs4::CbNotifyDeviceidArgs&)> notify_devices;
  /// CB_RECALL_SLOT: the target of the fore channel.
  std::function<void(std::uint32_t highest_slot)> recall_slot;
  /// Whether a call of the fore channel has no reply yet (RFC 8881 2.10.6.3).
  std::function<bool(const nfs4::ReferringCall&)> outstanding;
};

class CallbackProgram final : public ReverseService {
 public:
  explicit CallbackProgram(CallbackActions actions, CallbackPolicy policy = {})
      : actions_(std::move(actions)), policy_(policy) {}

  /// A new session, whose backchannel has so many slots.
  void reset(const nfs4::SessionId& session, std::uint32_t slots);

  /// CB_NULL is answered without a session too: the server may probe before its reply to
  /// CREATE_SESSION has come.
  Bytes answer(View call) override;

 private:
  /// A slot of the backchannel with the reply that answers a retry (RFC 8881 2.10.6.1).
  struct Slot {
    std::uint32_t sequence = 0;  // csa_sequenceid of the last call
    Bytes reply;                 // CB_COMPOUND4res; empty before the first call
  };
  using Operations = nfs4::OperationReader<nfs4::CbOpnum>;
  using Results = nfs4::ReplyWriter<nfs4::CbOpnum>;

  /// CB_COMPOUND4res; nothing if the arguments do not decode.
  std::optional<Bytes> compound(wire::Reader& reader);
  void execute(const nfs4::CbSequenceArgs& sequence, Operations& operations, wire::Reader& reader,
               Results& results);
  nfs4::Status check(const nfs4::CbSequenceArgs& args, std::uint32_t operations) const;
  nfs4::Status check_slot(const nfs4::CbSequenceArgs& args, std::uint32_t operations) const;
  /// Whether it has overtaken the reply that says what it is about (RFC 8881 2.10.6.3).
  bool races(const nfs4::CbSequenceArgs& args) const;
  nfs4::CbSequenceResult sequence_result(const nfs4::CbSequenceArgs& args) const;
  bool is_retry(const nfs4::CbSequenceArgs& args) const;
  nfs4::Status perform(nfs4::CbOpnum number, const nfs4::CbSequenceArgs& sequence,
                       wire::Reader& reader);
  /// Decodes the arguments and does what they ask, unless they have overtaken a reply.
  template <class Args, class Action>
  nfs4::Status recall(const nfs4::CbSequenceArgs& sequence, wire::Reader& reader,
                      const Action& action) const;

  CallbackActions actions_;
  CallbackPolicy policy_;
  nfs4::SessionId session_{};
  std::vector<Slot> slots_;  // none before the first session
};

}  // namespace steertag::peer
