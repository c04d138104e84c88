// The sending side of a stream: splits posted operations into FPDUs.
//
// It offers them as gather lists, so that payload goes from the owner's memory to the socket
// without a copy.
#pragma once

#include <sys/uio.h>

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/iwarp/formats.h"
#include "fabric/iwarp/fpdu.h"
#include "fabric/iwarp/policy.h"
#include "fabric/software/memory_region.h"
#include "fabric/software/posted.h"
#include "fabric/software/ring.h"

namespace steertag::fabric::iwarp {

/// FPDUs prepared at a time: enough to fill a large socket buffer with one system call, few enough
/// to keep an idle connection small.
inline constexpr std::size_t kMostStagedFrames = 32;
/// Gather entries given to one system call (the kernel takes 1024).
inline constexpr std::size_t kMostIovecs = 256;

struct Outgoing : Posted {
  enum class Kind : std::uint8_t {
    send,
    rdma_write,
    read_request,
    read_response,
    read_refusal,  // in place of a response, or of its rest
    raw,
  };
  Kind kind = Kind::send;
  ReadRequest read;  // of a Read Request, or of the one that a Read Response answers
  ReadRefusal refusal;
  Bytes raw;
  std::optional<Fault> fault;
  // Progress.
  std::uint64_t framed = 0;
  std::uint64_t wire_octets = 0;
  std::size_t part = 0;
  std::size_t part_offset = 0;
  std::uint32_t msn = 0;  // of a Read Response: that of its request

  /// Initializes a reused slot; buffers keep their capacity.
  void reset(Kind new_kind, WorkId new_id);
  /// Whether a fault makes it differ from a valid message on the wire.
  bool altered() const;
};

/// Receives the progress of operations.
class TransmitProgress {
 public:
  virtual ~TransmitProgress() = default;
  /// The first (Send, Read Request) or each (tagged) segment of `operation` is queued for the
  /// socket. `payload_bytes` start at the operation's `framed`.
  virtual void on_framed(const Outgoing& operation, std::uint64_t offset,
                         std::size_t payload_bytes) = 0;
  /// A Read Request is queued: its response may arrive from now on.
  virtual void on_read_queued(const Outgoing& operation, std::uint32_t sink_stag) = 0;
  /// The last octet has left. `operation` is invalid afterwards.
  virtual void on_left(Outgoing::Kind kind, WorkId id) = 0;
  /// Whether one more Read Request may be in flight (ORD).
  virtual bool may_read() const = 0;
  /// Whether a Read Response's source is still open. Otherwise the connection ends, or the
  /// operation has become a refusal.
  virtual bool source_open(Outgoing& operation) = 0;
};

class Transmitter {
 public:
  Transmitter(TransmitProgress& progress, const SegmentPolicy& policy)
      : progress_(progress), policy_(policy), send_msn_(policy.first_send_msn) {}

  void use_crc(bool use) { use_crc_ = use; }
  void set_mulpdu(std::size_t mulpdu) { mulpdu_ = mulpdu; }

  /// A new operation at the end of the send queue; the caller fills it.
  Outgoing& post(Outgoing::Kind kind, WorkId id);
  /// A new Read Response. It alternates with the send queue at message boundaries, so that neither
  /// side's ORD can block the other's reads.
  Outgoing& respond();
  /// Posted operations of the owner that have not left.
  std::size_t posted() const { return queue_.size(); }

  /// Prepares FPDUs; returns whether something is ready for the socket.
  bool stage();
  /// The octets ready, as a gather list.
  std::span<const iovec> gather(std::array<iovec, kMostIovecs>& room);
  /// The socket took `count` octets of the gather list, maybe none. Octets of Read Responses that
  /// wait behind them are copied: the CRC has them as they are now, and their owner may change
  /// them.
  void sent(std::size_t count);
  bool nothing_staged() const { return frames_.empty(); }
  bool idle() const { return frames_.empty() && queue_.empty() && responses_.empty(); }
  /// A truncated operation has reached its last octet: nothing follows.
  bool cut() const { return cut_reached_; }

  /// Drops everything except a started FPDU, and queues a Terminate as the last FPDU of the stream.
  void terminate(const TerminateMessage& message);
  void drop_all();

 private:
  // RFC 5044: length, DDP header and, for messages without memory of their own, their content.
  static constexpr std::size_t kMostHeader =
      kUlpduLengthBytes + kUntaggedHeaderBytes + kMostTerminateBytes;
  enum class Source : std::uint8_t { queue, responses, none };
  struct Frame {
    std::array<std::byte, kMostHeader> header;
    std::array<std::byte, kMostTrailerBytes> trailer;
    std::size_t header_bytes = 0;
    std::size_t payload_bytes = 0;
    std::size_t trailer_bytes = 0;
    std::size_t allowed = 0;  // octets that may leave: all, unless the operation is cut
    Source source = Source::none;
    std::uint64_t sequence = 0;  // of the operation in its ring
    std::size_t part = 0;        // where the payload starts
    std::size_t part_offset = 0;
    bool completes = false;
    bool cuts = false;
    Bytes held{};  // the payload, if that may change before it leaves
  };

  Ring<Outgoing>& ring(Source source) { return source == Source::queue ? queue_ : responses_; }
  bool choose();
  bool can_start_posted() const;
  void frame_one();
  void frame_raw(Frame& frame, Outgoing& operation);
  void frame_segment(Frame& frame, Outgoing& operation);
  void frame_refusal(Frame& frame, Outgoing& operation);
  Segment header_of(const Outgoing& operation, std::size_t payload_bytes) const;
  void seal(Frame& frame, const Segment& segment, Outgoing* operation, std::size_t content);
  void take_payload(Frame& frame, Outgoing& operation, std::size_t bytes, Crc32c* crc);
  void limit(Frame& frame, Outgoing& operation);
  /// `visit(View)` for each piece of the frame's payload.
  template <class Visit>
  void for_payload(const Frame& frame, Visit visit);
  void hold_responses();
  void complete(Frame& frame);

  TransmitProgress& progress_;
  const SegmentPolicy& policy_;
  bool use_crc_ = false;
  std::size_t mulpdu_ = kLeastMulpdu;
  Ring<Outgoing> queue_;
  Ring<Outgoing> responses_;
  std::uint64_t queue_framed_ = 0;  // sequence of the next operation to be framed
  std::uint64_t responses_framed_ = 0;
  Source current_ = Source::none;  // of the message being framed
  bool prefer_response_ = true;
  Ring<Frame> frames_;
  std::size_t front_left_ = 0;  // octets of the front frame that have left
  std::uint32_t send_msn_;
  std::uint32_t read_msn_ = 1;
  std::uint32_t refusal_msn_ = 1;
  bool closed_ = false;  // a Terminate or a cut is the last that leaves
  bool cut_reached_ = false;
};

}  // namespace steertag::fabric::iwarp
