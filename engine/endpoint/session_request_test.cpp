// Where a request stands in its session: what a retry has in common with it.
// Also what is no request.
#include "endpoint/session_request.h"

#include <gtest/gtest.h>

#include "nfs/binding.h"
#include "nfs/v4/operations.h"
#include "rpc/message.h"
#include "wire/xdr.h"

namespace steertag::peer {
namespace {

struct Parts {
  std::uint32_t version = nfs::kNfsVersion4;
  std::uint32_t minor_version = 1;
  nfs4::Opnum first = nfs4::Opnum::OP_SEQUENCE;
  std::uint32_t sequence = 7;
  std::uint32_t slot = 3;
  std::uint32_t highest = 3;
  bool cachethis = false;
};

Bytes call_of(const Parts& parts) {
  rpc::CallHeader header;
  header.xid = 1;
  header.program = nfs::kNfsProgram;
  header.version = parts.version;
  header.procedure = 1;
  Bytes call;
  wire::Writer writer(call);
  header.encode(writer);
  for (const std::uint32_t word : {0U, parts.minor_version, 1U}) writer.u32(word);
  writer.u32(static_cast<std::uint32_t>(parts.first));
  for (const std::uint32_t word : {11U, 12U, 13U, 14U}) writer.u32(word);  // sa_sessionid
  for (const std::uint32_t word : {parts.sequence, parts.slot, parts.highest}) writer.u32(word);
  writer.u32(parts.cachethis ? 1 : 0);
  return call;
}

TEST(SessionRequest, ARetryHasThePlaceOfItsRequest) {
  const Bytes call = call_of({});
  const auto request = session_request(call);
  ASSERT_TRUE(request);
  ASSERT_LE(request->sequence_at + 4, call.size());
  EXPECT_EQ(wire::load_u32(call.data() + request->sequence_at), 7U);
  EXPECT_EQ(request->session.size(), 16U);
  EXPECT_EQ(request->sequence, 7U);
  EXPECT_FALSE(request->cachethis);
  Parts retry;
  retry.highest = 9;
  retry.cachethis = true;
  const auto again = session_request(call_of(retry));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->slot_key, request->slot_key);
  EXPECT_TRUE(again->cachethis);
  Parts next;
  ++next.sequence;
  const auto other = session_request(call_of(next));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->session, request->session);
  EXPECT_NE(other->slot_key, request->slot_key);
}

TEST(SessionRequest, NothingElseIsOne) {
  Parts parts;
  parts.version = 3;
  EXPECT_FALSE(session_request(call_of(parts)));
  parts = {};
  parts.minor_version = 0;
  EXPECT_FALSE(session_request(call_of(parts)));
  parts = {};
  parts.first = nfs4::Opnum::OP_PUTROOTFH;
  EXPECT_FALSE(session_request(call_of(parts)));
  const Bytes whole = call_of({});
  for (std::size_t have = 0; have < whole.size(); ++have)
    EXPECT_FALSE(session_request(View(whole).first(have))) << "of " << have << " octets";
}

}  // namespace
}  // namespace steertag::peer
