#include "security/rsa_key.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include <utility>

#include "base/assert.h"
#include "security/bytes.h"
#include "security/credentials.h"

namespace hk::security {

namespace {

constexpr unsigned key_bits = 2048;
constexpr int valid_days = 36'500;  // nobody would renew it: whoever has the key has the server

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using Bio = std::unique_ptr<BIO, Freed<BIO_free_all>>;
using Digesting = std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX_free>>;

const EVP_MD* digest_of(RsaHash hash) { return hash == RsaHash::sha1 ? EVP_sha1() : EVP_sha256(); }

Bio reading(std::string_view text) {
  HK_ASSERT(text.size() < (std::size_t{1} << 20U));
  Bio bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  HK_ASSERT(bio != nullptr);
  return bio;
}

std::string written(BIO* bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  HK_ASSERT(size > 0);
  return {bytes, static_cast<std::size_t>(size)};
}

Certificate certify(EVP_PKEY* key, const std::string& common_name) {
  Certificate certificate(X509_new());
  HK_ASSERT(certificate != nullptr);
  X509* const x509 = certificate.get();
  HK_ASSERT(X509_set_version(x509, X509_VERSION_3) == 1);
  std::uint64_t serial = 0;
  fill_random(&serial, sizeof serial);
  HK_ASSERT(ASN1_INTEGER_set_uint64(X509_get_serialNumber(x509), serial >> 1U) == 1);
  // From yesterday on: the clock of whoever verifies may be behind.
  HK_ASSERT(X509_time_adj_ex(X509_getm_notBefore(x509), -1, 0, nullptr) != nullptr);
  HK_ASSERT(X509_time_adj_ex(X509_getm_notAfter(x509), valid_days, 0, nullptr) != nullptr);
  HK_ASSERT(X509_set_pubkey(x509, key) == 1);
  X509_NAME* const name = X509_get_subject_name(x509);
  HK_ASSERT(
      X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, bytes_of(common_name), -1, -1, 0) == 1);
  HK_ASSERT(X509_set_issuer_name(x509, name) == 1);
  HK_ASSERT(X509_sign(x509, key, EVP_sha256()) > 0);
  return certificate;
}

}  // namespace

struct RsaKey::Impl {
  Key key;
};

RsaKey::Made RsaKey::make(const std::string& common_name) {
  const Key key(EVP_RSA_gen(key_bits));
  HK_ASSERT(key != nullptr);
  const Certificate certificate = certify(key.get(), common_name);
  const Bio private_out(BIO_new(BIO_s_secmem()));
  const Bio certificate_out(BIO_new(BIO_s_mem()));
  HK_ASSERT(private_out != nullptr && certificate_out != nullptr);
  HK_ASSERT(PEM_write_bio_PrivateKey(private_out.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                     nullptr) == 1);
  HK_ASSERT(PEM_write_bio_X509(certificate_out.get(), certificate.get()) == 1);
  return {Secret(written(private_out.get())), written(certificate_out.get())};
}

Result<RsaKey> RsaKey::from_pem(const Secret& private_pem) {
  const Bio in = reading(private_pem.reveal());
  Key key(PEM_read_bio_PrivateKey(in.get(), nullptr, nullptr, nullptr));
  if (key == nullptr || EVP_PKEY_is_a(key.get(), "RSA") != 1) {
    return fail(ErrorKind::corruption, "what should be a private RSA key is none");
  }
  return RsaKey(std::make_shared<const Impl>(Impl{std::move(key)}));
}

std::string RsaKey::sign(RsaHash hash, std::string_view text) const {
  const Digesting context(EVP_MD_CTX_new());
  HK_ASSERT(context != nullptr);
  HK_ASSERT(
      EVP_DigestSignInit(context.get(), nullptr, digest_of(hash), nullptr, impl_->key.get()) == 1);
  std::string signature(static_cast<std::size_t>(EVP_PKEY_get_size(impl_->key.get())), '\0');
  std::size_t size = signature.size();
  HK_ASSERT(EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                           bytes_of(text), text.size()) == 1);
  signature.resize(size);
  return signature;
}

bool rsa_verify(std::string_view certificate_pem, RsaHash hash, std::string_view text,
                std::string_view signature) {
  const Bio in = reading(certificate_pem);
  const Certificate certificate(PEM_read_bio_X509(in.get(), nullptr, nullptr, nullptr));
  if (certificate == nullptr) {
    return false;
  }
  const Digesting context(EVP_MD_CTX_new());
  return context != nullptr &&
         EVP_DigestVerifyInit(context.get(), nullptr, digest_of(hash), nullptr,
                              X509_get0_pubkey(certificate.get())) == 1 &&
         EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(), bytes_of(text),
                          text.size()) == 1;
}

}  // namespace hk::security
