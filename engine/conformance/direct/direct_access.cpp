// Keeps users, files and what changes their references.
#include "conformance/direct/direct_access.h"

#include <algorithm>

namespace steertag::conformance {

namespace {

/// Whether a change of the data meets the block of a reference. A block with fewer octets than a
/// whole one has the end of the file.
bool meets(const ContentChange& change, const direct::Reference& block, std::uint64_t block_bytes) {
  const bool is_last = block.length < block_bytes;
  if (change.size) {
    const std::uint64_t end = block.offset + block.length;
    return *change.size < end || (is_last && *change.size != end);
  }
  if (change.length == 0 || change.offset > UINT64_MAX - change.length) return false;
  const std::uint64_t end = change.offset + change.length;
  const bool behind_end = is_last && end > block.offset + block.length;
  const bool inside = change.offset < block.offset + block.length && end > block.offset;
  return inside || behind_end;
}

}  // namespace

void DirectUser::fail(const FailedRead& read) {
  if (failed.size() == kMostFailedReads) failed.pop_front();
  failed.push_back(read);
}

void DirectAccess::doubt(const direct::Verifier& verifier) {
  for (const auto& user : users_) user->may_have_ended |= user->verifier == verifier;
}

std::shared_ptr<DirectUser> DirectAccess::add(const direct::HelloArgs& asked,
                                              const direct::HelloOk& terms, std::uint64_t event) {
  if (users_.size() == kMostDirectUsers) {
    users_.pop_front();
    sees_all_ = false;
  }
  auto user = std::make_shared<DirectUser>();
  user->ticket = terms.ticket;
  user->verifier = asked.verifier;
  user->may_have_ended = asked.clientid != 0;  // the end of its lease of NFSv4 is no message
  user->block_bytes = terms.block_bytes;
  user->most_references = terms.most_references;
  user->lease_seconds = terms.lease_seconds;
  user->hello_event = event;
  users_.push_back(user);
  return user;
}

std::shared_ptr<DirectUser> DirectAccess::find(const direct::Ticket& ticket) const {
  const auto found =
      std::ranges::find_if(users_, [&](const auto& user) { return user->ticket == ticket; });
  return found == users_.end() ? nullptr : *found;
}

bool DirectAccess::is_foreign(const DirectUser& user, std::uint32_t stag, std::uint64_t offset,
                              std::uint64_t length) const {
  return std::ranges::any_of(users_, [&](const auto& other) {
    return other.get() != &user && other->grants.covering(stag, offset, length) != nullptr;
  });
}

std::optional<std::uint32_t> DirectAccess::find_file(std::string_view handle) const {
  const auto found = files_.find(std::string(handle));
  if (found == files_.end()) return std::nullopt;
  return found->second;
}

std::optional<std::uint32_t> DirectAccess::number_of(std::string_view handle) {
  if (const auto known = find_file(handle)) return known;
  if (handles_.size() == kMostDirectFiles) return std::nullopt;
  const auto number = static_cast<std::uint32_t>(handles_.size());
  handles_.emplace_back(handle);
  files_.emplace(handle, number);
  return number;
}

void DirectAccess::recall(FileDelegation delegation) {
  if (std::ranges::find(recalls_, delegation) != recalls_.end()) return;
  if (recalls_.size() == kMostDirectRecalls) recalls_.pop_front();
  recalls_.push_back(std::move(delegation));
}

bool DirectAccess::take_recall(const FileDelegation& delegation) {
  return std::erase(recalls_, delegation) > 0;
}

void DirectAccess::keep(DirectUser& user, const Grant& grant) {
  std::size_t held = 0;
  for (const auto& each : users_) held += each->grants.size();
  const bool is_full = held >= kMostGrantsInAll;
  if (is_full || user.grants.add(grant) == nullptr) user.incomplete = true;
}

void DirectAccess::change(const ContentChange& change, std::uint64_t began, std::uint64_t event) {
  const auto file = find_file(change.file);
  if (!file) return;
  const std::uint64_t now = next_moment();
  for (const auto& user : users_) {
    user->grants.each_of(*file, [&](Grant& grant) {
      if (grant.first >= began) return;  // it may have the new state
      if (change.denies && grant.denied == 0) {
        grant.denied = now;
        grant.denial_event = event;
      } else if (!change.denies && grant.changed == 0 &&
                 meets(change, grant.reference, user->block_bytes)) {
        grant.changed = now;
        grant.change_event = event;
      }
    });
  }
}

}  // namespace steertag::conformance
