// The network's vocabulary, as the providers speak it.
#pragma once

#include "fabric/fabric.h"
#include "net/acceptor.h"
#include "net/reactor.h"
#include "net/source.h"

namespace steertag::fabric {

using net::accept_error;
using net::accept_from;
using net::Address;
using net::after;
using net::bind_from;
using net::Channel;
using net::emss;
using net::error_text;
using net::kAcceptPause;
using net::kMostAddresses;
using net::kNever;
using net::listen_at;
using net::local_address;
using net::make_socket;
using net::peer_address;
using net::Reactor;
using net::resolve;
using net::set_no_delay;
using net::Socket;
using net::Source;
using net::Time;

}  // namespace steertag::fabric
