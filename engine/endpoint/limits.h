// The named limits of the reference peers, and why each has its value.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace steertag::peer {

/// Largest READ or WRITE of the reference server: what Linux calls rsize and wsize by default.
inline constexpr std::uint32_t kLargestTransfer = 1U << 20;
/// Largest call, rebuilt: the largest WRITE with its RPC header, credential and file handle.
inline constexpr std::uint64_t kLargestCall = kLargestTransfer + 65536;
/// Segments of one chunk. RFC 8267 6.4.2 asks for sixteen; this leaves room for a chunk of one
/// mebibyte in pages.
inline constexpr std::size_t kMostSegmentsPerChunk = 256;
/// Read chunks besides the Position Zero chunk, and write chunks, of one call. RFC 8267 6.4.2 asks
/// for one of each.
inline constexpr std::size_t kMostChunks = 16;
/// Receives beyond the granted credits: messages that consume no credit (RDMA_DONE, garbage) take
/// one each while they are looked at.
inline constexpr std::uint32_t kSpareReceives = 2;
/// Largest credit value that a peer grants or uses, whatever the other end grants or requests.
inline constexpr std::uint32_t kMostCredits = 1024;
inline constexpr std::uint32_t kDefaultCredits = 32;
/// Default of the announced send and receive sizes, as deployed servers have it.
inline constexpr std::uint32_t kDefaultAnnouncedBytes = 4096;
/// Connections of one server, of all transports together: 10,000 clients, and some that have not
/// noticed yet that their old connection is gone. Each takes one descriptor,
/// but over roce none.
inline constexpr std::size_t kMostConnections = 12'288;
/// Of one source, which may be the address that 10,000 clients share. The rest is for others.
inline constexpr std::size_t kMostConnectionsOfSource = 10'240;
/// Octets of pull buffers of one server; calls wait for each other beyond it.
inline constexpr std::size_t kPullBudgetBytes = std::size_t{64} << 20;
/// One connection may have this part of a server's pull buffers, or one call. With the default
/// budget these are three of the largest calls at a time, which keeps a stream busy. A few clients
/// that stall leave enough for the others.
inline constexpr std::size_t kPullShares = 16;
/// This part of a server's pull buffers is kept for connections that have delivered a transfer
/// before. Any number of new ones that do not deliver leaves these the turns of 15 of the largest
/// calls at a time.
inline constexpr std::size_t kProvenPart = 4;
/// While a connection waits for memory, one that holds some must deliver kLeastProgressBytes in
/// this time. Otherwise it is closed. The time is several times the retransmission of a lost
/// segment within a data centre, and a small part of a client's patience.
inline constexpr std::chrono::milliseconds kContendedWait{1000};
/// A mebibyte at 32 KiB a second takes as long as StreamTimeouts::whole_record allows.
inline constexpr std::uint64_t kLeastProgressBytes = 32768;
/// Between two checks of stalled connections: the precision of kContendedWait.
inline constexpr std::chrono::milliseconds kWatchdogInterval{100};
/// At most this much time counts between two checks. Clients do not pay for the time in which the
/// server did not look at their octets. Not below the time that its owners poll for.
inline constexpr std::chrono::milliseconds kMostWatchdogStep{250};
/// Octets of replies of one server that have not left, the file contents they refer to included.
inline constexpr std::size_t kReplyBudgetBytes = std::size_t{64} << 20;
/// One connection may have this part of that: four of the largest replies with the default budget.
/// Every connection may have one reply, so that none waits for ever for others.
inline constexpr std::size_t kReplyShares = 16;
/// Largest READDIR or READDIRPLUS result, whatever the client asks for; announced as dtpref. Larger
/// ones would only save round trips, and each is a buffer of its own.
inline constexpr std::uint32_t kLargestListing = 65536;
/// Octets of the receives of one connection: all credits with 16 KiB each, or the default credits
/// with the largest receives.
inline constexpr std::uint64_t kMostReceiveBytes = std::uint64_t{16} << 20;
/// Operations of one connection that are posted at a time; the others follow as these complete.
/// More than a largest transfer in pages, and far below what a provider's queue takes.
inline constexpr std::size_t kMostPostedOperations = 1024;
/// Pieces of a result that one RDMA Write takes: more than a largest transfer has blocks of the
/// storage in memory.
inline constexpr std::size_t kMostWriteParts = 32;
/// Octets that a buffer of a call keeps for the next call.
inline constexpr std::size_t kKeptBufferBytes = 8192;
/// Segments and operations for which the lists of a call keep their room.
inline constexpr std::size_t kKeptParts = 64;
/// Calls for which an idle connection keeps buffers.
inline constexpr std::size_t kKeptTransactions = 2;
/// A connection without a message in a whole interval gives the memory of its receives back. Short
/// against the pauses of clients, and long against a call, which then needs no new pages.
inline constexpr std::chrono::milliseconds kIdlenessInterval{2000};
/// A connection without traffic is closed after this time.
inline constexpr std::chrono::milliseconds kIdleTimeout{300'000};
/// Calls whose RDMA operations failed, remembered for the retry (RFC 8166 4.5.3).
inline constexpr std::size_t kMostFailedCalls = 64;
/// Receives that the connections of one provider share, and their octets together: more than any
/// network delivers between two turns of the server.
inline constexpr std::uint32_t kMostSharedReceives = 16'384;
inline constexpr std::uint64_t kMostSharedReceiveBytes = std::uint64_t{64} << 20;
// The RPC header, the credential and the first arguments.
inline constexpr std::size_t kChecksummedOctets = 256;
/// For this long: clients connect again within seconds. An XID is only unique for one client. A
/// remembered one may match a call of another client on the same host.
inline constexpr std::chrono::milliseconds kFailedCallLifetime{30'000};
/// Callbacks of one connection that are outstanding at a time, whatever the client grants, and
/// receives for their replies; posted with the first callback. NFS version 4 has one callback
/// under way for each slot of a back channel, and clients offer few slots.
inline constexpr std::uint32_t kReverseCredits = 8;
/// Callbacks of one connection that wait to be sent or for their replies.
inline constexpr std::size_t kMostCallbacks = 64;
/// From the start of a callback to its reply. It is a small part of a lease, so that the server can
/// tell a client in time that its backchannel is dead.
inline constexpr std::chrono::milliseconds kCallbackTimeout{10'000};
/// Replies with RDMA Writes, where any one may have ended the connection.
inline constexpr std::size_t kMostSuspects = 8;

}  // namespace steertag::peer
