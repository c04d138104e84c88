// The receiving side of a reliable connection: checks requests, places their octets, and answers.
//
// See the InfiniBand specification, 9.7.
#pragma once

#include <deque>
#include <optional>
#include <utility>

#include "fabric/fabric.h"
#include "fabric/roce/packets/bent_packet.h"
#include "fabric/roce/packets/formats.h"
#include "fabric/roce/packets/policy.h"
#include "fabric/roce/reliable/packet_output.h"
#include "fabric/software/connection_receives.h"
#include "fabric/software/ring.h"
#include "fabric/software/send_splitter.h"

namespace steertag::fabric::roce {

/// A request of the peer that broke a rule. The queue pair answers nothing after its NAK.
struct Refusal {
  std::uint8_t syndrome = 0;
  std::string detail;
};
inline constexpr std::uint8_t kInvalidRequest = 0x61;
inline constexpr std::uint8_t kAccessError = 0x62;

/// Receives whole messages in order. Views are valid during the call.
class ResponderOwner {
 public:
  virtual ~ResponderOwner() = default;
  virtual void on_message(const PostedReceive& receive, MutableView bytes,
                          std::optional<std::uint32_t> invalidated) = 0;
  /// One packet of an RDMA Write. Without its octets if it is refused.
  virtual void on_write(std::uint32_t key, std::uint64_t address, std::uint64_t length,
                        View payload) = 0;
  virtual void on_read(const RdmaHeader& request) = 0;
  virtual void on_read_answered(const RdmaHeader& request, std::uint64_t offset,
                                std::uint64_t length) = 0;
  /// Responses before the refused request have left, and its NAK, unless `end` was called.
  virtual void on_refused_request(Refusal refusal, std::uint32_t psn) = 0;
  /// The owner closed the source of a response that had begun; the peer has a NAK, or as above.
  virtual void on_source_closed(std::uint32_t psn) = 0;
};

/// What startup settled for the requests of the peer.
struct ResponseTerms {
  std::uint32_t first_psn = 0;
  std::uint32_t path_mtu = 0;
  std::uint16_t reads = 0;  // READ requests at a time
};

class Responder {
 public:
  Responder(ResponderOwner& owner, PacketOutput& output, SoftwareDomain& domain,
            const Windows& windows, SendSplitter& splitter, const Limits& limits,
            const Policy& policy = kConformingPolicy)
      : owner_(owner),
        output_(output),
        domain_(domain),
        windows_(windows),
        splitter_(splitter),
        limits_(limits),
        policy_(policy) {}

  void start(const ResponseTerms& terms);
  /// Fault hook: alters a packet of the first response to a READ request that has so many.
  void bend_response(SharedBend bent) { bent_ = std::move(bent); }
  /// The owner ends the connection, and may have closed memory that the peer still uses. It then
  /// ends without a NAK, as it does with a device, whose queue pair stops first. So the peer does
  /// not take the end for a fault of its own.
  void end() { ending_ = true; }
  /// Takes and sends nothing more.
  void stop();

  software::ConnectionReceives& receives() { return receives_; }
  /// Whether an acknowledgement waits, and nothing else.
  bool only_acknowledges() const;
  bool between_messages() const { return message_ == Message::none; }
  /// A message has begun, or a shared receive is kept for one that the peer repeats.
  bool awaits_peer() const {
    return !between_messages() || (receives_.shared() && !receives_.empty());
  }
  std::uint32_t msn() const { return msn_; }
  /// The PSN of the next request.
  std::uint32_t expected() const { return expected_; }

  void take(const Packet& request);
  /// Sends responses and acknowledgements, at most a turn's share. Returns whether more could
  /// be sent at once, after others had their turn.
  bool transmit();

 private:
  enum class Message : std::uint8_t { none, send, write };
  struct Answer {
    std::uint32_t psn = 0;
    bool response = false;      // of a READ; otherwise an acknowledgement or a NAK
    bool duplicate = false;     // to a request whose first answer has left
    std::uint8_t syndrome = 0;  // of an acknowledgement or a NAK
    RdmaHeader read;
    Memory memory;  // keeps the source's octets
    const std::byte* from = nullptr;
    std::uint32_t packets = 0;
    std::uint32_t sent = 0;
  };
  using Answers = std::deque<Answer>;  // in the order of their PSNs
  struct ExecutedRead {
    std::uint32_t psn = 0;
    RdmaHeader read;
  };
  using Checked = std::optional<Refusal>;

  void take_next(const Packet& request);
  void take_duplicate(const Packet& request);
  void take_as_new(const Packet& request);
  bool loses(const Packet& read);
  bool repeats(const Packet& read) const;
  Checked take_send(const Packet& request);
  Checked take_write(const Packet& request);
  Checked take_read(const Packet& request);
  Checked check_shape(const Packet& request, Message kind) const;
  Expected<SoftwareRegion*, Refusal> find(const RdmaHeader& header, bool write) const;
  std::uint32_t packets_of(std::uint32_t length) const;
  Answer& waiting_acknowledgement();
  void acknowledge();
  void nak(std::uint8_t syndrome);
  void refuse(Refusal refusal, std::uint32_t psn);
  void answer_read(Answers::iterator before, const RdmaHeader& read, std::uint32_t psn,
                   SoftwareRegion* source, bool duplicate);
  void send_one();
  void send_response(std::uint32_t number, const PacketHeaders& packet, View payload);
  bool source_open(const Answer& answer) const;

  ResponderOwner& owner_;
  PacketOutput& output_;
  SoftwareDomain& domain_;
  const Windows& windows_;
  SendSplitter& splitter_;
  const Limits& limits_;
  const Policy& policy_;
  ResponseTerms terms_;
  software::ConnectionReceives receives_;
  Answers answers_;
  Ring<ExecutedRead> executed_;  // the last ones, as many as the peer may repeat
  std::uint32_t expected_ = 0;
  std::uint32_t told_ = 0;  // after the highest PSN of a response that was sent
  std::uint32_t msn_ = 0;
  bool nak_sent_ = false;  // for expected_: the gap is reported, or no receive is posted
  bool started_ = false;
  bool ending_ = false;
  SharedBend bent_;
  Message message_ = Message::none;  // the one that has begun
  std::uint64_t received_ = 0;       // octets of it
  RdmaHeader write_;                 // of an RDMA Write that has begun
  // For a policy: READs without a Send between them, and the PSN of the first beyond the depth.
  std::uint32_t reads_in_a_row_ = 0;
  std::optional<std::uint32_t> lost_read_;
};

}  // namespace steertag::fabric::roce
