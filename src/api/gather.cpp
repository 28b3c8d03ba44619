#include "api/gather.h"

#include <memory>

namespace hk::api {

namespace {

struct Gathering {
  std::vector<core::Reply> replies;
  std::size_t missing = 0;
  std::move_only_function<void(std::vector<core::Reply>)> finish;
};

}  // namespace

void submit_all(Batcher& batcher, std::vector<core::Command> commands,
                std::move_only_function<void(std::vector<core::Reply>)> finish) {
  if (commands.empty()) {
    finish({});
    return;
  }
  const auto all = std::make_shared<Gathering>();  // shared by the callbacks of its commands
  all->replies.resize(commands.size());
  all->missing = commands.size();
  all->finish = std::move(finish);
  for (std::size_t i = 0; i < commands.size(); ++i) {
    batcher.submit(std::move(commands[i]), [all, i](core::Reply reply) {
      all->replies[i] = std::move(reply);
      if (--all->missing == 0) {
        all->finish(std::move(all->replies));
      }
    });
  }
}

}  // namespace hk::api
