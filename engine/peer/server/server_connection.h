// The responder on one connection (RFC 8166 4.5): every received message becomes a reply, an
// RDMA_ERROR, nothing, or the end of the connection.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "peer/deviation.h"
#include "peer/endpoint.h"
#include "peer/server/transaction.h"

namespace steertag::peer {

class Server;

class ServerConnection final : public EndpointUser {
 public:
  ServerConnection(Server& server, std::uint64_t id, EndpointOptions options);
  ~ServerConnection() override;

  Expected<void, fabric::Error> accept(fabric::ConnectionRequest& request, fabric::Domain& domain);
  /// Starts to pull a call that waited for memory. False when there is still none.
  bool resume(std::uint32_t transaction);
  void disconnect() { endpoint_.disconnect(); }
  bool down() const { return down_; }
  std::uint64_t id() const { return id_; }

 private:
  void on_up() override {}
  void on_message(ReceiveId receive, View message,
                  std::optional<std::uint32_t> invalidated) override;
  void on_done(WorkTag tag, fabric::Operation operation) override;
  void on_down(const fabric::CloseReason& reason) override;
  /// RFC 8166 4.5.3: calls over which the connection was lost get ERR_CHUNK when they are retried.
  void remember_failed_calls(const fabric::CloseReason& reason);

  // From the message to the call.
  void begin(Transaction& call);
  void begin_known_version(Transaction& call, const wire::FixedWords& words);
  bool decode(Transaction& call);
  void on_broken_list(Transaction& call);
  void begin_call(Transaction& call);
  bool start_pull(Transaction& call);
  /// False when the call ended instead: with ERR_CHUNK, or with the connection.
  bool post_reads(Transaction& call);
  void execute(Transaction& call, View message);
  void bend_read_list(Transaction& call);
  void bend_message(Transaction& call);

  // From the call to its end.
  void send_reply(Transaction& call);
  void post_reply(Transaction& call);
  void send_version_error(Transaction& call, const wire::FixedWords& words);
  void send_chunk_error(Transaction& call);
  void send_error(Transaction& call, const wire::Header& header);
  void send_extra(Transaction& call, View message);
  void discard(Transaction& call);
  void finish(Transaction& call);
  void give_back_receive(Transaction& call);
  bool check(const Expected<void, fabric::Error>& posted);

  Transaction* take_idle();
  ReplyTerms terms(const Transaction& call);
  void note_stag(const Transaction& call);
  bool deviates(Deviation deviation) const;

  struct Backlog {
    ReceiveId receive;
    View message;
  };

  Server& server_;
  std::uint64_t id_;
  std::string peer_host_;
  Endpoint endpoint_;
  std::vector<std::unique_ptr<Transaction>> transactions_;
  std::vector<std::uint32_t> idle_;
  std::deque<Backlog> backlog_;  // messages that wait for an idle transaction
  std::size_t most_transactions_;
  std::deque<std::uint32_t> recent_pushes_;  // XIDs of replies with RDMA Writes
  std::optional<std::uint32_t> earlier_stag_;
  bool down_ = false;
};

}  // namespace steertag::peer
