// Names of C++ types.
#include "class_tree.h"

#include <cxxabi.h>

#include <cstdlib>

namespace steertag::bindings {

std::string ClassTree::own_name(const std::type_info& type) {
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, nullptr), std::free);
  const std::string whole = text ? text.get() : type.name();
  return whole.substr(whole.rfind(':') + 1);
}

}  // namespace steertag::bindings
