// What the reference client announces and offers (RFC 8797 4.1).
// It depends on what its provider lets a server close.
#include "server/testing/peer_fixture.h"

namespace steertag::peer::testing {
namespace {

/// A provider that says less of itself than it can do.
class Modest final : public fabric::Provider {
 public:
  Modest(fabric::Provider& provider, bool any_region, bool windows)
      : provider_(provider), can_(provider.capabilities()) {
    can_.remote_invalidation = any_region;
    can_.windows = windows;
  }
  fabric::Capabilities capabilities() const override { return can_; }
  std::unique_ptr<fabric::Domain> make_domain() override { return provider_.make_domain(); }
  Expected<std::unique_ptr<fabric::Listener>, fabric::Error> listen(
      const fabric::Url& url, fabric::AcceptCallback on_request, fabric::RefusedCallback on_refused,
      const fabric::ListenPolicy& policy) override {
    return provider_.listen(url, std::move(on_request), std::move(on_refused), policy);
  }
  Expected<std::unique_ptr<fabric::Connection>, fabric::Error> connect(
      const fabric::Url& url, fabric::Domain& domain, const fabric::ConnectionOptions& options,
      fabric::Handler& handler, trace::EventSink* events, trace::ByteSink* bytes) override {
    return provider_.connect(url, domain, options, handler, events, bytes);
  }
  void retire(std::unique_ptr<fabric::Connection> connection) override {
    provider_.retire(std::move(connection));
  }
  std::size_t poll(std::chrono::milliseconds timeout) override { return provider_.poll(timeout); }
  void wake() override { provider_.wake(); }
  int descriptor() const override { return provider_.descriptor(); }
  std::chrono::milliseconds idle_for(std::chrono::milliseconds most) override {
    return provider_.idle_for(most);
  }

 private:
  fabric::Provider& provider_;
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
