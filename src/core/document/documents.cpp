#include "core/document/documents.h"
#include "core/tenant/tenants.h"

namespace hk::core {

Reply Documents::execute(DocumentCommand&& command) {
  return std::visit([this](auto&& one) { return decide(std::forward<decltype(one)>(one)); },
                    std::move(command));
}

Reply Documents::decide(PutDocumentCommand command) {
  Document& document = command.document;
  if (!tenants_.contains(document.tenant)) {
    return fail(ErrorKind::not_found, "no such tenant");
  }
  const auto known = batch_.get<Document>({document.tenant, document.kind, document.name});
  const std::uint64_t version = known ? known->version : 0;
  if (command.if_version && *command.if_version != version) {
    return fail(ErrorKind::conflict,
                document.kind + " " + document.name + " was changed meanwhile; read it again");
  }
  document.version = version + 1;
  document.created_at = known ? known->created_at : batch_.now();
  batch_.put(Put<Document>{std::move(document)});
  return Done{};
}

Reply Documents::decide(const DeleteDocumentCommand& command) {
  if (batch_.get<Document>({command.tenant, command.kind, command.name})) {
    batch_.erase<Document>(command.tenant, command.kind, command.name);
  }
  return Done{};
}

}  // namespace hk::core
