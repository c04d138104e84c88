// Server and clients in threads of their own.
#include "server/server_thread.h"

#include <thread>

#include "server/testing/raw_client.h"

namespace steertag::peer::testing {
namespace {

TEST(ThreadTest, ServerAndClientsInThreadsOfTheirOwn) {
  auto started = ServerThread::start(std::array{*fabric::parse_url("iwarp://127.0.0.1:0")}, {},
                                     seeded_random(1), counting_clock());
  ASSERT_TRUE(started) << started.error().message();
  ServerThread& server = **started;
  const fabric::Url url = *fabric::parse_url("iwarp://127.0.0.1:" + std::to_string(server.port()));
  constexpr std::uint32_t kThreads = 4;
  std::array<std::string, kThreads> failures;
  std::vector<std::thread> threads;
  for (std::uint32_t number = 0; number < kThreads; ++number) {
    threads.emplace_back([&, number] {
      auto provider = *fabric::make_provider("iwarp", seeded_random(100 + number));
      Nfs3Client client(*provider, url, {}, number << 24);
      const auto mounted = client.mount("/");
      if (!mounted) return void(failures[number] = mounted.error().message());
      const std::string name = "file" + std::to_string(number);
      nfs3::CreateArgs create;
      create.where = {mounted->fhandle, name};
      const auto created =
          client.call<nfs3::CreateResult>(nfs3::Procedure::NFSPROC3_CREATE, create);
      if (!created || !created->ok.obj) return void(failures[number] = "CREATE failed");
      const nfs3::FileHandle file = *created->ok.obj;
      for (std::uint32_t size : {1U, 1000U, 5000U, 100'001U}) {
        const Bytes data = pattern(size, number);
        nfs3::WriteArgs write;
        write.file = file;
        write.count = size;
        write.data = data;
        const auto written = client.call<nfs3::WriteResult>(nfs3::Procedure::NFSPROC3_WRITE, write);
        const auto read = client.call<nfs3::ReadResult>(nfs3::Procedure::NFSPROC3_READ,
                                                        nfs3::ReadArgs{file, 0, size});
        if (!written || !read || copy(read->ok.data) != data)
          return void(failures[number] = "octets differ at size " + std::to_string(size));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& failure : failures) EXPECT_EQ(failure, "");
  server.stop();
  EXPECT_EQ(server.statistics().connections, kThreads);
}

}  // namespace
}  // namespace steertag::peer::testing
