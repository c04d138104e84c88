// A client of files that are read another way, beside a server with direct access.
#pragma once

#include "client/files/file_reader.h"
#include "client/nfs3/nfs3_files.h"
#include "client/v4/nfs4_files.h"
#include "server/testing/direct_fixture.h"

namespace steertag::peer::testing {

/// `Files` is a kind of ForwardedFiles. A test makes them from what `connect_files` gives.
template <class Files>
class DirectFilesTest : public DirectTest {
 protected:
  void TearDown() override { stop(); }
  void stop() {
    files.reset();
    schedule.reset();
    requester.reset();
  }
  /// The files of a new client of this version of NFS.
  std::unique_ptr<RemoteFiles> connect_files(std::uint32_t version,
                                             const RequesterOptions& options) {
    stop();
    requester = std::make_unique<Requester>(*provider, url, options, next_xid);
    next_xid += 0x01000000;
    schedule = std::make_unique<CallSchedule>(
        *requester, [this] { return now; }, 10s);
    if (version == 3) {
      auto version3 = std::make_unique<Nfs3Files>(*schedule, identity);
      EXPECT_TRUE(version3->mount("/export"));
      return version3;
    }
    SessionOptions session;
    session.identity = identity;
    session.owner = "test";
    auto version4 = std::make_unique<Nfs4Files>(*schedule, std::move(session));
    EXPECT_TRUE(version4->start());
    return version4;
  }
  RemoteFile open(std::string_view path) {
    const auto object = files->find(path, true);
    EXPECT_TRUE(object) << object.error().message();
    const auto file = files->open(object->handle);
    EXPECT_TRUE(file) << file.error().message();
    return file.value_or(0);
  }
  Bytes fetch(std::string_view path, std::uint64_t size) {
    const RemoteFile file = open(path);
    Bytes octets;
    FileReader reader(*files, file, size,
                      [&](std::uint64_t, View data) -> Expected<void, FileError> {
                        octets.insert(octets.end(), data.begin(), data.end());
                        return {};
                      });
    step_until([&] {
      reader.step(0ms);
      return reader.done();
    });
    EXPECT_FALSE(reader.error()) << reader.error()->message();
    EXPECT_TRUE(files->close(file));
    return octets;
  }
  /// Drives client and server until `done`.
  template <class Done>
  void step_until(Done&& done) {
    drive([&] {
      files->step(0ms);
      return done();
    });
  }

  const Identity identity{true, 1000, 1000, "test", {}};
  std::unique_ptr<Requester> requester;
  std::unique_ptr<CallSchedule> schedule;
  std::unique_ptr<Files> files;
};

}  // namespace steertag::peer::testing
