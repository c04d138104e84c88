// The storage that the command line asks for.
#pragma once

#include <memory>

#include "fabric/fabric.h"
#include "serve/options.h"
#include "server/storage/backend.h"

namespace steertag::serve {

/// Memory, or the directory of --export. The error is one sentence.
Expected<std::unique_ptr<peer::Backend>, std::string> make_storage(
    const Options& options, peer::Clock clock, const fabric::RandomSource& random);

}  // namespace steertag::serve
