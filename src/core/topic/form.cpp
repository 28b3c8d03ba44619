#include "core/topic/form.h"

namespace hk::core {

std::string filled(const Form& form, std::string_view subscription, MessageId id) {
  std::string out;
  out.reserve(form.text.size() + 64 * form.places.size());
  std::size_t at = 0;
  for (const auto& [before, hole] : form.places) {
    out.append(form.text, at, before - at);
    at = before;
    switch (hole) {
      case Form::Hole::subscription: out += subscription; break;
      case Form::Hole::message_id: out += uuid_text(id); break;
      case Form::Hole::sequence_number: out += sequence_text(id); break;
    }
  }
  return out.append(form.text, at);
}

}  // namespace hk::core
