// A Python object as the interposer of a server: what it gets to see, and what it may change.
#pragma once

#include <exception>
#include <functional>

#include "fabric_parts.h"
#include "server/interposer.h"

namespace steertag::bindings {

/// Binds what the methods of such an object get.
void bind_peer_interposer(py::module_& module);

/// Passes the notices to a Python object. Its exception is kept until the poll ends. The interposer
/// of the deviations, if there is one, gets what the object does not take.
class PyInterposer final : public peer::Interposer {
 public:
  using ConnectionRef = std::shared_ptr<peer::InterposedConnection>;

  PyInterposer(py::object script, std::shared_ptr<peer::Interposer> deviations);

  void on_request(View private_data, peer::AcceptStep& step) override;
  void on_accepted(const ConnectionRef& connection) override;
  void on_optimistic(View private_data, peer::OptimisticStep& step) override;
  void on_arrival(const ConnectionRef& connection, peer::Arrival& arrival) override;
  void on_call(peer::CallStep& call) override;
  void on_reply(peer::ReplyStep& reply) override;
  void on_callback(peer::CallbackStep& callback) override;
  bool on_departure(const ConnectionRef& connection, const peer::Departure& departure) override;
  void on_read(const ConnectionRef& connection, std::uint64_t number, View octets) override;
  void on_down(const ConnectionRef& connection, const fabric::CloseReason& reason) override;

  /// With the GIL.
  void raise_problem();

 private:
  void guarded(const ConnectionRef& connection, const std::function<void()>& work);
  template <class Made, class Step>
  void keep_observers(const Made& made, Step& step);

  py::object script_;
  bool sees_calls_;
  bool sees_replies_;
  std::shared_ptr<peer::Interposer> deviations_;
  std::vector<py::object> observers_;  // as long as their connections live
  std::exception_ptr problem_;
};

}  // namespace steertag::bindings
