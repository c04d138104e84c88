// The replaced operator new of the benchmark program.
#include "operator_new.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

// Replacing operator new leaves no other place for the count than a variable of the program.
std::atomic<std::uint64_t> counted{0};

void* allocate(std::size_t size) {
  counted.fetch_add(1, std::memory_order_relaxed);
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) {
  return allocate(size);
}
void* operator new[](std::size_t size) {
  return allocate(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}

std::uint64_t steertag::bench::allocations() {
  return counted.load(std::memory_order_relaxed);
}
