/// Documents: what adapters keep, by kind and name. Nothing of them is in memory. A component
/// (component.h).
#pragma once

#include "core/command.h"
#include "core/component.h"

namespace hk::core {

class Tenants;

class Documents : Component {
 public:
  Documents(Context& context, const Tenants& tenants) : Component(context), tenants_(tenants) {}

  Reply execute(DocumentCommand&& command);

 private:
  Reply decide(PutDocumentCommand command);
  Reply decide(const DeleteDocumentCommand& command);

  const Tenants& tenants_;
};

}  // namespace hk::core
