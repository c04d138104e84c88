// Any datagrams of a peer to a whole provider with a listener and clients.
//
// Every datagram of the provider is a whole packet with a right CRC, and its owner's notifications
// have an order. Records make messages of connection management, packets to queue pairs, raw
// octets, and calls of the owner, see `Peer::run`. The target seals them, and knows the numbers
// that the provider chose.
#include <algorithm>
#include <array>
#include <memory>

#include "fabric/fuzz/roce_packets.h"
#include "fabric/fuzz/roce_peer_network.h"
#include "fabric/roce/provider.h"
#include "wire/fuzz/check.h"

namespace {

using namespace steertag;
using namespace steertag::fabric;
using namespace steertag::fabric::roce;

constexpr std::uint32_t kManagement = 0x80010000;  // Q_Key of queue pair 1
constexpr std::uint32_t kPeerId = 0x5678;
constexpr std::uint32_t kPeerQueuePair = 0x1234;
constexpr std::uint16_t kService = 20049;
constexpr std::uint32_t kPathMtu = 256;
constexpr std::size_t kReceives = 3;
constexpr std::size_t kReceiveBytes = 300;
constexpr std::size_t kRegionBytes = 1024;
constexpr std::size_t kMostOwned = 8;
constexpr std::size_t kMostRecords = 256;
constexpr std::byte kSecret{0x77};

RandomSource scattered() {
  return [next = std::uint64_t{0}]() mutable { return ++next * 0x9e3779b97f4a7c15 >> 7; };
}

// A connection and its notifications.
struct Owned final : Handler {
  explicit Owned(std::uint8_t choices) : disconnects(choices % 16 == 1) {}

  void on_established(Connection& made, View /*private_data*/) override {
    fuzz::check(!established && !over);
    established = true;
    for (Bytes& buffer : buffers) made.post_receive(buffer, 1);
    if (disconnects) made.disconnect();
  }
  void on_refused(Connection& /*made*/, const Error& error, View /*private_data*/) override {
    fuzz::check(!established && !over && !error.message().empty());
    over = true;
  }
  void on_received(Connection& made, WorkId /*id*/, MutableView buffer,
                   std::optional<std::uint32_t> /*invalidated*/) override {
    fuzz::check(established && !over && buffer.size() <= kReceiveBytes);
    made.post_receive(MutableView(buffer.data(), kReceiveBytes), 1);
  }
  void on_completed(Connection& /*made*/, WorkId id, Operation /*operation*/) override {
    fuzz::check(established && !over && id == ++completed);
  }
  void on_closed(Connection& /*made*/, const CloseReason& /*reason*/) override {
    fuzz::check(established && !over);
    over = true;
  }

  std::unique_ptr<Connection> connection;
  std::array<Bytes, kReceives> buffers{Bytes(kReceiveBytes), Bytes(kReceiveBytes),
                                       Bytes(kReceiveBytes)};
  Bytes sent = Bytes(600, std::byte{0x33});
  WorkId posted = 0;
  WorkId completed = 0;
  bool disconnects = false;
  bool established = false;
  bool over = false;
};

class Peer {
 public:
  Peer() {
    fabric::Limits limits;
    limits.roce.path_mtu = kPathMtu;
    auto made = make_provider(
        scattered(), limits, [this] { return now_; },
        [this](const Address& local, int /*buffer_bytes*/) {
          return Expected<std::unique_ptr<Datagrams>, Error>(
              std::make_unique<fuzz::PeerDatagrams>(network_, local));
        });
    fuzz::check(made.has_value());
    provider_ = std::move(*made);
    domain_ = provider_->make_domain();
    open_ = domain_->allocate(kRegionBytes, {true, true}, 0x1000);
    secret_ = domain_->allocate(kRegionBytes, {true, false}, 0x1000);
    fuzz::fill(secret_->bytes(), kSecret);
    listen();
  }
  ~Peer() {
    fuzz::check(open_->guards_intact() && secret_->guards_intact());
    fuzz::check(fuzz::all_are(secret_->bytes(), kSecret));
    requests_.clear();
    owned_.clear();
  }

  void run(fuzz::OctetSource input) {
    for (std::size_t i = 0; i < kMostRecords && !input.empty(); ++i) {
      const std::uint8_t what = input.octet();
      switch (what & 7) {
        case 0:
        case 1:
          say(what, input);
          break;
        case 2:
          send_packet(what, input);
          break;
        case 3:
          deliver(what, input.take(input.octet()), (what & 8) != 0);
          break;
        case 4:
          now_ += Time{input.octet()} * 10'000'000;
          turn();
          break;
        case 5:
          own(what, input.octet());
          break;
        case 6:
          policy_ = what >> 3;
          answer_oldest();
          break;
        default:
          network_.full = (what & 8) != 0;
          network_.refuses = (what & 16) != 0;
          if ((what & 32) != 0) deliver(what, last_, false);
          if ((what & 64) != 0) (what & 128) != 0 ? listener_.reset() : listen();
          turn();
      }
    }
  }

 private:
  void listen() {
    if (listener_) return;
    auto made = provider_->listen(
        {"roce", "127.0.0.1", kService, ""},
        [this](std::unique_ptr<ConnectionRequest> request) { take(std::move(request)); });
    fuzz::check(made.has_value());
    listener_ = std::move(*made);
  }

  // The owner's answer, now or later.
  void take(std::unique_ptr<ConnectionRequest> request) {
    if ((policy_ & 3) == 3) {
      if (requests_.size() < kMostOwned) requests_.push_back(std::move(request));
      return;
    }
    answer(std::move(request));
  }
  void answer(std::unique_ptr<ConnectionRequest> request) {
    if ((policy_ & 3) == 2) {
      request->reject(request->private_data());
    } else if ((policy_ & 3) != 1 && owned_.size() < kMostOwned) {
      auto owned = std::make_unique<Owned>(policy_);
      auto accepted = request->accept(*domain_, options(), *owned);
      if (accepted) {
        owned->connection = std::move(*accepted);
        owned_.push_back(std::move(owned));
      }
    }
  }
  void answer_oldest() {
    if (!requests_.empty() && (policy_ & 3) != 3) {
      answer(std::move(requests_.front()));
      requests_.erase(requests_.begin());
    }
    turn();
  }
  static ConnectionOptions options() {
    ConnectionOptions options;
    options.ird = options.ord = 2;
    options.idle_timeout = std::chrono::milliseconds(20000);
    return options;
  }

  void own(std::uint8_t what, std::uint8_t choice) {
    if (choice == 0 || owned_.empty()) {
      connect(what);
    } else {
      use(*owned_[choice % owned_.size()], what);
      for (std::unique_ptr<Owned>& each : owned_) {
        if (!each->connection) kept_.push_back(std::move(each));
      }
      std::erase(owned_, nullptr);
    }
    turn();
  }
  void connect(std::uint8_t what) {
    if (owned_.size() >= kMostOwned) return;
    auto owned = std::make_unique<Owned>(what);
    auto made =
        provider_->connect({"roce", "127.0.0.2", kService, ""}, *domain_, options(), *owned);
    fuzz::check(made.has_value());
    owned->connection = std::move(*made);
    owned_.push_back(std::move(owned));
  }
  void use(Owned& owned, std::uint8_t what) {
    const View octets(owned.sent);
    bool posted = false;
    switch (what >> 3 & 7) {
      case 0:
        owned.connection->disconnect();
        break;
      case 1:
        owned.connection->abort();
        break;
      case 2:
        provider_->retire(std::move(owned.connection));
        break;
      case 3:
        posted = owned.connection->send({&octets, 1}, owned.posted + 1).has_value();
        break;
      case 4:
        posted = owned.connection->rdma_write(octets, 7, 0x1000, owned.posted + 1).has_value();
        break;
      case 5:
        posted = owned.connection->rdma_read(*open_, 0, kRegionBytes, 7, 0x1000, owned.posted + 1)
                     .has_value();
        break;
      case 6:
        owned.connection.reset();
        break;
      default:
        secret_->invalidate();
        break;
    }
    if (posted) ++owned.posted;
  }

  // A message of connection management, with one bent octet if the record asks for it.
  void say(std::uint8_t what, fuzz::OctetSource& input) {
    const std::uint8_t names = input.octet();
    const std::uint8_t fields = input.octet();
    const std::uint8_t private_bytes = input.octet();
    Mad mad;
    mad.transaction = names;
    CmMessage& message = mad.message;
    message.kind = static_cast<CmKind>(0x0010 + (what >> 3 & 7));
    message.local_id = kPeerId + (names & 3);
    message.queue_pair = kPeerQueuePair + (names >> 2 & 1);
    message.starting_psn = 0xfffff0;
    message.service = roce::wire::tcp_service(kService);
    message.path_mtu = static_cast<std::uint8_t>(fields & 7);
    message.responder_resources = static_cast<std::uint8_t>(fields >> 3 & 3);
    message.initiator_depth = static_cast<std::uint8_t>(fields >> 3 & 7);
    message.rnr_retry_count = static_cast<std::uint8_t>(fields >> 5);
    message.reason = fields;
    message.service_timeout = static_cast<std::uint8_t>(fields & 31);
    message.subject = static_cast<CmSubject>(fields & 3);
    const Bytes private_data(private_bytes, std::byte{0x5a});
    message.private_data = private_data;
    const fuzz::KnownEnd* const end = known(names >> 3);
    if (end != nullptr) {
      message.remote_id = end->id;
      if (message.kind == CmKind::disconnect_request) message.queue_pair = end->queue_pair;
    }
    MadOctets octets = encode_mad(mad);
    if ((what & 0x40) != 0) {
      const std::size_t at = input.octet();
      octets[at] ^= static_cast<std::byte>(input.octet());
    }
    PacketHeaders headers;
    headers.base.opcode = Opcode::datagram_send_only;
    headers.base.queue_pair = kManagementQueuePair;
    headers.datagram = {kManagement, kManagementQueuePair};
    const bool to_known = end != nullptr && message.kind != CmKind::connect_request;
    deliver_to(to_known ? end->at : server_, fuzz::packet_octets(headers, octets), true);
  }

  void send_packet(std::uint8_t what, fuzz::OctetSource& input) {
    fuzz::KnownEnd* const end = known(what >> 3);
    PacketHeaders headers;
    headers.base.opcode = static_cast<Opcode>(input.octet() & 31);
    const std::int32_t distance = input.signed_octet();
    const View payload = fuzz::payload_of(input.octet(), kPathMtu);
    headers.base.acknowledge = true;
    headers.rdma = {0x1000, open_->stag(), static_cast<std::uint32_t>(payload.size())};
    if (headers.traits().reth || headers.traits().aeth || headers.traits().invalidate) {
      const std::uint8_t choice = input.octet();
      headers.ack.syndrome = choice;
      if ((choice & 1) != 0) headers.rdma.key = secret_->stag();
      if ((choice & 2) != 0) headers.rdma.length = std::uint32_t{choice} << 2;
      headers.invalidate = headers.rdma.key;
    }
    if (end != nullptr) {
      headers.base.queue_pair = end->queue_pair;
      const bool response = headers.traits().is_response();
      headers.base.psn =
          fuzz::psn_at(response ? network_.last_request_psn : end->next_psn, distance);
      if (!response && distance == 0) end->next_psn = psn_after(end->next_psn);
    }
    deliver_to(end != nullptr ? end->at : server_, fuzz::packet_octets(headers, payload), true);
  }

  void deliver(std::uint8_t what, View octets, bool seal) {
    const fuzz::KnownEnd* const end = known(what >> 4);
    deliver_to(end != nullptr ? end->at : server_, Bytes(octets.begin(), octets.end()), seal);
  }
  void deliver_to(const Address& to, Bytes octets, bool seal) {
    if (seal && octets.size() >= roce::wire::kBaseBytes + roce::wire::kInvariantCrcBytes) {
      const std::size_t covered = octets.size() - roce::wire::kInvariantCrcBytes;
      roce::wire::InvariantCrc::store(
          roce::wire::InvariantCrc(route_of(network_.from, to)).of(View(octets).first(covered)),
          octets.data() + covered);
    }
    last_ = octets;
    network_.to = to;
    network_.datagram = std::move(octets);
    turn();
  }

  void turn() {
    provider_->poll(std::chrono::milliseconds(0));
    network_.datagram.reset();  // of an address that is closed
  }

  // Of the newest ends. None: the number is zero.
  fuzz::KnownEnd* known(std::size_t number) {
    number &= 7;
    const std::size_t count = network_.ends.size();
    return number == 0 || number > count ? nullptr : &network_.ends[count - number];
  }

  Time now_ = 1;
  fuzz::PeerNetwork network_;
  Address server_ = ipv4_address(0x7f000001, kRoceUdpPort);
  std::vector<std::unique_ptr<Owned>> kept_;  // the provider may still know them
  std::unique_ptr<Provider> provider_;
  std::unique_ptr<Domain> domain_;
  std::unique_ptr<Region> open_;
  std::unique_ptr<Region> secret_;
  std::unique_ptr<Listener> listener_;
  std::vector<std::unique_ptr<Owned>> owned_;
  std::vector<std::unique_ptr<ConnectionRequest>> requests_;
  std::uint8_t policy_ = 0;
  Bytes last_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Peer().run(fuzz::OctetSource(fuzz::view_of(data, size)));
  return 0;
}
