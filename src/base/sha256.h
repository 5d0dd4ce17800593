#pragma once

// SHA-256 of bytes that come piece by piece.

#include <memory>
#include <string>
#include <string_view>

namespace maskfit::base {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void add(std::string_view bytes);
  // Lower-case hexadecimal, of all that was added. Call it once, last.
  std::string finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace maskfit::base
