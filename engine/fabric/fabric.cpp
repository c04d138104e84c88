// What all providers share: error sentences, sources of randomness and time, and the choice of a
// provider by name.
#include "fabric/fabric.h"

#include <random>

#include "fabric/iwarp/provider.h"

namespace steertag::fabric {

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
      return "the peer sent Terminate";
    case Errc::protocol_error:
      return "the peer broke a rule of the RDMA layers";
    case Errc::rejected:
      return "the peer rejected the connection";
    case Errc::local_close:
      return "closed on this side";
  }
  return "unknown error";
}

std::string Error::message() const {
  const std::string first(sentence(code));
  return detail.empty() ? first : first + ": " + detail;
}

RandomSource system_random() {
  auto device = std::make_shared<std::random_device>();
  return [device] { return std::uint64_t{(*device)()} << 32 | (*device)(); };
}

Clock system_clock() {
  const auto nanoseconds = [](auto time) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
  };
  const std::int64_t offset =
      nanoseconds(std::chrono::system_clock::now()) - nanoseconds(std::chrono::steady_clock::now());
  return [=] { return nanoseconds(std::chrono::steady_clock::now()) + offset; };
}

Expected<std::unique_ptr<Provider>, Error> make_provider(std::string_view name, RandomSource random,
                                                         const Limits& limits, Clock clock) {
  if (name == "iwarp") {
    return iwarp::make_provider(std::move(random), limits,
                                clock ? std::move(clock) : system_clock());
  }
  return tl::unexpected(Error{Errc::unknown_provider, "\"" + std::string(name) + "\""});
}

}  // namespace steertag::fabric
