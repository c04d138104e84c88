// A receive that the owner of a connection posted.
#pragma once

#include "fabric/fabric.h"
#include "fabric/software/ring.h"

namespace steertag::fabric::software {

struct PostedReceive {
  MutableView buffer;
  WorkId id = 0;
};
using PostedReceives = Ring<PostedReceive>;

}  // namespace steertag::fabric::software
