// The types of an operation's arguments and result.
#pragma once

namespace steertag::nfs4 {

/// What an operation takes and gives.
template <class ArgsType, class ResultType>
struct Signature {
  using Args = ArgsType;
  using Result = ResultType;
};

}  // namespace steertag::nfs4
