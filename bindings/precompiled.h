// Headers of most bindings, for builds with STEERTAG_QUICK only.
#pragma once

#include "data_classes.h"
#include "fabric/fabric.h"
#include "rpc/message.h"
