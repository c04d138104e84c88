// The initiator's startup: TCP, MPA request, MPA reply (RFC 5044 7.1.2, RFC 6581 9).
//
// It tries one address after the other.
#pragma once

#include <sys/uio.h>

#include <vector>

#include "fabric/fabric.h"
#include "fabric/iwarp/formats.h"
#include "fabric/net_names.h"

namespace steertag::fabric::iwarp {

/// What both sides agreed on at startup.
struct Agreement {
  bool crc = false;
  std::uint16_t ird = 0;
  std::uint16_t ord = 0;
  /// Set if we cannot take part: the stream ends with this Terminate (RFC 6581 9.1, 9.2).
  std::optional<trace::Terminate> refusal;
};

/// The request for these options.
StartupFrame request_of(const ConnectionOptions& options);
/// The initiator's view of a reply.
Expected<Agreement, Error> agree(const ConnectionOptions& options, const StartupFrame& reply);
/// Checks options of either side. Enhanced words take their part of the private data.
Expected<void, Error> check(const ConnectionOptions& options);

class Initiator final : public Channel {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void on_startup_octets(trace::Role sender, View bytes) = 0;
    virtual void on_request_sent() = 0;
    /// The reply accepted us.
    virtual void on_reply(Socket socket, const Agreement& agreement, Bytes private_data) = 0;
    virtual void on_failed(Error error, Bytes private_data) = 0;
  };

  Initiator(Reactor& reactor, Owner& owner, std::vector<Address> addresses,
            const ConnectionOptions& options);
  ~Initiator() override;

  /// Tries the next address; on_failed follows if none is left. Call it once.
  void start() { try_next(); }
  /// The owner needs no result any more. The object may live until the end of the round.
  void stop();
  std::string peer_name() const;

  void on_ready(std::uint32_t events) override;
  void on_deadline() override;

 private:
  enum class Stage : std::uint8_t { connecting, requesting, awaiting_reply, over };
  void try_next();
  void connected();
  void send_request();
  void read_reply();
  void take_reply();
  /// The peer at the current address caused the error.
  void fail_with_peer(const Error& error);
  void fail(Errc code, std::string detail, Bytes private_data = {});

  Reactor& reactor_;
  Owner& owner_;
  ConnectionOptions options_;
  std::vector<Address> addresses_;
  std::size_t next_ = 0;
  std::string last_error_;
  Socket socket_;
  Reactor::Key key_ = 0;
  Stage stage_ = Stage::connecting;
  Time deadline_;
  Bytes request_;
  std::size_t sent_ = 0;
  Bytes reply_;
};

}  // namespace steertag::fabric::iwarp
