// A session (RFC 8881 2.10): its channels, the slots with their cached replies, its connections.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "server/rdma/backchannel.h"
#include "server/rdma/reply_payload.h"
#include "server/v4/state/records.h"

namespace steertag::peer {

/// A slot of the fore channel.
struct Slot {
  std::uint32_t sequence = 0;  // of the last request
  bool under_way = false;      // that has no reply yet
  bool cached = false;         // `reply` answers its retry
  ReplyPayload reply;
  // What tells a retry from another request (RFC 8881 2.10.6.1.3.1), as far as we look.
  std::uint32_t uid = 0;
  std::size_t request_bytes = 0;
  std::uint32_t operation_count = 0;
};

/// A connection of a session, by ConnectionInfo::id.
struct Binding {
  std::uint64_t connection = 0;
  bool fore = false;
  bool back = false;
  std::weak_ptr<Backchannel> backchannel;
};

/// A slot of the backchannel. What was sent is kept until it is answered. A callback whose reply
/// was lost has to be sent again as it was (RFC 8881 2.10.6.2).
struct BackSlot {
  std::uint32_t sequence = 0;  // of the last callback that was answered
  bool calling = false;
  Bytes message;                                         // not empty: unanswered
  StateNumber recalled = 0;                              // the state that the message recalls
  nfs4::CbOpnum callback = nfs4::CbOpnum::OP_CB_RECALL;  // of the message, behind CB_SEQUENCE
};

/// Whether the client answers calls on the backchannel.
enum class BackState : std::uint8_t { none, probing, up, down };

struct Session {
  nfs4::SessionId id{};
  Client* client = nullptr;
  nfs4::ChannelAttrs fore;
  nfs4::ChannelAttrs back;
  std::vector<Slot> slots;
  std::size_t reserved_bytes = 0;  // of the reply caches
  std::vector<Binding> bindings;   // the one used last is the last

  std::uint32_t cb_program = 0;
  bool callable = false;  // a credential that we can use came with the session
  rpc::AuthFlavor credential_flavor = rpc::AuthFlavor::AUTH_NONE;
  Bytes credential;  // of callbacks, the body
  BackState back_state = BackState::none;
  std::uint64_t probe = 0;  // counts them: only the last one decides
  bool fault = false;       // the client broke the rules of the backchannel
  std::vector<BackSlot> back_slots;
  /// Tells callbacks that come back late that the session is gone.
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);
};

}  // namespace steertag::peer
