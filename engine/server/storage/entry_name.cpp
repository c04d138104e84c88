// The rules for names of directory entries.
#include "server/storage/entry_name.h"

namespace steertag::peer {

bool is_dots(std::string_view name) {
  return name == "." || name == "..";
}

Status check_name(std::string_view name) {
  if (name.empty() || name.find('\0') != std::string_view::npos ||
      name.find('/') != std::string_view::npos)
    return Status::invalid;
  if (name.size() > kLongestName) return Status::name_too_long;
  return Status::ok;
}

}  // namespace steertag::peer
