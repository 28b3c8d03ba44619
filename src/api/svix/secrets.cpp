#include "api/svix/secrets.h"

#include "security/webhook_signature.h"

namespace hk::api::svix {

namespace {

using core::webhook::SigningSecret;
using SecretKind = security::WebhookSecret::Kind;

SigningSecret sealed(const Services& services, const Call& call,
                     const security::WebhookSecret& secret) {
  return {.sealed = services.tenants.sealed_webhook_secret(call.tenant->name, secret.text),
          .kind = secret.kind == SecretKind::signing ? SigningSecret::Kind::ed25519
                                                     : SigningSecret::Kind::symmetric};
}

}  // namespace

SigningSecret make_signing_secret(const Services& services, const Call& call) {
  return sealed(services, call, security::make_secret());
}

SigningSecret read_signing_secret(const Services& services, const Call& call, Input& in,
                                  std::string_view name) {
  const auto text = in.text(name);
  if (!text) {
    return make_signing_secret(services, call);
  }
  const auto secret = security::parse_secret(*text);
  if (!secret) {
    in.refuse(name, secret.error().message);
    return {};
  }
  if (secret->kind == SecretKind::verifying) {
    in.refuse(name, "is a public key: signing needs the secret key, which begins with whsk_");
    return {};
  }
  return sealed(services, call, *secret);
}

Result<std::string> shown_secret(const Services& services, core::TenantId tenant,
                                 const SigningSecret& secret) {
  const Result<Secret> text = services.tenants.open_webhook_secret(tenant, secret.sealed);
  if (!text) {
    return std::unexpected(text.error());
  }
  if (secret.kind == SigningSecret::Kind::symmetric) {
    return std::string(text->reveal());
  }
  const auto parsed = security::parse_secret(text->reveal());
  if (!parsed) {
    return fail(ErrorKind::corruption, "a stored signing key cannot be read");
  }
  return security::public_key_text(*parsed);
}

}  // namespace hk::api::svix
