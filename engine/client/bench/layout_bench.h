// Measures LAYOUTGET: how soon a client has the layout of a file.
#pragma once

#include "client/bench/file_bench.h"
#include "client/v4/client_session.h"

namespace steertag::peer {

/// One LAYOUTGET of a whole file at a time, again and again. A LAYOUTRETURN follows each, outside
/// of the times, so that every one finds a file without a layout.
class LayoutBench {
 public:
  /// `session` must outlive the bench. It has opened the file, and holds no layout of it.
  LayoutBench(ClientSession& session, const RemoteHandle& file, const nfs4::StateId& opened,
              DeadlineClock clock, ProcessorClock processor)
      : session_(session),
        file_(file),
        opened_(opened),
        clock_(std::move(clock)),
        processor_(std::move(processor)) {}

  /// `bytes` are those of the layouts' bodies, `elapsed` is the time of the LAYOUTGETs alone. They
  /// ask for no more octets than the layout takes, so that only a large one needs a reply chunk. It
  /// goes on for at least so many calls: see kMostExtension.
  Expected<Measured, FileError> measure(std::chrono::milliseconds duration,
                                        std::uint64_t least_calls);

 private:
  struct Granted {
    nfs4::StateId stateid{};
    std::uint32_t layouts = 0;  // octets, as loga_maxcount counts them
    std::uint32_t bodies = 0;   // octets of them
  };
  Expected<Granted, FileError> get(std::uint32_t maxcount);
  Expected<void, FileError> give_back(const nfs4::StateId& stateid);

  ClientSession& session_;
  RemoteHandle file_;
  nfs4::StateId opened_;
  DeadlineClock clock_;
  ProcessorClock processor_;
};

}  // namespace steertag::peer
