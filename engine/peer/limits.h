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
/// Largest credit value that a peer grants or uses, whatever it is told.
inline constexpr std::uint32_t kMostCredits = 1024;
inline constexpr std::uint32_t kDefaultCredits = 32;
/// Default of the announced send and receive sizes, as deployed servers have it.
inline constexpr std::uint32_t kDefaultAnnouncedBytes = 4096;
/// Connections of one server.
inline constexpr std::size_t kMostConnections = 256;
/// Octets of pull buffers of one server; calls wait for each other beyond it.
inline constexpr std::size_t kPullBudgetBytes = std::size_t{64} << 20;
/// A connection without traffic is closed after this time.
inline constexpr std::chrono::milliseconds kIdleTimeout{300'000};
/// Calls whose RDMA operations failed, remembered for the retry (RFC 8166 4.5.3).
inline constexpr std::size_t kMostFailedCalls = 64;
/// Replies with RDMA Writes of which one may have ended the connection.
inline constexpr std::size_t kMostSuspects = 8;

}  // namespace steertag::peer
