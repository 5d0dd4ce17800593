#include "base/sha256.h"

#include <openssl/evp.h>

#include "base/error.h"

namespace maskfit::base {

struct Sha256::Context {
  EVP_MD_CTX* evp = EVP_MD_CTX_new();

  Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { EVP_MD_CTX_free(evp); }
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  MASKFIT_CHECK(context_->evp != nullptr && EVP_DigestInit_ex(context_->evp, EVP_sha256(), nullptr) == 1,
                "EVP_DigestInit_ex failed");
}

Sha256::~Sha256() = default;

void Sha256::add(std::string_view bytes) {
  MASKFIT_CHECK(EVP_DigestUpdate(context_->evp, bytes.data(), bytes.size()) == 1, "size={}", bytes.size());
}

std::string Sha256::finish() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  MASKFIT_CHECK(EVP_DigestFinal_ex(context_->evp, digest, &size) == 1, "EVP_DigestFinal_ex failed");
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

}  // namespace maskfit::base
