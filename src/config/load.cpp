#include <unistd.h>

#include <algorithm>
#include <set>

#include "config/check.h"
#include "config/file.h"
#include "config/options.h"
#include "config/values.h"

namespace hk::config {
namespace {

constexpr std::string_view prefix = "HIKYAKU_";

/// A value and where it came from, to be named in an error.
struct Given {
  std::string text{};
  std::string source{};
  bool by_flag = false;
  bool by_config_file = false;
};

/// What one source says. Names are those of options, or of secrets with _file.
using Layer = std::map<std::string, Given>;

bool is_known(std::string_view name) {
  if (find_option(name) != nullptr) {
    return true;
  }
  if (!name.ends_with("_file")) {
    return false;
  }
  const OptionRow* const held = find_option(name.substr(0, name.size() - 5));
  return held != nullptr && may_be_file(held->kind);
}

std::unexpected<Error> unknown(const std::string& source, const std::string& name,
                               std::string (*spell)(std::string_view)) {
  const std::string near = nearest_option(name);
  return fail(ErrorKind::invalid_argument,
              "there is no option " + source +
                  (near.empty() ? "; the reference lists all of them"
                                : "; did you mean " + spell(near) + "?"));
}

Result<Layer> from_flags(const Flags& flags) {
  Layer layer;
  for (const auto& [flag, text] : flags) {
    std::string name = flag.substr(flag.starts_with("--") ? 2 : 0);
    std::replace(name.begin(), name.end(), '-', '_');
    if (!is_known(name)) {
      return unknown(flag_of(name), name, flag_of);
    }
    const OptionRow* const row = find_option(name);
    const bool alone = row != nullptr && row->kind == Kind::flag && text.empty();
    layer[name] = {.text = alone ? "true" : text, .source = flag_of(name), .by_flag = true};
  }
  return layer;
}

/// Kubernetes describes a service named "hikyaku" to every pod beside it in variables like these.
bool is_service_link(std::string_view name) {
  return name == "SERVICE_HOST" || name.starts_with("SERVICE_PORT") || name == "PORT" ||
         name.starts_with("PORT_");
}

Result<void> check_environment(const Surroundings& around) {
  const std::set<std::string> elsewhere(around.environment_known.begin(),
                                        around.environment_known.end());
  for (const std::string& variable : around.environment_names) {
    if (!variable.starts_with(prefix) || elsewhere.contains(variable)) {
      continue;
    }
    std::string name = variable.substr(prefix.size());
    if (is_service_link(name)) {
      continue;
    }
    std::transform(name.begin(), name.end(), name.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    if (!is_known(name) || environment_of(name) != variable) {
      return unknown(variable, name, environment_of);
    }
  }
  return {};
}

Layer from_environment(const GetEnv& getenv) {
  Layer layer;
  const auto look = [&](const std::string& name) {
    const std::string variable = environment_of(name);
    if (const auto text = getenv(variable); text && !text->empty()) {
      layer[name] = {.text = *text, .source = variable};
    }
  };
  for (const OptionRow& row : option_rows()) {
    look(std::string(row.name));
    if (may_be_file(row.kind)) {
      look(std::string(row.name) + "_file");
    }
  }
  return layer;
}

Result<Layer> from_file(const std::string& path) {
  const auto text = read_file(path);
  if (!text) {
    return fail(text.error().kind, "config: " + text.error().message);
  }
  const auto entries = parse_file(path, *text);
  if (!entries) {
    return std::unexpected(entries.error());
  }
  Layer layer;
  for (const auto& [name, entry] : *entries) {
    const std::string source = path + ", line " + std::to_string(entry.line);
    if (!is_known(name)) {
      return unknown("\"" + name + "\" (" + source + ")", name,
                     [](std::string_view near) { return std::string(near); });
    }
    if (name == "config") {
      return fail(ErrorKind::invalid_argument, source + ": a config file cannot name another one");
    }
    layer[name] = {.text = entry.value, .source = source, .by_config_file = true};
  }
  return layer;
}

/// One function a row: the value's text into the field of the row's name.
using Assign = Result<void> (*)(Options&, const OptionRow&, std::string_view);
constexpr Assign assigners[] = {
#define HK_OPTION(name, kind, default_text, unit, allowed, since, help) \
  [](Options& options, const OptionRow& row, std::string_view text) {   \
    return assign(options.name, row, text);                             \
  },
#include "config/options.def"
#undef HK_OPTION
};

class Loader {
 public:
  explicit Loader(std::vector<Layer> layers, std::string config_path)
      : layers_(std::move(layers)), config_path_(std::move(config_path)) {}

  Result<Options> run() {
    for (std::size_t i = 0; i < option_rows().size(); ++i) {
      const OptionRow& row = option_rows()[i];
      auto done = may_be_file(row.kind) ? put_with_file(row, assigners[i]) : put(row, assigners[i]);
      if (!done) {
        return std::unexpected(done.error());
      }
    }
    if (options_.dev && !given("allow_loopback_destinations")) {
      options_.allow_loopback_destinations = true;
    }
    if (auto fits = check_together(options_); !fits) {
      return std::unexpected(fits.error());
    }
    return std::move(options_);
  }

 private:
  /// Of the first layer, in order of precedence, that has it.
  [[nodiscard]] const Given* given(std::string_view name) const {
    for (const Layer& layer : layers_) {
      if (const auto found = layer.find(std::string(name)); found != layer.end()) {
        return &found->second;
      }
    }
    return nullptr;
  }

  Result<void> put(const OptionRow& row, Assign assign_to) {
    const Given* const value = given(row.name);
    const std::string_view text = value != nullptr ? value->text : row.default_text;
    if (auto done = assign_to(options_, row, text); !done) {
      const std::string source = value != nullptr ? value->source : "its default";
      return fail(done.error().kind, std::string(row.name) + " (from " + source + "): \"" +
                                         std::string(text) + "\" " + done.error().message);
    }
    return {};
  }

  Result<void> put_with_file(const OptionRow& row, Assign assign_to) {
    const std::string name(row.name);
    for (const Layer& layer : layers_) {
      const auto inline_value = layer.find(name);
      const auto file = layer.find(name + "_file");
      if (inline_value != layer.end() && file != layer.end()) {
        return fail(ErrorKind::invalid_argument,
                    name + " is given twice: " + inline_value->second.source + " and " +
                        file->second.source + "; leave one out");
      }
      if (inline_value != layer.end()) {
        if (row.kind == Kind::secret) {
          warn_about(name, inline_value->second);
        }
        options_.given_by[name] = inline_value->second.source;
        return name_source(assign_to(options_, row, inline_value->second.text), name,
                           inline_value->second.source);
      }
      if (file != layer.end()) {
        const auto secret = read_secret_file(file->second.text);
        if (!secret) {
          return fail(secret.error().kind,
                      name + "_file (from " + file->second.source + "): " + secret.error().message);
        }
        options_.given_by[name] = file->second.source;
        if (row.kind == Kind::secret && others_can_read(file->second.text)) {
          options_.warnings.push_back(name + "_file: others can read " + file->second.text +
                                      "; chmod 600 would keep it secret");
        }
        return name_source(assign_to(options_, row, secret->reveal()), name, file->second.text);
      }
    }
    return {};
  }

  /// The value stays out of it.
  static Result<void> name_source(Result<void> done, const std::string& name,
                                  const std::string& source) {
    if (!done) {
      return fail(done.error().kind,
                  name + " (from " + source + "): the value " + done.error().message);
    }
    return done;
  }

  void warn_about(const std::string& name, const Given& value) {
    if (value.by_flag) {
      options_.warnings.push_back(flag_of(name) +
                                  " shows the secret to every user of this machine in the list of "
                                  "processes; use " +
                                  environment_of(name) + " or " + flag_of(name + "_file"));
    }
    if (value.by_config_file && others_can_read(config_path_)) {
      options_.warnings.push_back(name + ": others can read " + config_path_ +
                                  ", which holds the secret; chmod 600 would keep it secret");
    }
  }

  const std::vector<Layer> layers_;  // the first one wins
  const std::string config_path_;
  Options options_;
};

}  // namespace

Result<Options> load(const Flags& flags, const GetEnv& getenv, const Surroundings& around) {
  auto by_flag = from_flags(flags);
  if (!by_flag) {
    return std::unexpected(by_flag.error());
  }
  if (auto known = check_environment(around); !known) {
    return std::unexpected(known.error());
  }
  std::vector<Layer> layers = {std::move(*by_flag), from_environment(getenv)};

  std::string config_path;
  for (const Layer& layer : layers) {
    if (const auto found = layer.find("config"); found != layer.end() && config_path.empty()) {
      config_path = found->second.text;
    }
  }
  if (!config_path.empty()) {
    auto by_file = from_file(config_path);
    if (!by_file) {
      return std::unexpected(by_file.error());
    }
    layers.push_back(std::move(*by_file));
  }
  return Loader(std::move(layers), config_path).run();
}

std::vector<std::string> environment_names() {
  std::vector<std::string> names;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    names.emplace_back(text.substr(0, text.find('=')));
  }
  return names;
}

}  // namespace hk::config
