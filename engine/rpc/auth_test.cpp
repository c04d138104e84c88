// Tests of AUTH_SYS bodies and of the wrapping that credentials select.
#include "rpc/auth.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rpc/testing.h"

namespace steertag::rpc {
namespace {

using testing::from_hex;
using testing::to_hex;
using wire::FaultCode;

// stamp 1, machine "lab", uid 1000, gid 100, groups 4 and 27.
constexpr std::string_view kBody =
    "00000001 00000003 6c616200 000003e8 00000064 00000002 00000004 0000001b";

struct Credential {
  AuthFlavor flavor;
  std::string_view body;
  Wrapping wrapping;
};

// RPCSEC_GSS bodies: version, gss_proc, seq_num, service, handle.
TEST(Wrapping, IsWhatTheServiceOfADataMessageSays) {
  constexpr auto kGss = AuthFlavor::RPCSEC_GSS;
  for (const Credential& each : {
           Credential{AuthFlavor::AUTH_NONE, "", Wrapping::plain},
           Credential{AuthFlavor::AUTH_SYS, kBody, Wrapping::plain},
           Credential{kGss, "00000001 00000000 00000009 00000001 00000000", Wrapping::plain},
           Credential{kGss, "00000001 00000000 00000009 00000002 00000000", Wrapping::wrapped},
           Credential{kGss, "00000001 00000000 00000009 00000003 00000000", Wrapping::wrapped},
           Credential{kGss, "00000001 00000000 00000009 00000004 00000000", Wrapping::unknown},
           Credential{kGss, "00000001 00000001 00000000 00000001 00000000", Wrapping::unknown},
           Credential{kGss, "00000001 00000003 00000009 00000003 00000000", Wrapping::unknown},
           Credential{kGss, "00000001 00000000 00000009", Wrapping::unknown},
           Credential{kGss, "", Wrapping::unknown},
       }) {
    const Bytes body = from_hex(each.body);
    EXPECT_EQ(wrapping_of({each.flavor, body}), each.wrapping) << each.body;
  }
}

TEST(AuthSys, WorkedOctets) {
  const Bytes octets = from_hex(kBody);
  const auto body = decode_auth_sys(octets);
  ASSERT_TRUE(body) << body.error().message();
  EXPECT_EQ(body->stamp, 1u);
  EXPECT_EQ(body->machine_name, "lab");
  EXPECT_EQ(body->uid, 1000u);
  EXPECT_EQ(body->gid, 100u);
  EXPECT_EQ(body->gids, (std::vector<std::uint32_t>{4, 27}));
  EXPECT_EQ(to_hex(encode_auth_sys(*body)), kBody);
}

TEST(AuthSys, NothingMayFollow) {
  Bytes octets = from_hex(kBody);
  octets.resize(octets.size() + 4);
  const auto body = decode_auth_sys(octets);
  ASSERT_FALSE(body);
  EXPECT_EQ(body.error().code, FaultCode::trailing_bytes);
  EXPECT_EQ(body.error().offset, 32u);
}

TEST(AuthSys, Limits) {
  const std::string name(kMostMachineNameOctets + 1, 'm');
  AuthSys parameters;
  parameters.machine_name = std::string_view(name).substr(1);
  parameters.gids.resize(kMostGroups);
  EXPECT_TRUE(decode_auth_sys(encode_auth_sys(parameters)));

  parameters.gids.resize(kMostGroups + 1);
  const auto groups = decode_auth_sys(encode_auth_sys(parameters));
  ASSERT_FALSE(groups) << "17 groups were accepted";
  EXPECT_EQ(groups.error().code, FaultCode::bad_count);
  EXPECT_EQ(groups.error().field, "gids");

  parameters.gids.clear();
  parameters.machine_name = name;
  const auto machine = decode_auth_sys(encode_auth_sys(parameters));
  ASSERT_FALSE(machine) << "a machine name of 256 octets was accepted";
  EXPECT_EQ(machine.error().code, FaultCode::bad_count);
  EXPECT_EQ(machine.error().offset, 4u);
}

TEST(AuthSys, LargestBodyFitsOpaqueAuth) {
  const std::string name(kMostMachineNameOctets, 'm');
  AuthSys parameters;
  parameters.machine_name = name;
  parameters.gids.resize(kMostGroups);
  EXPECT_LE(encode_auth_sys(parameters).size(), kMostAuthOctets);
}

RC_GTEST_PROP(AuthSys, RoundTrip, ()) {
  testing::Arena arena;
  testing::check_codec<AuthSys>(encode_auth_sys(testing::any<AuthSys>(arena)));
}

TEST(AuthFlavor, UnknownFlavorsStayOpaque) {
  const Bytes octets = from_hex("000005f3 00000004 01020304");
  wire::Reader reader(octets);
  OpaqueAuth auth;
  auth.decode(reader);
  ASSERT_TRUE(reader.ok()) << reader.fault().message();
  EXPECT_EQ(static_cast<std::uint32_t>(auth.flavor), 0x5f3u);
  EXPECT_EQ(to_hex(auth.body), "01020304");
  EXPECT_EQ(name(auth.flavor), "");
}

}  // namespace
}  // namespace steertag::rpc
