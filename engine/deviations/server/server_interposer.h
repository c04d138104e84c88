// The interposer of a server with deviations.
// It applies their changes in the order of the catalogue.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "deviations/server/server_change.h"
#include "server/interposer.h"

namespace steertag::deviations {

class ServerInterposer final : public peer::Interposer {
 public:
  explicit ServerInterposer(std::vector<ServerChange> changes);

  void on_request(View private_data, peer::AcceptStep& step) override;
  void on_arrival(const std::shared_ptr<peer::InterposedConnection>& connection,
                  peer::Arrival& arrival) override;
  void on_call(peer::CallStep& call) override;
  void on_reply(peer::ReplyStep& reply) override;
  void on_callback(peer::CallbackStep& callback) override;
  bool on_departure(const std::shared_ptr<peer::InterposedConnection>& connection,
                    const peer::Departure& departure) override;
  void on_down(const std::shared_ptr<peer::InterposedConnection>& connection,
               const fabric::CloseReason& reason) override;
  bool ends_program() const override { return server_.ends; }

 private:
  History& history(const peer::InterposedConnection& connection);

  std::vector<ServerChange> changes_;
  bool needs_sessions_ = false;
  SessionTable sessions_;
  ServerHistory server_;
  std::map<std::uint64_t, History> histories_;  // by the connection's number
};

}  // namespace steertag::deviations
