// What serves: one server, one with data servers in it, or a part of pNFS of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "serve/options.h"
#include "serve/trouble_log.h"
#include "server/striped_server.h"
#include "server/v4/pnfs/control/data_control.h"
#include "server/v4/pnfs/control/metadata_control.h"

namespace steertag::serve {

class Serving {
 public:
  /// `tell` gets lines about other parts of pNFS. `storage` and `troubles` must outlive it. The
  /// error is a sentence.
  static Expected<Serving, std::string> start(const Options& options, peer::Backend& storage,
                                              const peer::Nfs4StateOptions& state,
                                              const peer::ServerOptions& how, TroubleLog& troubles,
                                              std::function<void(const std::string&)> tell);

  const peer::Server& server() const { return striped_ ? striped_->metadata_server() : *plain_; }
  void poll(std::chrono::milliseconds timeout) {
    striped_ ? striped_->poll(timeout) : plain_->poll(timeout);
  }
  /// Whether it grants layouts, so that there is something to administer.
  bool is_metadata_server() const { return striped_ || metadata_control_; }
  /// All layouts of the file system are recalled.
  void recall_layouts();
  /// All layouts are recalled, and the device that they name is replaced.
  void replace_device();
  /// A data server goes on at other ports. The error is a sentence.
  Expected<void, std::string> move_data_server();
  /// Where it listens, a line each, and with data servers in it these.
  std::string places() const;
  /// What each server has carried, a line each.
  std::string counts() const;

 private:
  // Servers end before what they refer to.
  std::vector<std::unique_ptr<fabric::Provider>> providers_;
  std::shared_ptr<peer::control::MetadataControl> metadata_control_;
  std::shared_ptr<peer::control::DataControl> data_control_;
  std::unique_ptr<peer::Server> plain_;
  std::unique_ptr<peer::StripedServer> striped_;
};

}  // namespace steertag::serve
