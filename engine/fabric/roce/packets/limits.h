// Timers and counts of the roce provider, those of the peer's choice apart: RNR retries and READs.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace steertag::fabric::roce {

/// Datagrams that one call sends.
inline constexpr std::size_t kBatch = 64;
/// Datagrams that one call receives, or as many runs of them that the system has merged.
inline constexpr std::size_t kReceives = 8;
/// Addresses that a client towards its own machine tries. Each may be in use.
inline constexpr std::size_t kMostSources = 64;
/// Packets in flight after any number of losses.
inline constexpr std::uint32_t kLeastWindow = 2;
/// Faults of a test network: with so many percent a third of all packets still arrive as they were
/// sent.
inline constexpr unsigned kMostFaultPercent = 25;

struct Limits {
  // Connection management.

  /// A message without an answer is repeated after this time ...
  std::chrono::milliseconds cm_response{200};
  /// ... so many times in all. Together a little more than ConnectionOptions::startup_timeout.
  std::uint32_t cm_tries = 30;
  /// Between two REPs, or two DREQs, the time doubles up to this. A forged REQ draws few datagrams.
  std::chrono::milliseconds most_cm_response{1600};
  /// The peer's end after our DREQ is awaited as long as after a TCP FIN (fabric::Limits::closing).
  ///
  /// How long a queue pair number stays out of use, and the end is answered again. Longer than
  /// another end of ours repeats its DREQ.
  std::chrono::milliseconds time_wait{3000};
  /// Requests whose connection is not established: fabric::Limits::startups. Further ones are
  /// dropped, and the peer repeats them.
  ///
  /// Connections and ended connections of one local address. Further requests are dropped.
  std::size_t sessions = 65536;
  /// Addresses of 127/8 that a client tries to bind.
  std::uint32_t loopback_tries = 64;
  /// Numbers that are drawn for a queue pair, a communication id or a port until one is free.
  std::uint32_t number_tries = 64;

  // Reliable connections. Retry count and acknowledge time-out of a peer's REQ are not used: our
  // own repetition goes by the limits here, and by fabric::Limits::unsent and unanswered_read.

  /// Unacknowledged packets are repeated after this time, until a round trip was measured (as TCP
  /// does, RFC 6298) ...
  std::chrono::milliseconds ack{50};
  /// ... and then after its average and four times its variation, at least this. A busy peer
  /// process may be late; repeating early costs little.
  std::chrono::milliseconds least_ack{5};
  /// Without an answer the time doubles up to this. fabric::Limits::unsent and unanswered_read end
  /// the repetition.
  std::chrono::milliseconds most_ack{1000};
  /// What we have not acknowledged, another kind of end repeats after this time ...
  std::chrono::milliseconds peer_ack{500};
  /// ... so many times. Together some seconds for a slow owner. Linux takes 7 for ever.
  std::uint8_t peer_retries = 6;
  /// Packets in flight at first. The peer's socket must hold them: Linux counts 8704 octets for a
  /// packet of 4096, and 425984 octets are the default limit.
  std::uint32_t first_window = 32;
  /// Packets in flight, and of READ responses that are awaited, while none is lost. Of responses
  /// fewer if our socket holds fewer.
  std::uint32_t most_window = 256;
  /// Packets of one READ request, a power of two. A longer RDMA Read is requested in parts. Our
  /// socket holds two.
  std::uint32_t read_burst = 64;
  /// Requests of the window between those that ask for an acknowledgement.
  std::uint32_t ack_interval = 8;
  /// After so many prompt polls an acknowledgement waits until the owner polls again. It then
  /// leaves with the answer to the message (RFC 1122 4.2.3.2).
  std::size_t prompt_polls = 16;
  /// Responses and acknowledgements of a connection's turn.
  std::uint32_t responses_a_turn = 32;
  /// RNR NAK: the peer waits 163.84 ms (InfiniBand specification 9.7.5.2.8), as often as
  /// `Policy::most_rnr_repetitions` says.
  std::uint8_t rnr_timer = 28;
  /// Answers that wait, for each READ that the peer may issue. It repeats no more than those, and
  /// between two of them is one acknowledgement.
  std::size_t answers_a_read = 4;
  /// RDMA Reads in an octet of a request.
  std::uint16_t most_reads = 255;
  /// Largest path MTU, in octets of payload. A REQ with a larger one is rejected, as is one whose
  /// packets do not fit our interface.
  std::uint32_t path_mtu = 4096;
  /// Octets of the socket's buffers. The system may give less.
  int socket_buffer = 4 << 20;
  /// Batches of datagrams that a port takes before others have their turn.
  std::uint32_t batches_a_turn = 8;
};

}  // namespace steertag::fabric::roce
