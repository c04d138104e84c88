// Sentences of network errors.
#include "net/error.h"

namespace steertag::net {

std::string_view sentence(Errc code) {
  switch (code) {
    case Errc::bad_url:
      return "the URL cannot be read";
    case Errc::unknown_provider:
      return "there is no provider of that name";
    case Errc::no_device:
      return "the provider has no device";
    case Errc::name_not_found:
      return "the host name has no address";
    case Errc::cannot_listen:
      return "the address cannot be listened on";
    case Errc::cannot_connect:
      return "the peer cannot be reached";
    case Errc::timed_out:
      return "a time limit passed";
    case Errc::not_connected:
      return "the connection is not established";
    case Errc::too_large:
      return "larger than the provider's limit";
    case Errc::bad_region:
      return "the operation leaves its local region, or the region does not allow it";
    case Errc::queue_full:
      return "too many operations are posted";
    case Errc::unsupported:
      return "the provider cannot do this";
    case Errc::peer_closed:
      return "the peer closed the connection";
    case Errc::peer_reset:
      return "the connection was reset, or ended inside a message";
    case Errc::peer_terminated:
      return "the peer reported an error";
    case Errc::protocol_error:
      return "the peer broke a rule of the RDMA layers";
    case Errc::rejected:
      return "the peer rejected the connection";
    case Errc::local_close:
      return "closed on this side";
    case Errc::no_descriptors:
      return "there are no free file descriptors (ulimit -n)";
    case Errc::too_many_startups:
      return "too many connections are half open";
    case Errc::too_many_connections:
      return "too many connections are open";
    case Errc::bad_record:
      return "the peer broke a rule of RPC over TCP (RFC 5531)";
  }
  return "unknown error";
}

std::string Error::message() const {
  const std::string first(sentence(code));
  return detail.empty() ? first : first + ": " + detail;
}

}  // namespace steertag::net
