#include "api/sns/signing_key.h"

#include <memory>
#include <utility>
#include <vector>

#include "api/sns/actions.h"
#include "base/assert.h"
#include "base/encoding.h"
#include "security/credentials.h"
#include "security/digest.h"

namespace hk::api::sns {

namespace {

constexpr const char* key_name = "1";

/// The document needs a tenant; the first one is there as long as the server is.
std::optional<core::TenantId> keeper(const Services& services) {
  const auto tenants = services.tenants.all();
  return tenants.empty() ? std::nullopt : std::optional(tenants.front()->id);
}

std::optional<core::Document> stored(const Services& services) {
  const auto tenant = keeper(services);
  return tenant ? services.submitter.durable_view(*tenant)->get<core::Document>(
                      {*tenant, signing_key_kind, key_name})
                : std::nullopt;
}

std::string field(const core::Document& document, std::string_view name) {
  for (const core::Header& one : document.fields) {
    if (one.name == name) {
      return one.value;
    }
  }
  return {};
}

/// REQUIRES: it is set.
security::MasterKey sealing_key(const Secret& option) {
  auto key = security::MasterKey::from_hex(option);
  HK_ASSERT(key.has_value());
  return std::move(*key);
}

std::string seal(const Secret& pem, const Secret& with) {
  return base64(sealing_key(with).seal(pem, sealing_place));
}

Result<Secret> unseal(const std::string& sealed, const Secret& with) {
  const auto bytes = unbase64(sealed);
  if (!bytes) {
    return fail(ErrorKind::corruption, "the sealed signing key of SNS is not Base64");
  }
  return sealing_key(with).open(*bytes, sealing_place);
}

/// The key of this document, opened once.
Result<security::RsaKey> opened(const Services& services, const core::Document& document) {
  struct Opened {
    std::string sealed{};
    std::optional<security::RsaKey> key{};
  };
  thread_local Opened last;
  const std::string sealed = field(document, "Key");
  if (!last.key || last.sealed != sealed) {
    const Result<Secret> pem = unseal(sealed, services.options.sns_sealing_key);
    if (!pem) {
      return std::unexpected(pem.error());
    }
    Result<security::RsaKey> key = security::RsaKey::from_pem(*pem);
    if (!key) {
      return key;
    }
    last = {sealed, std::move(*key)};
  }
  return *last.key;
}

/// Those of this thread who wait for a key that is being made.
struct Waiting {
  struct One {
    ExchangePtr exchange{};
    std::move_only_function<void(const security::RsaKey&)> use{};
  };
  std::vector<One> all{};
};
std::weak_ptr<Waiting>& waiting_now() {
  thread_local std::weak_ptr<Waiting> waiting;
  return waiting;
}

void go_on(const std::shared_ptr<Waiting>& waiting, const core::Reply& reply) {
  waiting_now().reset();
  // Taken out, so that they end on this thread whoever lets go of the list last.
  std::vector<Waiting::One> all = std::exchange(waiting->all, {});
  for (Waiting::One& one : all) {
    one.exchange->guarded([&] {
      // Another thread may have stored its key first: then it is that one.
      if (!reply && reply.error().kind != ErrorKind::conflict) {
        one.exchange->refuse(aws::refusal_from(reply.error()));
      } else {
        with_signing_key(one.exchange, std::move(one.use));
      }
    });
  }
}

/// RSA keys take long to find, so another thread does.
void make(const std::shared_ptr<Waiting>& waiting, const Services& services, Batcher& batcher,
          core::TenantId tenant) {
  services.options.run_blocking([waiting, &services, &batcher, tenant] {
    security::RsaKey::Made made = security::RsaKey::make("sns.hikyaku");
    core::Document document{.tenant = tenant, .kind = signing_key_kind, .name = key_name};
    document.fields.push_back({"Key", seal(made.private_pem, services.options.sns_sealing_key)});
    document.fields.push_back({"Certificate", std::move(made.certificate_pem)});
    batcher.io().post([waiting, &batcher, document = std::move(document)]() mutable {
      core::PutDocumentCommand command{.document = std::move(document), .if_version = 0};
      batcher.submit(std::move(command),
                     [waiting](const core::Reply& reply) { go_on(waiting, reply); });
    });
  });
}

}  // namespace

void with_signing_key(const ExchangePtr& exchange,
                      std::move_only_function<void(const security::RsaKey&)> use) {
  const Services& services = exchange->services;
  if (const auto document = stored(services)) {
    const Result<security::RsaKey> key = opened(services, *document);
    if (!key) {
      exchange->fail(key.error());
      return;
    }
    use(*key);
    return;
  }
  const auto tenant = keeper(services);
  if (!tenant || !services.options.run_blocking || services.options.sns_sealing_key.empty()) {
    exchange->refuse(
        {aws::ErrorCode::service_unavailable, "This server has no key to sign messages with."});
    return;
  }
  auto waiting = waiting_now().lock();
  const bool first = waiting == nullptr;
  if (first) {
    waiting = std::make_shared<Waiting>();
    waiting_now() = waiting;
  }
  waiting->all.push_back({exchange, std::move(use)});
  if (first) {
    make(waiting, services, exchange->batcher, *tenant);
  }
}

Signature sign(const security::RsaKey& key, std::string_view version, std::string_view text,
               std::string_view base_url) {
  const auto hash = version == "2" ? security::RsaHash::sha256 : security::RsaHash::sha1;
  return {.version = std::string(version),
          .text = base64(key.sign(hash, text)),
          .certificate_url = certificate_url(base_url)};
}

Result<core::Document> resealed(core::Document document, const Secret& from, const Secret& to) {
  for (core::Header& one : document.fields) {
    if (one.name != "Key") {
      continue;
    }
    const Result<Secret> pem = unseal(one.value, from);
    if (!pem) {
      return std::unexpected(pem.error());
    }
    one.value = seal(*pem, to);
  }
  return document;
}

void get_certificate(const Services& services, Call& call) {
  const auto document = stored(services);
  if (!document) {
    call.answer.refuse(404, "this server has not signed anything yet");
    return;
  }
  http::Response response;
  response.content_type = "application/x-pem-file";
  response.body = field(*document, "Certificate");
  call.answer(std::move(response));
}

}  // namespace hk::api::sns
