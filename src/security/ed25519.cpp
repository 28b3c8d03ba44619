#include "security/ed25519.h"

#include <openssl/evp.h>

#include <memory>

#include "base/assert.h"
#include "security/bytes.h"

namespace hk::security {
namespace {

constexpr std::size_t ed25519_key_bytes = 32;
constexpr std::size_t ed25519_signature_bytes = 64;

struct FreeEd25519Key {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using Ed25519Key = std::unique_ptr<EVP_PKEY, FreeEd25519Key>;
struct FreeEd25519Context {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Ed25519Context = std::unique_ptr<EVP_MD_CTX, FreeEd25519Context>;

Ed25519Key ed25519_private_key(const Secret& seed) {
  HK_ASSERT(seed.reveal().size() == ed25519_key_bytes);
  Ed25519Key key(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, bytes_of(seed.reveal()),
                                              ed25519_key_bytes));
  HK_ASSERT(key != nullptr);
  return key;
}

}  // namespace

std::string ed25519_public_key(const Secret& seed) {
  const Ed25519Key key = ed25519_private_key(seed);
  std::string raw(ed25519_key_bytes, '\0');
  std::size_t size = raw.size();
  HK_ASSERT(EVP_PKEY_get_raw_public_key(key.get(), bytes_of(raw), &size) == 1);
  HK_ASSERT(size == raw.size());
  return raw;
}

std::string ed25519_sign(const Secret& seed, std::string_view text) {
  const Ed25519Key key = ed25519_private_key(seed);
  const Ed25519Context signer(EVP_MD_CTX_new());
  HK_ASSERT(signer != nullptr);
  HK_ASSERT(EVP_DigestSignInit(signer.get(), nullptr, nullptr, nullptr, key.get()) == 1);
  std::string signature(ed25519_signature_bytes, '\0');
  std::size_t size = signature.size();
  HK_ASSERT(EVP_DigestSign(signer.get(), bytes_of(signature), &size, bytes_of(text), text.size()) ==
            1);
  HK_ASSERT(size == signature.size());
  return signature;
}

bool ed25519_verify(std::string_view public_key, std::string_view text,
                    std::string_view signature) {
  if (public_key.size() != ed25519_key_bytes || signature.size() != ed25519_signature_bytes) {
    return false;
  }
  const Ed25519Key key(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes_of(public_key),
                                                   public_key.size()));
  const Ed25519Context verifier(EVP_MD_CTX_new());
  HK_ASSERT(verifier != nullptr);
  return key != nullptr &&
         EVP_DigestVerifyInit(verifier.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
         EVP_DigestVerify(verifier.get(), bytes_of(signature), signature.size(), bytes_of(text),
                          text.size()) == 1;
}

}  // namespace hk::security
