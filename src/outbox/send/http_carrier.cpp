#include "outbox/send/http_carrier.h"

#include <utility>

namespace hk::outbox {
namespace {

class HttpCarrier final : public Carrier {
 public:
  explicit HttpCarrier(std::unique_ptr<delivery::Dispatcher> dispatcher)
      : dispatcher_(std::move(dispatcher)) {}

  void start(std::vector<delivery::Request> requests) override {
    dispatcher_->start(std::move(requests));
  }

 private:
  const std::unique_ptr<delivery::Dispatcher> dispatcher_;
};

}  // namespace

MakeCarrier over_http(delivery::DispatcherOptions options) {
  return [options = std::move(options)](
             void* io_context, delivery::AnswerTaker& taker) -> Result<std::unique_ptr<Carrier>> {
    auto made = delivery::Dispatcher::make(options, io_context, taker);
    if (!made) {
      return std::unexpected(made.error());
    }
    return std::make_unique<HttpCarrier>(*std::move(made));
  };
}

}  // namespace hk::outbox
