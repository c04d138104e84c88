// Checks the references of one reply against those of before, and keeps them.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "conformance/direct/direct_access.h"
#include "conformance/message.h"

namespace steertag::conformance {

class ReferenceCheck {
 public:
  /// `began`: the moment of the call.
  ReferenceCheck(const Message& message, DirectAccess& access, DirectUser& user,
                 std::uint64_t began, Connection& connection)
      : message_(message), access_(access), user_(user), began_(began), connection_(connection) {}

  /// References to blocks of this file.
  void take(std::string_view file, std::span<const direct::Reference> references);
  /// After all references of the reply.
  void finish();

 private:
  void take(std::uint32_t file, const direct::Reference& reference);
  void check_again(Grant& earlier, const direct::Reference& reference);
  void check_place(const direct::Reference& reference);
  Finding* open(const Rule& rule) { return open_finding(rule, message_, connection_); }

  const Message& message_;
  DirectAccess& access_;
  DirectUser& user_;
  std::uint64_t began_;
  Connection& connection_;
  bool grew_ = false;
};

}  // namespace steertag::conformance
