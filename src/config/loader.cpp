#include "config/loader.h"

#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/ascii.h"
#include "config/file.h"

namespace hk::config {
namespace {

/// A value and where it came from, to be named in an error.
struct Given {
  std::string text{};
  std::string source{};
  bool by_flag = false;
  bool by_config_file = false;
};

/// What one source says. Names are those of options, or of secrets with _file.
using Layer = std::map<std::string, Given>;

std::unexpected<Error> refused(std::string message) {
  return fail(ErrorKind::invalid_argument, std::move(message));
}

std::unexpected<Error> unknown(const std::string& source, const std::string& near) {
  return refused(
      "there is no option " + source +
      (near.empty() ? "; the reference lists all of them" : "; did you mean " + near + "?"));
}

std::string variable_for(std::string_view prefix, std::string_view name) {
  std::string variable(prefix);
  for (const char c : name) {
    variable.push_back(c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c);
  }
  return variable;
}

Result<Layer> from_flags(const OptionTable& table, const Flags& flags) {
  Layer layer;
  for (const auto& [flag, text] : flags) {
    std::string name = flag.substr(flag.starts_with("--") ? 2 : 0);
    std::replace(name.begin(), name.end(), '-', '_');
    if (!table.knows(name)) {
      const std::string near = table.nearest(name);
      return unknown(flag_for(name), near.empty() ? "" : flag_for(near));
    }
    const OptionRow* const row = table.find(name);
    const bool alone = row != nullptr && row->kind == Kind::flag && text.empty();
    layer[name] = {.text = alone ? "true" : text, .source = flag_for(name), .by_flag = true};
  }
  return layer;
}

/// Kubernetes describes a service named "hikyaku" to every pod beside it in variables like these.
bool is_service_link(std::string_view name) {
  return name == "SERVICE_HOST" || name.starts_with("SERVICE_PORT") || name == "PORT" ||
         name.starts_with("PORT_");
}

Result<void> check_environment(const OptionTable& table, const Surroundings& around) {
  const std::set<std::string> elsewhere(around.environment_known.begin(),
                                        around.environment_known.end());
  for (const std::string& variable : around.environment_names) {
    if (!variable.starts_with(table.prefix) || elsewhere.contains(variable)) {
      continue;
    }
    const std::string own = variable.substr(table.prefix.size());
    if (is_service_link(own)) {
      continue;
    }
    const std::string name = lower_case(own);
    if (!table.knows(name) || variable_for(table.prefix, name) != variable) {
      const std::string near = table.nearest(name);
      return unknown(variable, near.empty() ? "" : variable_for(table.prefix, near));
    }
  }
  return {};
}

Layer from_environment(const OptionTable& table, const GetEnv& getenv) {
  Layer layer;
  const auto look = [&](const std::string& name, const std::string& variable) {
    if (const auto text = getenv(variable); text && !text->empty()) {
      layer[name] = {.text = *text, .source = variable};
    }
  };
  for (const OptionRow& row : table.rows) {
    const std::string name = table.name_of(row);
    const std::string variable(row.variable);
    look(name, variable);
    if (may_be_file(row.kind)) {
      look(name + "_file", variable + "_FILE");
    }
  }
  return layer;
}

Result<Layer> from_file(const OptionTable& table, const std::string& path) {
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
    const std::string line = path + ", line " + std::to_string(entry.line);
    if (!table.knows(name)) {
      return unknown("\"" + name + "\" (" + line + ")", table.nearest(name));
    }
    if (name == "config") {
      return refused(line + ": a config file cannot name another one");
    }
    layer[name] = {.text = entry.value, .source = line + ": " + name, .by_config_file = true};
  }
  return layer;
}

/// The path that the first layer with one names; "": there is no config file.
std::string config_path_in(const OptionTable& table, const std::vector<Layer>& layers) {
  for (const Layer& layer : layers) {
    if (const auto found = layer.find("config"); table.config_file && found != layer.end()) {
      return found->second.text;
    }
  }
  return {};
}

/// Whoever is on this machine can read a command line.
bool has_password(std::string_view database) {
  const std::size_t scheme = database.find("://");
  if (scheme == std::string_view::npos) {
    return database.find("password") != std::string_view::npos;
  }
  const std::string_view rest = database.substr(scheme + 3);
  const std::string_view user = rest.substr(0, rest.find_first_of("/?"));
  const std::size_t at = user.rfind('@');
  return (at != std::string_view::npos && user.substr(0, at).find(':') != std::string_view::npos) ||
         database.find("password=") != std::string_view::npos;
}

class Loader {
 public:
  Loader(const OptionTable& table, std::vector<Layer> layers, std::string config_path,
         const AssignRow& assign_row)
      : table_(table),
        layers_(std::move(layers)),
        config_path_(std::move(config_path)),
        assign_row_(assign_row) {}

  Result<Loaded> run() {
    for (std::size_t i = 0; i < table_.rows.size(); ++i) {
      const OptionRow& row = table_.rows[i];
      if (auto done = may_be_file(row.kind) ? put_with_file(i, row) : put(i, row); !done) {
        return std::unexpected(done.error());
      }
    }
    return std::move(loaded_);
  }

 private:
  Result<void> put(std::size_t index, const OptionRow& row) {
    const std::string name = table_.name_of(row);
    for (const Layer& layer : layers_) {
      if (const auto found = layer.find(name); found != layer.end()) {
        const Given& value = found->second;
        loaded_.given_by[name] = value.source;
        return told(assign_row_(index, value.text), value.source + ": \"" + value.text + "\"");
      }
    }
    return told(assign_row_(index, row.default_text), "the default of " + name);
  }

  Result<void> put_with_file(std::size_t index, const OptionRow& row) {
    const std::string name = table_.name_of(row);
    for (const Layer& layer : layers_) {
      const auto itself = layer.find(name);
      const auto file = layer.find(name + "_file");
      if (itself != layer.end() && file != layer.end()) {
        return refused(itself->second.source + " and " + file->second.source +
                       " are both set; keep one");
      }
      if (itself != layer.end()) {
        return put_inline(index, row, itself->second);
      }
      if (file != layer.end()) {
        return put_from_file(index, row, file->second);
      }
    }
    return assign_row_(index, "");
  }

  Result<void> put_inline(std::size_t index, const OptionRow& row, const Given& value) {
    if (row.kind == Kind::database && value.by_flag && has_password(value.text)) {
      return refused(value.source +
                     " must not contain a password: every user of this machine could read it. Put "
                     "the whole URL into " +
                     std::string(row.variable) + " or into the file named by " +
                     std::string(row.variable) +
                     "_FILE, or the password into PGPASSWORD or ~/.pgpass");
    }
    if (row.kind == Kind::secret && value.by_flag) {
      loaded_.warnings.push_back(value.source +
                                 " shows the secret to every user of this machine in the list of "
                                 "processes; use " +
                                 std::string(row.variable) + " or " + value.source + "-file");
    }
    if (is_secret(row.kind) && value.by_config_file && others_can_read(config_path_)) {
      loaded_.warnings.push_back(value.source +
                                 ": others can read the file; chmod 600 would keep "
                                 "the secret in it");
    }
    loaded_.given_by[table_.name_of(row)] = value.source;
    return told(assign_row_(index, value.text), value.source + ": the value");
  }

  Result<void> put_from_file(std::size_t index, const OptionRow& row, const Given& file) {
    const auto secret = read_secret_file(file.text);
    if (!secret) {
      return fail(secret.error().kind, file.source + ": " + secret.error().message);
    }
    loaded_.given_by[table_.name_of(row)] = file.source;
    if (is_secret(row.kind) && others_can_read(file.text)) {
      loaded_.warnings.push_back(file.source + ": others can read " + file.text +
                                 "; chmod 600 would keep it secret");
    }
    return told(assign_row_(index, secret->reveal()), file.source + ": the value in " + file.text);
  }

  /// `what`: where the value came from, and the value unless it is a secret.
  static Result<void> told(Result<void> done, const std::string& what) {
    if (!done) {
      return fail(done.error().kind, what + " " + done.error().message);
    }
    return done;
  }

  const OptionTable& table_;
  const std::vector<Layer> layers_;  // the first one wins
  const std::string config_path_;
  const AssignRow& assign_row_;
  Loaded loaded_;
};

}  // namespace

Result<Loaded> load_table(const OptionTable& table, const Flags& flags, const GetEnv& getenv,
                          const Surroundings& around, const AssignRow& assign_row) {
  auto by_flag = from_flags(table, flags);
  if (!by_flag) {
    return std::unexpected(by_flag.error());
  }
  if (auto known = check_environment(table, around); !known) {
    return std::unexpected(known.error());
  }
  std::vector<Layer> layers = {std::move(*by_flag), from_environment(table, getenv)};
  const std::string config_path = config_path_in(table, layers);
  if (!config_path.empty()) {
    auto by_file = from_file(table, config_path);
    if (!by_file) {
      return std::unexpected(by_file.error());
    }
    layers.push_back(std::move(*by_file));
  }
  return Loader(table, std::move(layers), config_path, assign_row).run();
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
