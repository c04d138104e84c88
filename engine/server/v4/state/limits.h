// The named limits of the NFSv4 state, and why each has its value.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace steertag::peer {

/// Lease, and length of the grace period, which RFC 8881 8.4.2.1 wants at least as long: what Linux
/// servers have.
inline constexpr std::chrono::seconds kLeaseTime{90};
/// Records of clients, confirmed and not: one for each connection of the server, and some that wait
/// for the end of their lease.
inline constexpr std::size_t kMostClients = 16'384;
/// At most this many of these may be unconfirmed. They cost their sender one call each, so a new
/// one evicts the oldest. But thousands come at once after a restart of the server.
inline constexpr std::size_t kMostUnconfirmedClients = 2048;
/// Cancelled leases that are remembered, so that their clients get NFS4ERR_EXPIRED: one for each
/// record.
inline constexpr std::size_t kMostCancelledClients = kMostClients;
/// Records that may come from one host: a quarter. It is enough for thousands of clients behind one
/// address. No single host can shut the others out.
inline constexpr std::size_t kMostClientsPerHost = kMostClients / 4;
inline constexpr std::size_t kMostUnconfirmedPerHost = kMostUnconfirmedClients / 4;
/// Sessions of one client: one is in use, others are left from restarts or made for trunking.
inline constexpr std::size_t kMostSessionsPerClient = 16;
/// Slots of one session, unless the options say otherwise: as many as a Linux client asks for.
inline constexpr std::uint32_t kMostSlots = 64;
/// Slots of one session that the options can allow: as many as there can be credits. Each reserves
/// a cached reply.
inline constexpr std::uint32_t kMostOfferedSlots = 1024;
/// ca_maxresponsesize_cached: replies that clients want cached are those of OPEN, CREATE, REMOVE,
/// LOCK ..., with attributes far below this.
inline constexpr std::uint32_t kLargestCachedReply = 4096;
/// Replies of at most this size are cached even if the client does not ask: a retry then gets its
/// answer.
inline constexpr std::size_t kSmallReply = 512;
/// Cached octets of all sessions, reserved by what their slots may need. With room for no slot
/// CREATE_SESSION is NFS4ERR_NOSPC (RFC 8881 18.36.4).
inline constexpr std::size_t kMostCachedBytes = std::size_t{256} << 20;
/// Until so many are reserved a session has all the slots that it asks for. This is enough for some
/// 250 clients. Later ones have few slots, so that the rest is enough for twelve thousand.
inline constexpr std::size_t kFreelyCachedBytes = std::size_t{64} << 20;
inline constexpr std::uint32_t kFewSlots = 4;
/// The same for the clients of one host: what a quarter has freely, and few slots for each client
/// that it may have.
inline constexpr std::size_t kFreelyCachedBytesPerHost = kFreelyCachedBytes / 4;
inline constexpr std::size_t kMostCachedBytesPerHost =
    kFreelyCachedBytesPerHost + kMostClientsPerHost * kFewSlots * kLargestCachedReply;
/// ca_maxoperations: those of the longest COMPOUND that deployed clients send, with room.
inline constexpr std::uint32_t kMostOperationsPerCompound = 50;
/// Smallest ca_maxrequestsize and ca_maxresponsesize of a fore channel. A SEQUENCE with one
/// operation fits in: without arguments and a credential 92 octets, its reply 88.
inline constexpr std::uint32_t kSmallestChannelSize = 92;
/// The same of a backchannel: CB_SEQUENCE and CB_RECALL with a credential of AUTH_SYS.
inline constexpr std::uint32_t kSmallestBackchannelSize = 512;
/// ca_rdma_ird: RDMA Reads that may be outstanding on a connection, as providers have it.
inline constexpr std::uint32_t kMostIrd = 16;
/// Connections that one session remembers; the longest unused goes when another comes.
inline constexpr std::size_t kMostConnectionsPerSession = 16;
/// Callbacks of one session that are under way: recalls are short.
inline constexpr std::uint32_t kMostBackSlots = 4;
/// Recalls that wait for a callback slot: one for each delegation of a client.
inline constexpr std::size_t kMostDelegationsPerClient = 4096;
/// Layouts of one client, each of one file: as many as opens, since a layout needs one.
inline constexpr std::size_t kMostLayoutsPerClient = 4096;
/// Ranges of the layouts of one file: a client returns the whole file or a few parts. Beyond that a
/// part that is returned stays granted (RFC 8881 12.5.5.1).
inline constexpr std::size_t kMostRangesPerLayout = 64;
/// CB_NOTIFY_DEVICEIDs that wait for the answer of one client: a device at a time has some.
inline constexpr std::size_t kMostNoticesPerClient = 64;
/// How often a recall is sent again before only the lease decides.
inline constexpr std::uint32_t kMostRecallTries = 16;
/// A callback that was answered NFS4ERR_DELAY, or did not arrive, is sent again after this time.
inline constexpr std::chrono::milliseconds kRecallPause{1000};
/// A file whose delegation was recalled gets none for this time, because its users contend.
inline constexpr std::chrono::seconds kContentionPause{30};
/// Opens of one client: four times the thousand that are promised.
inline constexpr std::size_t kMostOpensPerClient = 4096;
/// Owners of either kind of one client: processes for opens, and one for each locked file.
inline constexpr std::size_t kMostOwnersPerClient = 4096;
/// Octets of the owners of all clients together, counted with their names. A name may have
/// NFS4_OPAQUE_LIMIT octets. The owners without state that one client may have would fill
/// gigabytes.
inline constexpr std::size_t kMostOwnerBytes = std::size_t{128} << 20;
/// The clients of one host may have a quarter of them, as of the records of clients.
inline constexpr std::size_t kMostOwnerBytesPerHost = kMostOwnerBytes / 4;
/// What an owner costs besides its name, which is kept twice: records and the last reply.
inline constexpr std::size_t kOwnerRecordBytes = 512;
/// Lock stateids, and locked ranges, of one client.
inline constexpr std::size_t kMostLockStatesPerClient = 4096;
inline constexpr std::size_t kMostRangesPerClient = 16384;
/// Locked ranges of one file: every LOCK looks at all of them.
inline constexpr std::size_t kMostRangesPerFile = 4096;
/// Stateids of all clients together: some 64 MiB of records.
inline constexpr std::size_t kMostStates = 262144;
/// The clients of one host may have a quarter of them: sixteen clients with all that one may have.
inline constexpr std::size_t kMostStatesPerHost = kMostStates / 4;
/// Revoked delegations that are remembered for a client until FREE_STATEID.
inline constexpr std::size_t kMostRevokedPerClient = kMostDelegationsPerClient;
/// Clients are looked through for expired leases this often.
inline constexpr std::chrono::milliseconds kExpiryPause{1000};
/// Octets of a recovery file that is read: an owner of NFS4_OPAQUE_LIMIT in hex for each client.
inline constexpr std::size_t kLargestRecoveryFile = kMostClients * 2100;

}  // namespace steertag::peer
