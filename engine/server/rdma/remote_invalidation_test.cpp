// What the reference client announces and offers (RFC 8797 4.1).
// It depends on what its provider lets a server close.
#include "fabric/testing/forwarding_provider.h"
#include "server/testing/peer_fixture.h"

namespace steertag::peer::testing {
namespace {

/// A provider that says less of itself than it can do.
class Modest final : public fabric::testing::ForwardingProvider {
 public:
  Modest(fabric::Provider& provider, bool any_region, bool windows)
      : ForwardingProvider(provider), can_(provider.capabilities()) {
    can_.remote_invalidation = any_region;
    can_.windows = windows;
  }
  fabric::Capabilities capabilities() const override { return can_; }

 private:
  fabric::Capabilities can_;
};

class RemoteInvalidationTest : public PeerTest {
 protected:
  /// A READ by write chunk of a client that has such a provider: whether the server closed its
  /// memory.
  bool closed_by_server(bool any_region, bool windows) {
    serve();
    const nfs3::FileHandle file = make_file("file", pattern(3000));
    Modest modest(*provider, any_region, windows);
    Nfs3Client client(modest, url, {}, next_xid);
    FormWish wish;
    wish.write_chunk = Use::always;
    client.set_wish(wish);
    for (int i = 0; i < 2; ++i) {  // the second has memory of the first
      const auto read = client.call<nfs3::ReadResult>(nfs3::Procedure::NFSPROC3_READ,
                                                      nfs3::ReadArgs{file, 0, 3000});
      EXPECT_TRUE(read && copy(read->ok.data) == pattern(3000));
    }
    const bool closed = client.rpc().last_remotely_invalidated();
    EXPECT_EQ(client.requester().negotiated().remote_invalidation, closed);
    return closed;
  }
};

TEST_F(RemoteInvalidationTest, AnyRegion) {
  EXPECT_TRUE(closed_by_server(true, true));
}

TEST_F(RemoteInvalidationTest, WindowsAlone) {
  EXPECT_TRUE(closed_by_server(false, true));
}

TEST_F(RemoteInvalidationTest, NothingIsAnnouncedWhereNothingCanBeClosed) {
  EXPECT_FALSE(closed_by_server(false, false));
}

}  // namespace
}  // namespace steertag::peer::testing
