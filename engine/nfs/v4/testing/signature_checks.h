// What is checked of the arguments and the result of every operation, of COMPOUND and CB_COMPOUND.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "nfs/v4/callbacks.h"
#include "nfs/v4/operations.h"
#include "rpc/testing.h"

namespace steertag::nfs4::testing {

/// Octets of default values (empty handles, names and arrays, arms without content), counted by
/// hand from the XDR of RFC 5662. They are of arguments, of a result with NFS4_OK and of one with
/// an error.
struct Sizes {
  const char* operation;
  std::size_t args;
  std::size_t ok;
  std::size_t error = 4;
};

/// `Number` is Opnum or CbOpnum.
template <class Number>
void check_sizes(Number number, const Sizes& sizes) {
  with_signature(number, [&]<class Args, class Res>(Signature<Args, Res>) {
    EXPECT_EQ(rpc::testing::encoded(Args{}).size(), sizes.args);
    Res result{};
    EXPECT_EQ(rpc::testing::encoded(result).size(), sizes.ok);
    result.status = Status::NFS4ERR_IO;
    EXPECT_EQ(rpc::testing::encoded(result).size(), sizes.error);
  });
}

template <class Number>
void check_arguments(Number number) {
  with_signature(number, []<class Args, class Res>(Signature<Args, Res>) {
    EXPECT_TRUE(rc::check([] {
      rpc::testing::Arena arena;
      rpc::testing::check_codec<Args>(rpc::testing::encoded(rpc::testing::any<Args>(arena)));
    }));
  });
}

template <class Number>
void check_result(Number number) {
  with_signature(number, []<class Args, class Res>(Signature<Args, Res>) {
    EXPECT_TRUE(rc::check([] {
      rpc::testing::Arena arena;
      Res result = rpc::testing::any<Res>(arena);
      // Most of a hundred statuses are void; half of the cases are of the arm that is not.
      if (*rc::gen::arbitrary<bool>()) result.status = Status::NFS4_OK;
      rpc::testing::check_codec<Res>(rpc::testing::encoded(result));
    }));
  });
}

template <class Number>
void check_unknown_status(Number number) {
  with_signature(number, []<class Args, class Res>(Signature<Args, Res>) {
    Res result{};
    result.status = static_cast<Status>(10073);
    const wire::Fault fault = rpc::testing::fault_of<Res>(rpc::testing::encoded(result));
    EXPECT_EQ(fault.code, wire::FaultCode::bad_enum);
    EXPECT_EQ(fault.offset, 0u);
    EXPECT_EQ(fault.field, "status");
  });
}

}  // namespace steertag::nfs4::testing
