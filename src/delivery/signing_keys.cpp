#include "delivery/dispatcher.h"
#include "engine/tenant_directory.h"

namespace hk::delivery {

Result<std::unique_ptr<Dispatcher>> Dispatcher::make(DispatcherOptions options, void* io_context,
                                                     engine::Submitter& submitter,
                                                     const engine::TenantDirectory& tenants,
                                                     observe::Metrics& metrics,
                                                     observe::SpanExporter& spans) {
  SigningKeys keys = [&tenants](core::TenantId id) -> std::shared_ptr<const Secret> {
    auto entry = tenants.find(id);
    if (entry == nullptr) {
      return nullptr;
    }
    const Secret* key = &entry->current_key;
    return {std::move(entry), key};  // the entry lives as long as its key is held
  };
  return make(std::move(options), io_context, submitter, std::move(keys), metrics, spans);
}

}  // namespace hk::delivery
