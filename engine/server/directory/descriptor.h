// A descriptor of the host that is closed with its owner.
#pragma once

#include <unistd.h>

#include <utility>

namespace steertag::peer {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  Descriptor(Descriptor&& other) noexcept : descriptor_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      close();
      descriptor_ = other.release();
    }
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }

  int get() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }
  /// The caller closes it.
  int release() { return std::exchange(descriptor_, -1); }

 private:
  void close() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  int descriptor_ = -1;
};

}  // namespace steertag::peer
