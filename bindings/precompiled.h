// What most bindings include, for builds with STEERTAG_QUICK alone.
#pragma once

#include "data_classes.h"
#include "fabric/fabric.h"
#include "rpc/message.h"
