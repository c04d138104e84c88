// From the text of a host to its source.
#include "net/source_name.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstring>

#include "net/source.h"

namespace steertag::net {

std::string source_name(const std::string& host) {
  std::string text = host;
  if (text.size() > 1 && text.front() == '[' && text.back() == ']')
    text = text.substr(1, text.size() - 2);
  text = text.substr(0, text.find('%'));
  Address address;
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  sockaddr_in four{};
  four.sin_family = AF_INET;
  if (::inet_pton(AF_INET6, text.c_str(), &six.sin6_addr) == 1) {
    std::memcpy(&address.storage, &six, sizeof six);
  } else if (::inet_pton(AF_INET, text.c_str(), &four.sin_addr) == 1) {
    std::memcpy(&address.storage, &four, sizeof four);
  } else {
    return host;
  }
  return Source(address).text();
}

}  // namespace steertag::net
