// What the sessions of a deviating server have seen, as its interposer learns it from COMPOUNDs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "nfs/v4/operations.h"
#include "server/interposer.h"

namespace steertag::deviations {

/// Sessions that are remembered. A server has them for its clients under test; the table starts
/// anew when more come.
inline constexpr std::size_t kMostSessionHistories = 4096;
/// Opens that are remembered, in the same way.
inline constexpr std::size_t kMostOpenHistories = 65536;

/// A slot of the fore channel, with sequence IDs as the client counts them.
struct SlotHistory {
  std::optional<std::uint32_t> sequence;  // of the last SEQUENCE that succeeded
  bool retried = false;                   // the present call has that sequence ID again
  std::uint32_t shift = 0;                // the client's sequence ID minus the server's
  bool reply_dropped = false;             // the cached one
  rpc::AuthFlavor flavor = rpc::AuthFlavor::AUTH_NONE;  // of the last request that succeeded
  Bytes credential;                                     // likewise
};

struct SessionHistory {
  std::uint64_t client = 0;
  std::uint32_t cb_program = 0;
  std::set<std::uint64_t> connections;           // by CallStep::connection
  std::map<std::uint32_t, SlotHistory> slots;    // by sa_slotid
  std::map<std::uint32_t, std::uint32_t> calls;  // csa_sequenceid of the last recall, by csa_slotid
  std::map<std::uint32_t, std::uint64_t> called_over;  // its connection, likewise
  std::uint32_t status_flags = 0;                      // that SEQUENCE has ever had
  bool returned_layout = false;                        // LAYOUTRETURN has succeeded
  bool got_layout = false;                             // LAYOUTGET has succeeded
};

/// An OPEN that succeeded.
struct OpenHistory {
  std::uint64_t client = 0;
  bool session_destroyed = false;  // any of the client's, since then
};

class SessionTable {
 public:
  /// Of the call that arrived, before anything changes it.
  void note_call(View call);
  /// Of the server's own reply, before anything changes it.
  void note_reply(const peer::ReplyStep& reply);

  /// nullptr: no CREATE_SESSION has returned that ID.
  SessionHistory* find(const nfs4::SessionId& id);
  /// Of the call's SEQUENCE. nullptr: it has none, or its session is not known.
  SessionHistory* session_of(View call);
  SlotHistory* slot_of(View call);
  bool any_other_has(const SessionHistory& session, std::uint64_t connection) const;
  /// The ID of a session of another client than this one.
  std::optional<nfs4::SessionId> of_other_client(std::uint64_t client) const;
  /// The ID of a session whose last eight octets are those of `id`.
  std::optional<nfs4::SessionId> with_end_of(const nfs4::SessionId& id) const;
  std::size_t count_of_client(std::uint64_t client) const;
  void forget(const nfs4::SessionId& id) { sessions_.erase(id); }

  /// csa_sequence of the last CREATE_SESSION behind SEQUENCE, by csa_clientid.
  std::map<std::uint64_t, std::uint32_t> created_in_session;
  /// csa_cb_program of the client's first CREATE_SESSION, by csa_clientid.
  std::map<std::uint64_t, std::uint32_t> first_programs;
  /// csa_sequenceid of the client's last recall, likewise.
  std::map<std::uint64_t, std::uint32_t> recalls;
  /// By what stateids of the open have in common.
  std::map<std::array<std::byte, nfs4::kStateIdOtherOctets>, OpenHistory> opens;
  /// Of the last GETDEVICEINFO that succeeded.
  std::optional<nfs4::DeviceId> device;

 private:
  std::map<nfs4::SessionId, SessionHistory> sessions_;
};

}  // namespace steertag::deviations
