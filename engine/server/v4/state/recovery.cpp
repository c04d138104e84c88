// The recovery file and the grace period.
#include "server/v4/state/recovery.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

namespace steertag::peer {
namespace {

std::string line_of(const Client& client) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string line = std::to_string(client.minorversion) + ' ';
  for (const char octet : client.owner) {
    const auto value = static_cast<unsigned char>(octet);
    line += kDigits[value >> 4];
    line += kDigits[value & 15];
  }
  return line;
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

bool Recovery::is_line(std::string_view line) {
  const bool starts = line.size() >= 2 && (line[0] == '0' || line[0] == '1') && line[1] == ' ';
  return starts && line.find_first_not_of("0123456789abcdef", 2) == std::string_view::npos;
}

Recovery::Recovery(std::string path, TimePoint now, std::chrono::seconds grace)
    : path_(std::move(path)), ends_(now + grace) {
  if (path_.empty()) return;
  std::ifstream file(path_);
  std::size_t octets = 0;
  for (std::string line; std::getline(file, line);) {
    octets += line.size() + 1;
    if (octets > kLargestRecoveryFile || former_.size() == kMostClients) break;
    if (is_line(line)) former_.insert(line);
  }
  waiting_ = former_;
  in_grace_ = !former_.empty();
}

bool Recovery::may_reclaim(const Client& client) const {
  return in_grace_ && !client.reclaim_complete && former_.contains(line_of(client));
}

void Recovery::complete(const Client& client) {
  if (!in_grace_) return;
  waiting_.erase(line_of(client));
  // Clients of minor version 0 have no RECLAIM_COMPLETE: with one of them it takes its time.
  if (waiting_.empty() && !held_) end_grace();
}

void Recovery::hold(bool held) {
  held_ = held;
  if (in_grace_ && waiting_.empty() && !held_) end_grace();
}

void Recovery::check(TimePoint now) {
  if (in_grace_ && now >= ends_) end_grace();
}

void Recovery::end_grace() {
  // RFC 8881 8.4.3: who has not reclaimed must not reclaim after another restart, since others may
  // have had conflicting state meanwhile.
  in_grace_ = false;
  former_.clear();
  waiting_.clear();
  write();
}

bool Recovery::record(Client& client) {
  if (client.recorded || path_.empty()) return true;
  const auto [at, added] = present_.insert(line_of(client));
  if (added && !former_.contains(*at) && !write()) {
    present_.erase(at);
    return false;
  }
  client.recorded = true;
  return true;
}

void Recovery::forget(std::span<Client* const> clients) {
  bool changed = false;
  for (Client* client : clients) {
    if (!client->recorded) continue;
    client->recorded = false;
    present_.erase(line_of(*client));
    changed = true;
  }
  // If this fails, the next that succeeds leaves the lines out.
  if (changed) write();
}

bool Recovery::write() const {
  if (path_.empty()) return true;
  std::string text;
  for (const std::string& line : present_) text += line + '\n';
  for (const std::string& line : former_) {
    if (!present_.contains(line)) text += line + '\n';
  }
  const std::string fresh = path_ + ".new";
  const int file = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return false;
  const bool written = write_all(file, text) && ::fsync(file) == 0;
  if (::close(file) != 0 || !written) return false;
  if (std::rename(fresh.c_str(), path_.c_str()) != 0) return false;
  // The directory entry has to be on the disk too.
  const std::size_t slash = path_.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
  const int directory = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return false;
  const bool synced = ::fsync(directory) == 0;
  ::close(directory);
  return synced;
}

}  // namespace steertag::peer
