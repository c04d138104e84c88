// The ports of a provider, by local address.
#pragma once

#include <map>
#include <memory>

#include "fabric/net_names.h"
#include "fabric/roce/packets/gid.h"

namespace steertag::fabric::roce {

class Port;
struct Runtime;

class Ports {
 public:
  explicit Ports(Runtime& runtime);
  ~Ports();
  Ports(const Ports&) = delete;
  Ports& operator=(const Ports&) = delete;

  /// The port of a local address, which is opened if there is none.
  Expected<Port*, Error> at(const Address& local);
  /// A port from which `peer` can be reached. An address has room for one end: towards one of this
  /// machine the port is the provider's own there, or it has another address. Over IPv4 that is one
  /// of 127.128.0.0/9 that was free, over IPv6 one of the machine's.
  Expected<Port*, Error> towards(const Address& peer);

  void flush();
  /// Closes ports without users. Never call it from inside a port's call.
  void sweep();

 private:
  Expected<Port*, Error> loopback();

  Runtime& runtime_;
  std::map<Host, std::unique_ptr<Port>> ports_;
  Port* loopback_ = nullptr;
};

}  // namespace steertag::fabric::roce
