// Operations by which a client makes itself known, of both minor versions.
// SETCLIENTID, SETCLIENTID_CONFIRM and RENEW of minor version 0; EXCHANGE_ID, DESTROY_CLIENTID and
// RECLAIM_COMPLETE of minor version 1.
#pragma once

#include <cstdint>
#include <vector>

#include "nfs/v4/result.h"
#include "nfs/v4/types.h"

namespace steertag::nfs4 {

/// nfs_client_id4
struct NfsClientId {
  Verifier verifier{};
  View id{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"verifier", &NfsClientId::verifier},
                                          Field{"id", &NfsClientId::id, kMostOpaqueOctets}};
};

/// cb_client4: where the client's callback service is.
struct CbClient {
  std::uint32_t cb_program = 0;
  NetAddr cb_location{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"cb_program", &CbClient::cb_program},
                                          Field{"cb_location", &CbClient::cb_location}};
};

/// SETCLIENTID4args
struct SetclientidArgs {
  NfsClientId client{};
  CbClient callback{};
  std::uint32_t callback_ident = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{
      Field{"client", &SetclientidArgs::client}, Field{"callback", &SetclientidArgs::callback},
      Field{"callback_ident", &SetclientidArgs::callback_ident}};
};

/// SETCLIENTID4resok
struct SetclientidOk {
  std::uint64_t clientid = 0;
  Verifier setclientid_confirm{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"clientid", &SetclientidOk::clientid},
              Field{"setclientid_confirm", &SetclientidOk::setclientid_confirm}};
};

/// SETCLIENTID4res: `client_using` is the address of the client that holds the identity.
struct SetclientidResult {
  Status status = Status::NFS4_OK;
  SetclientidOk resok4{};
  NetAddr client_using{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"status", &SetclientidResult::status},
              arm<Status::NFS4_OK>("resok4", &SetclientidResult::resok4),
              arm<Status::NFS4ERR_CLID_INUSE>("client_using", &SetclientidResult::client_using)};
};

/// SETCLIENTID_CONFIRM4args
struct SetclientidConfirmArgs {
  std::uint64_t clientid = 0;
  Verifier setclientid_confirm{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"clientid", &SetclientidConfirmArgs::clientid},
              Field{"setclientid_confirm", &SetclientidConfirmArgs::setclientid_confirm}};
};

/// RENEW4args
struct RenewArgs {
  std::uint64_t clientid = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"clientid", &RenewArgs::clientid}};
};

/// Bits of eia_flags and eir_flags (RFC 8881 18.35.1).
inline constexpr std::uint32_t EXCHGID4_FLAG_SUPP_MOVED_REFER = 0x00000001;
inline constexpr std::uint32_t EXCHGID4_FLAG_SUPP_MOVED_MIGR = 0x00000002;
inline constexpr std::uint32_t EXCHGID4_FLAG_BIND_PRINC_STATEID = 0x00000100;
inline constexpr std::uint32_t EXCHGID4_FLAG_USE_NON_PNFS = 0x00010000;
inline constexpr std::uint32_t EXCHGID4_FLAG_USE_PNFS_MDS = 0x00020000;
inline constexpr std::uint32_t EXCHGID4_FLAG_USE_PNFS_DS = 0x00040000;
inline constexpr std::uint32_t EXCHGID4_FLAG_MASK_PNFS = 0x00070000;
inline constexpr std::uint32_t EXCHGID4_FLAG_UPD_CONFIRMED_REC_A = 0x40000000;
inline constexpr std::uint32_t EXCHGID4_FLAG_CONFIRMED_R = 0x80000000;

/// client_owner4
struct ClientOwner {
  Verifier co_verifier{};
  View co_ownerid{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"co_verifier", &ClientOwner::co_verifier},
              Field{"co_ownerid", &ClientOwner::co_ownerid, kMostOpaqueOctets}};
};

/// server_owner4
struct ServerOwner {
  std::uint64_t so_minor_id = 0;
  View so_major_id{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"so_minor_id", &ServerOwner::so_minor_id},
              Field{"so_major_id", &ServerOwner::so_major_id, kMostOpaqueOctets}};
};

/// state_protect_ops4: sets of operation numbers.
struct StateProtectOps {
  Bitmap spo_must_enforce{};
  Bitmap spo_must_allow{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"spo_must_enforce", &StateProtectOps::spo_must_enforce},
              Field{"spo_must_allow", &StateProtectOps::spo_must_allow}};
};

/// sec_oid4, as an element of an array.
struct Algorithm {
  View oid{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"oid", &Algorithm::oid, kMostOidOctets}};
};

/// ssv_sp_parms4
struct SsvParms {
  StateProtectOps ssp_ops{};
  std::vector<Algorithm> ssp_hash_algs{};
  std::vector<Algorithm> ssp_encr_algs{};
  std::uint32_t ssp_window = 0;
  std::uint32_t ssp_num_gss_handles = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"ssp_ops", &SsvParms::ssp_ops},
              Field{"ssp_hash_algs", &SsvParms::ssp_hash_algs, kMostAlgorithms},
              Field{"ssp_encr_algs", &SsvParms::ssp_encr_algs, kMostAlgorithms},
              Field{"ssp_window", &SsvParms::ssp_window},
              Field{"ssp_num_gss_handles", &SsvParms::ssp_num_gss_handles}};
};

/// state_protect4_a
struct StateProtectArgs {
  StateProtectHow spa_how = StateProtectHow::SP4_NONE;
  StateProtectOps spa_mach_ops{};
  SsvParms spa_ssv_parms{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"spa_how", &StateProtectArgs::spa_how},
              arm<StateProtectHow::SP4_MACH_CRED>("spa_mach_ops", &StateProtectArgs::spa_mach_ops),
              arm<StateProtectHow::SP4_SSV>("spa_ssv_parms", &StateProtectArgs::spa_ssv_parms)};
};

/// EXCHANGE_ID4args
struct ExchangeIdArgs {
  ClientOwner eia_clientowner{};
  std::uint32_t eia_flags = 0;
  StateProtectArgs eia_state_protect{};
  BoundedArray<ImplId, 1> eia_client_impl_id{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"eia_clientowner", &ExchangeIdArgs::eia_clientowner},
              Field{"eia_flags", &ExchangeIdArgs::eia_flags},
              Field{"eia_state_protect", &ExchangeIdArgs::eia_state_protect},
              Field{"eia_client_impl_id", &ExchangeIdArgs::eia_client_impl_id}};
};

/// gsshandle4_t, as an element of an array.
struct GssHandle {
  View handle{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"handle", &GssHandle::handle, kMostGssHandleOctets}};
};

/// ssv_prot_info4
struct SsvInfo {
  StateProtectOps spi_ops{};
  std::uint32_t spi_hash_alg = 0;
  std::uint32_t spi_encr_alg = 0;
  std::uint32_t spi_ssv_len = 0;
  std::uint32_t spi_window = 0;
  std::vector<GssHandle> spi_handles{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"spi_ops", &SsvInfo::spi_ops},
              Field{"spi_hash_alg", &SsvInfo::spi_hash_alg},
              Field{"spi_encr_alg", &SsvInfo::spi_encr_alg},
              Field{"spi_ssv_len", &SsvInfo::spi_ssv_len},
              Field{"spi_window", &SsvInfo::spi_window},
              Field{"spi_handles", &SsvInfo::spi_handles, kMostGssHandles}};
};

/// state_protect4_r
struct StateProtectResult {
  StateProtectHow spr_how = StateProtectHow::SP4_NONE;
  StateProtectOps spr_mach_ops{};
  SsvInfo spr_ssv_info{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{
      Field{"spr_how", &StateProtectResult::spr_how},
      arm<StateProtectHow::SP4_MACH_CRED>("spr_mach_ops", &StateProtectResult::spr_mach_ops),
      arm<StateProtectHow::SP4_SSV>("spr_ssv_info", &StateProtectResult::spr_ssv_info)};
};

/// EXCHANGE_ID4resok
struct ExchangeIdOk {
  std::uint64_t eir_clientid = 0;
  std::uint32_t eir_sequenceid = 0;
  std::uint32_t eir_flags = 0;
  StateProtectResult eir_state_protect{};
  ServerOwner eir_server_owner{};
  View eir_server_scope{};
  BoundedArray<ImplId, 1> eir_server_impl_id{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"eir_clientid", &ExchangeIdOk::eir_clientid},
              Field{"eir_sequenceid", &ExchangeIdOk::eir_sequenceid},
              Field{"eir_flags", &ExchangeIdOk::eir_flags},
              Field{"eir_state_protect", &ExchangeIdOk::eir_state_protect},
              Field{"eir_server_owner", &ExchangeIdOk::eir_server_owner},
              Field{"eir_server_scope", &ExchangeIdOk::eir_server_scope, kMostOpaqueOctets},
              Field{"eir_server_impl_id", &ExchangeIdOk::eir_server_impl_id}};
};

/// DESTROY_CLIENTID4args
struct DestroyClientidArgs {
  std::uint64_t dca_clientid = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"dca_clientid", &DestroyClientidArgs::dca_clientid}};
};

/// RECLAIM_COMPLETE4args
struct ReclaimCompleteArgs {
  bool rca_one_fs = false;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"rca_one_fs", &ReclaimCompleteArgs::rca_one_fs}};
};

using SetclientidConfirmResult = Result<Void>;
using RenewResult = Result<Void>;
using ExchangeIdResult = Result<ExchangeIdOk>;
using DestroyClientidResult = Result<Void>;
using ReclaimCompleteResult = Result<Void>;

}  // namespace steertag::nfs4
