// Operations on sessions and their connections.
// CREATE_SESSION, SEQUENCE, BIND_CONN_TO_SESSION, BACKCHANNEL_CTL, DESTROY_SESSION, SET_SSV.
#pragma once

#include <cstdint>
#include <vector>

#include "nfs/v4/result.h"
#include "nfs/v4/types.h"
#include "rpc/auth.h"

namespace steertag::nfs4 {

/// gss_cb_handles4
struct GssCbHandles {
  GssService gcbp_service = GssService::RPC_GSS_SVC_NONE;
  View gcbp_handle_from_server{};
  View gcbp_handle_from_client{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"gcbp_service", &GssCbHandles::gcbp_service},
              Field{"gcbp_handle_from_server", &GssCbHandles::gcbp_handle_from_server,
                    kMostGssHandleOctets},
              Field{"gcbp_handle_from_client", &GssCbHandles::gcbp_handle_from_client,
                    kMostGssHandleOctets}};
};

/// callback_sec_parms4: the credential of the server's callbacks. The XDR leaves other flavours
/// without an arm, so that they do not decode.
struct CallbackSecParms {
  CallbackFlavor cb_secflavor = CallbackFlavor::AUTH_NONE;
  rpc::AuthSys cbsp_sys_cred{};
  GssCbHandles cbsp_gss_handles{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{
      Field{"cb_secflavor", &CallbackSecParms::cb_secflavor},
      arm<CallbackFlavor::AUTH_SYS>("cbsp_sys_cred", &CallbackSecParms::cbsp_sys_cred),
      arm<CallbackFlavor::RPCSEC_GSS>("cbsp_gss_handles", &CallbackSecParms::cbsp_gss_handles)};
};

/// BACKCHANNEL_CTL4args
struct BackchannelCtlArgs {
  std::uint32_t bca_cb_program = 0;
  std::vector<CallbackSecParms> bca_sec_parms{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"bca_cb_program", &BackchannelCtlArgs::bca_cb_program},
              Field{"bca_sec_parms", &BackchannelCtlArgs::bca_sec_parms, kMostFlavors}};
};

/// BIND_CONN_TO_SESSION4args
struct BindConnToSessionArgs {
  SessionId bctsa_sessid{};
  ChannelDirFromClient bctsa_dir = ChannelDirFromClient::CDFC4_FORE;
  bool bctsa_use_conn_in_rdma_mode = false;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{
      Field{"bctsa_sessid", &BindConnToSessionArgs::bctsa_sessid},
      Field{"bctsa_dir", &BindConnToSessionArgs::bctsa_dir},
      Field{"bctsa_use_conn_in_rdma_mode", &BindConnToSessionArgs::bctsa_use_conn_in_rdma_mode}};
};

/// BIND_CONN_TO_SESSION4resok
struct BindConnToSessionOk {
  SessionId bctsr_sessid{};
  ChannelDirFromServer bctsr_dir = ChannelDirFromServer::CDFS4_FORE;
  bool bctsr_use_conn_in_rdma_mode = false;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{
      Field{"bctsr_sessid", &BindConnToSessionOk::bctsr_sessid},
      Field{"bctsr_dir", &BindConnToSessionOk::bctsr_dir},
      Field{"bctsr_use_conn_in_rdma_mode", &BindConnToSessionOk::bctsr_use_conn_in_rdma_mode}};
};

/// channel_attrs4 (RFC 8881 18.36.1). `ca_rdma_ird` is there only on channels in RDMA mode.
struct ChannelAttrs {
  std::uint32_t ca_headerpadsize = 0;
  std::uint32_t ca_maxrequestsize = 0;
  std::uint32_t ca_maxresponsesize = 0;
  std::uint32_t ca_maxresponsesize_cached = 0;
  std::uint32_t ca_maxoperations = 0;
  std::uint32_t ca_maxrequests = 0;
  BoundedArray<std::uint32_t, 1> ca_rdma_ird{};

  bool operator==(const ChannelAttrs&) const = default;
  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"ca_headerpadsize", &ChannelAttrs::ca_headerpadsize},
              Field{"ca_maxrequestsize", &ChannelAttrs::ca_maxrequestsize},
              Field{"ca_maxresponsesize", &ChannelAttrs::ca_maxresponsesize},
              Field{"ca_maxresponsesize_cached", &ChannelAttrs::ca_maxresponsesize_cached},
              Field{"ca_maxoperations", &ChannelAttrs::ca_maxoperations},
              Field{"ca_maxrequests", &ChannelAttrs::ca_maxrequests},
              Field{"ca_rdma_ird", &ChannelAttrs::ca_rdma_ird}};
};

/// Bits of csa_flags and csr_flags (RFC 8881 18.36.1).
inline constexpr std::uint32_t CREATE_SESSION4_FLAG_PERSIST = 1;
inline constexpr std::uint32_t CREATE_SESSION4_FLAG_CONN_BACK_CHAN = 2;
inline constexpr std::uint32_t CREATE_SESSION4_FLAG_CONN_RDMA = 4;

/// CREATE_SESSION4args
struct CreateSessionArgs {
  std::uint64_t csa_clientid = 0;
  std::uint32_t csa_sequence = 0;
  std::uint32_t csa_flags = 0;
  ChannelAttrs csa_fore_chan_attrs{};
  ChannelAttrs csa_back_chan_attrs{};
  std::uint32_t csa_cb_program = 0;
  std::vector<CallbackSecParms> csa_sec_parms{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"csa_clientid", &CreateSessionArgs::csa_clientid},
              Field{"csa_sequence", &CreateSessionArgs::csa_sequence},
              Field{"csa_flags", &CreateSessionArgs::csa_flags},
              Field{"csa_fore_chan_attrs", &CreateSessionArgs::csa_fore_chan_attrs},
              Field{"csa_back_chan_attrs", &CreateSessionArgs::csa_back_chan_attrs},
              Field{"csa_cb_program", &CreateSessionArgs::csa_cb_program},
              Field{"csa_sec_parms", &CreateSessionArgs::csa_sec_parms, kMostFlavors}};
};

/// CREATE_SESSION4resok
struct CreateSessionOk {
  SessionId csr_sessionid{};
  std::uint32_t csr_sequence = 0;
  std::uint32_t csr_flags = 0;
  ChannelAttrs csr_fore_chan_attrs{};
  ChannelAttrs csr_back_chan_attrs{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"csr_sessionid", &CreateSessionOk::csr_sessionid},
              Field{"csr_sequence", &CreateSessionOk::csr_sequence},
              Field{"csr_flags", &CreateSessionOk::csr_flags},
              Field{"csr_fore_chan_attrs", &CreateSessionOk::csr_fore_chan_attrs},
              Field{"csr_back_chan_attrs", &CreateSessionOk::csr_back_chan_attrs}};
};

/// DESTROY_SESSION4args
struct DestroySessionArgs {
  SessionId dsa_sessionid{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"dsa_sessionid", &DestroySessionArgs::dsa_sessionid}};
};

/// SEQUENCE4args
struct SequenceArgs {
  SessionId sa_sessionid{};
  std::uint32_t sa_sequenceid = 0;
  std::uint32_t sa_slotid = 0;
  std::uint32_t sa_highest_slotid = 0;
  bool sa_cachethis = false;

  bool operator==(const SequenceArgs&) const = default;
  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"sa_sessionid", &SequenceArgs::sa_sessionid},
              Field{"sa_sequenceid", &SequenceArgs::sa_sequenceid},
              Field{"sa_slotid", &SequenceArgs::sa_slotid},
              Field{"sa_highest_slotid", &SequenceArgs::sa_highest_slotid},
              Field{"sa_cachethis", &SequenceArgs::sa_cachethis}};
};

/// Bits of sr_status_flags (RFC 8881 18.46.1).
inline constexpr std::uint32_t SEQ4_STATUS_CB_PATH_DOWN = 0x0001;
inline constexpr std::uint32_t SEQ4_STATUS_CB_GSS_CONTEXTS_EXPIRING = 0x0002;
inline constexpr std::uint32_t SEQ4_STATUS_CB_GSS_CONTEXTS_EXPIRED = 0x0004;
inline constexpr std::uint32_t SEQ4_STATUS_EXPIRED_ALL_STATE_REVOKED = 0x0008;
inline constexpr std::uint32_t SEQ4_STATUS_EXPIRED_SOME_STATE_REVOKED = 0x0010;
inline constexpr std::uint32_t SEQ4_STATUS_ADMIN_STATE_REVOKED = 0x0020;
inline constexpr std::uint32_t SEQ4_STATUS_RECALLABLE_STATE_REVOKED = 0x0040;
inline constexpr std::uint32_t SEQ4_STATUS_LEASE_MOVED = 0x0080;
inline constexpr std::uint32_t SEQ4_STATUS_RESTART_RECLAIM_NEEDED = 0x0100;
inline constexpr std::uint32_t SEQ4_STATUS_CB_PATH_DOWN_SESSION = 0x0200;
inline constexpr std::uint32_t SEQ4_STATUS_BACKCHANNEL_FAULT = 0x0400;
inline constexpr std::uint32_t SEQ4_STATUS_DEVID_CHANGED = 0x0800;
inline constexpr std::uint32_t SEQ4_STATUS_DEVID_DELETED = 0x1000;

/// SEQUENCE4resok
struct SequenceOk {
  SessionId sr_sessionid{};
  std::uint32_t sr_sequenceid = 0;
  std::uint32_t sr_slotid = 0;
  std::uint32_t sr_highest_slotid = 0;
  std::uint32_t sr_target_highest_slotid = 0;
  std::uint32_t sr_status_flags = 0;

  bool operator==(const SequenceOk&) const = default;
  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"sr_sessionid", &SequenceOk::sr_sessionid},
              Field{"sr_sequenceid", &SequenceOk::sr_sequenceid},
              Field{"sr_slotid", &SequenceOk::sr_slotid},
              Field{"sr_highest_slotid", &SequenceOk::sr_highest_slotid},
              Field{"sr_target_highest_slotid", &SequenceOk::sr_target_highest_slotid},
              Field{"sr_status_flags", &SequenceOk::sr_status_flags}};
};

/// SET_SSV4args
struct SetSsvArgs {
  View ssa_ssv{};
  View ssa_digest{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"ssa_ssv", &SetSsvArgs::ssa_ssv, kMostSsvOctets},
              Field{"ssa_digest", &SetSsvArgs::ssa_digest, kMostSsvOctets}};
};

/// SET_SSV4resok
struct SetSsvOk {
  View ssr_digest{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"ssr_digest", &SetSsvOk::ssr_digest, kMostSsvOctets}};
};

using BackchannelCtlResult = Result<Void>;
using BindConnToSessionResult = Result<BindConnToSessionOk>;
using CreateSessionResult = Result<CreateSessionOk>;
using DestroySessionResult = Result<Void>;
using SequenceResult = Result<SequenceOk>;
using SetSsvResult = Result<SetSsvOk>;

}  // namespace steertag::nfs4
