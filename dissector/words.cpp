// Names of messages, chunks and operations.
//
// SPDX-License-Identifier: GPL-2.0-or-later
#include "dissector/words.h"

namespace steertag::dissector {

const char* word(conformance::Kind kind) {
  switch (kind) {
    case conformance::Kind::empty:
      return "empty";
    case conformance::Kind::too_short:
      return "too short";
    case conformance::Kind::done:
      return "done";
    case conformance::Kind::msgp:
      return "msgp";
    case conformance::Kind::error:
      return "error";
    case conformance::Kind::faulty:
      return "faulty";
    case conformance::Kind::call:
      return "call";
    case conformance::Kind::reply:
      return "reply";
  }
  return "unknown";
}

const char* word(grade::ChunkNote::Kind kind) {
  switch (kind) {
    case grade::ChunkNote::Kind::read:
      return "read";
    case grade::ChunkNote::Kind::write:
      return "write";
    case grade::ChunkNote::Kind::reply:
      return "reply";
  }
  return "unknown";
}

const char* word(grade::OperationNote::Kind kind) {
  switch (kind) {
    case grade::OperationNote::Kind::write:
      return "write";
    case grade::OperationNote::Kind::read:
      return "read";
    case grade::OperationNote::Kind::read_response:
      return "read response";
    case grade::OperationNote::Kind::fault:
      return "fault";
    case grade::OperationNote::Kind::refusal:
      return "refusal";
  }
  return "unknown";
}

const char* word(conformance::ReadState state) {
  return conformance::name(state).data();  // of literals
}

const char* word(trace::Role role) {
  return role == trace::Role::client ? "client" : "server";
}

const char* direction_word(bool reverse) {
  return reverse ? "reverse" : "forward";
}

}  // namespace steertag::dissector
