// Judges a server's replies in its author's own unit test: no connection, no Python.
#include <initializer_list>
#include <iostream>
#include <string_view>

#include "conformance/judge.h"
#include "wire/xdr.h"

using steertag::Bytes;
using steertag::View;
using steertag::trace::Role;
namespace trace = steertag::trace;

constexpr std::uint32_t kXid = 7;

/// A Send of these words: the transport header (RFC 8166 4.2), then the RPC message.
Bytes message(std::initializer_list<std::uint32_t> words) {
  Bytes octets;
  steertag::wire::Writer writer(octets);
  for (const std::uint32_t word : words) writer.u32(word);
  return octets;
}

/// NFSv3's NULL, which asks for 32 credits.
Bytes null_call() {
  return message({kXid, 1, 32, 0, 0, 0, 0, kXid, 0, 2, 100003, 3, 0, 0, 0, 0, 0});
}

/// Call your encoder here.
Bytes null_reply(std::uint32_t xid, std::uint32_t credit) {
  return message({xid, 1, credit, 0, 0, 0, 0, xid, 1, 0, 0, 0, 0});
}

/// Passes the events of a connection to a judge, and prints what it finds.
void judge(std::string_view name, View reply) {
  steertag::conformance::Judge judge;
  const Bytes call = null_call();
  judge.on_event({0, 0, Role::client, trace::Connect{}});
  judge.on_event({1, 0, Role::server, trace::Accept{}});
  judge.on_event({2, 0, Role::client, trace::Send{call, {}}});
  judge.on_event({3, 0, Role::server, trace::Send{reply, {}}});
  std::cout << "findings in " << name << ": " << judge.findings().size() << '\n';
  for (const auto& finding : judge.findings()) {
    const auto& clause = *finding.requirement;
    std::cout << "  " << clause.document << ' ' << clause.section << " ("
              << steertag::ledger::name(clause.level) << "): " << clause.statement << '\n'
              << "    expected " << finding.expected << "; observed " << finding.observed << '\n';
  }
}

int main() {
  judge("a correct reply", null_reply(kXid, 32));
  judge("a reply without credits", null_reply(kXid, 0));
  judge("a reply to another call", null_reply(kXid + 1, 32));
}
