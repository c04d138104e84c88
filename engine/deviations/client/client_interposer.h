// The interposer of a client with deviations.
// It applies their changes in the order of the catalogue.
#pragma once

#include <vector>

#include "deviations/client/client_change.h"

namespace steertag::deviations {

class ClientInterposer final : public peer::ClientInterposer {
 public:
  explicit ClientInterposer(std::vector<ClientChange> changes) : changes_(std::move(changes)) {}

  void on_connect(peer::ConnectStep& step) override;
  void on_up(peer::UpStep& step) override;
  void on_request(peer::RequestStep& step) override;
  void on_form(peer::FormStep& step) override;
  void on_departure(peer::CallDeparture& departure) override;
  void on_arrival(peer::ClientArrival& arrival) override;
  void on_answer(peer::AnswerStep& step) override;
  void on_ended(std::uint32_t xid) override;
  void on_down() override;

 private:
  std::vector<ClientChange> changes_;
  ClientHistory history_;
};

/// That of the connections to data servers, whose messages need no history.
class DataServerInterposer final : public peer::ClientInterposer {
 public:
  explicit DataServerInterposer(std::vector<ClientChange> changes) : changes_(std::move(changes)) {}

  void on_request(peer::RequestStep& step) override {
    for (const ClientChange& change : changes_) change.data_request(step);
  }

 private:
  std::vector<ClientChange> changes_;
};

}  // namespace steertag::deviations
