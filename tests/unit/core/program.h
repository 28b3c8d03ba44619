/// What a property test of the machine does, as data: steps that rapidcheck makes, leaves out and
/// prints.
#pragma once

#include <rapidcheck.h>

#include <array>
#include <cstdint>
#include <ostream>
#include <vector>

namespace hk::core::testing {

enum class Do : std::uint8_t {
  publish,
  enqueue,
  succeed,
  fail,
  give_up,
  report_again,  ///< an outcome of any lease that there ever was
  cancel,
  retry_letter,
  delete_letter,
  pause,
  resume,
  parallelism,
  pass_time,
  restart,
};
inline constexpr std::array step_names{
    "publish",      "enqueue",       "succeed", "fail",   "give_up",     "report_again", "cancel",
    "retry_letter", "delete_letter", "pause",   "resume", "parallelism", "pass_time",    "restart"};

/// `which` picks among what is there when the step is made, so that every shorter program is a
/// program, too.
struct Step {
  Do what = Do::publish;
  std::uint32_t which = 0;
  std::uint32_t host = 0;
  std::uint32_t dedup = 0;  ///< 0 = none
  bool same_batch = false;  ///< as the step before
};

inline std::ostream& operator<<(std::ostream& out, const Step& step) {
  out << (step.same_batch ? "\n    and " : "\n  ")
      << step_names.at(static_cast<std::size_t>(step.what)) << ' ' << step.which;
  if (step.what == Do::publish || step.what == Do::enqueue) {
    out << " to host " << step.host << ", dedup " << step.dedup;
  }
  return out;
}

inline rc::Gen<Step> any_step() {
  const auto what = rc::gen::weightedElement<Do>({{6, Do::publish},
                                                  {10, Do::enqueue},
                                                  {10, Do::succeed},
                                                  {6, Do::fail},
                                                  {2, Do::give_up},
                                                  {1, Do::report_again},
                                                  {3, Do::cancel},
                                                  {2, Do::retry_letter},
                                                  {1, Do::delete_letter},
                                                  {1, Do::pause},
                                                  {2, Do::resume},
                                                  {1, Do::parallelism},
                                                  {6, Do::pass_time},
                                                  {1, Do::restart}});
  return rc::gen::build<Step>(
      rc::gen::set(&Step::what, what), rc::gen::set(&Step::which, rc::gen::inRange(0U, 1000U)),
      rc::gen::set(&Step::host, rc::gen::inRange(0U, 2U)),
      rc::gen::set(&Step::dedup, rc::gen::weightedOneOf<std::uint32_t>(
                                     {{3, rc::gen::just(0U)}, {1, rc::gen::inRange(1U, 3U)}})),
      rc::gen::set(&Step::same_batch));
}

}  // namespace hk::core::testing
