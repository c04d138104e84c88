// Maps and releases pages.
#include "endpoint/receive_memory.h"

#include <sys/mman.h>

#include <new>

namespace steertag::peer {

ReceiveMemory::ReceiveMemory(std::size_t length) {
  if (length == 0) return;
  void* const start = ::mmap(nullptr, length, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) throw std::bad_alloc();
  start_ = Mapping(static_cast<std::byte*>(start), Unmap{length});
  // A huge page would be the memory of the receives of many connections at once.
  ::madvise(start, length, MADV_NOHUGEPAGE);
}

void ReceiveMemory::release() {
  if (start_) ::madvise(start_.get(), size(), MADV_DONTNEED);
}

void ReceiveMemory::Unmap::operator()(std::byte* start) const {
  ::munmap(start, length);
}

}  // namespace steertag::peer
