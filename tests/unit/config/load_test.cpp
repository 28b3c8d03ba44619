#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "config/options.h"
#include "config/values.h"

namespace hk::config {
namespace HK_TEST_FILE {

using Environment = std::map<std::string, std::string>;
using namespace std::chrono_literals;

Result<Options> load_with(const Flags& flags, const Environment& environment = {},
                          const std::vector<std::string>& known_elsewhere = {}) {
  Surroundings around;
  for (const auto& [name, text] : environment) {
    around.environment_names.push_back(name);
  }
  around.environment_known = known_elsewhere;
  const auto getenv = [&environment](const std::string& name) -> std::optional<std::string> {
    const auto found = environment.find(name);
    return found == environment.end() ? std::nullopt : std::optional(found->second);
  };
  return load(flags, getenv, around);
}

class Load : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "hikyaku-config-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  /// Its path.
  [[nodiscard]] std::string write(const std::string& name, const std::string& text,
                                  mode_t mode = 0600) const {
    const std::string path = directory_ + "/" + name;
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
    return path;
  }

  std::string directory_;
};

TEST_F(Load, GivesTheDefaultsWhenNothingIsSaid) {
  const auto options = load_with({});

  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->data, "./data");
  EXPECT_EQ(options->listen, (HostPort{"127.0.0.1", 8080}));
  EXPECT_FALSE(options->dev);
  EXPECT_TRUE(options->token.empty());
  EXPECT_TRUE(options->master_key.empty());
  EXPECT_FALSE(options->allow_private_destinations);
  EXPECT_FALSE(options->allow_loopback_destinations);
  EXPECT_FALSE(options->allow_insecure_listen);
  EXPECT_EQ(options->edge_threads, 0U);
  EXPECT_EQ(options->body_bytes_max, 10U << 20U);
  EXPECT_EQ(options->connections_max, 16000U);
  EXPECT_EQ(options->dedup_window, 10min);
  EXPECT_EQ(options->retention_finished, 72h);
  EXPECT_EQ(options->retention_dlq, 720h);
  EXPECT_EQ(options->retries_default, 3U);
  EXPECT_EQ(options->retries_max, 1000U);
  EXPECT_EQ(options->timeout_default, 2min);
  EXPECT_EQ(options->timeout_max, 2h);
  EXPECT_EQ(options->delay_max, 0ms);
  EXPECT_EQ(options->global_parallelism, 4096U);
  EXPECT_EQ(options->tenant_parallelism, 2048U);
  EXPECT_EQ(options->destination_parallelism, 512U);
  EXPECT_EQ(options->inbox_max, 65536U);
  EXPECT_EQ(options->inbox_bytes, 256U << 20U);
  EXPECT_EQ(options->request_bytes, 256U << 20U);
  EXPECT_EQ(options->cache_bytes, 64U << 20U);
  EXPECT_EQ(options->block_cache_bytes, 64U << 20U);
  EXPECT_EQ(options->write_buffer_bytes, 64U << 20U);
  EXPECT_EQ(options->min_free_disk, 256U << 20U);
  EXPECT_EQ(options->response_bytes_kept, 1000U);
  EXPECT_EQ(options->log_level, "info");
  EXPECT_EQ(options->log_file, "");
  EXPECT_EQ(options->otlp_endpoint, "");
  EXPECT_EQ(options->drain, 20s);
  EXPECT_EQ(options->storage_fault, "");
  EXPECT_TRUE(options->warnings.empty());
}

TEST_F(Load, PrefersFlagOverEnvironmentOverFileOverDefault) {
  const std::string file = write(
      "conf",
      "# ours\n\nretries_default = 7\r\nretries-max = 8\ndrain=30s\n log_file = \"a b.log\" \n");

  const auto options =
      load_with({{"--retries-default", "5"}, {"config", file}},
                {{"HIKYAKU_RETRIES_DEFAULT", "6"}, {"HIKYAKU_DRAIN", "40s"}, {"HOME", "/"}});

  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->retries_default, 5U);
  EXPECT_EQ(options->drain, 40s);
  EXPECT_EQ(options->retries_max, 8U);
  EXPECT_EQ(options->log_file, "a b.log");
  EXPECT_EQ(options->timeout_max, 2h);
}

TEST_F(Load, FindsTheFileInTheEnvironmentToo) {
  const auto options = load_with({}, {{"HIKYAKU_CONFIG", write("conf", "dev = on\n")}});

  ASSERT_TRUE(options) << options.error().message;
  EXPECT_TRUE(options->dev);
}

TEST_F(Load, TakesAnEmptyVariableAsNotSet) {
  const auto options = load_with({}, {{"HIKYAKU_DRAIN", ""}, {"HIKYAKU_TOKEN", ""}});

  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->drain, 20s);
  EXPECT_TRUE(options->token.empty());
}

TEST_F(Load, TakesABooleanFlagWithoutAValueAsTrue) {
  EXPECT_TRUE(load_with({{"dev", ""}})->dev);
  EXPECT_FALSE(load_with({{"dev", "false"}})->dev);
}

TEST_F(Load, AllowsLoopbackDestinationsInDevUnlessTurnedOff) {
  EXPECT_TRUE(load_with({{"dev", ""}})->allow_loopback_destinations);
  EXPECT_FALSE(load_with({{"dev", ""}, {"allow_loopback_destinations", "false"}})
                   ->allow_loopback_destinations);
  EXPECT_TRUE(load_with({{"allow_loopback_destinations", ""}})->allow_loopback_destinations);
}

TEST_F(Load, SuggestsTheNameThatWasMeant) {
  struct Row {
    std::string flag;
    std::string suggestion;
  };
  const Row rows[] = {
      {"--lisen", "did you mean --listen?"},
      {"--retry-default", "did you mean --retries-default?"},
      {"--timeout", "did you mean --timeout-default?"},
      {"--token-fle", "did you mean --token-file?"},
      {"--data-file", "the reference lists all of them"},
      {"--zzzzzzzzzz", "the reference lists all of them"},
      {"--" + std::string(100000, 'a'), "the reference lists all of them"},
      {"--", "the reference lists all of them"},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.flag.substr(0, 40));
    const auto options = load_with({{row.flag, "1"}});
    ASSERT_FALSE(options);
    EXPECT_EQ(options.error().kind, ErrorKind::invalid_argument);
    EXPECT_NE(options.error().message.find(row.suggestion), std::string::npos)
        << options.error().message;
  }

  const auto variable = load_with({}, {{"HIKYAKU_LISEN", "x"}});
  ASSERT_FALSE(variable);
  EXPECT_EQ(variable.error().message,
            "there is no option HIKYAKU_LISEN; did you mean HIKYAKU_LISTEN?");

  const std::string path = write("conf", "\nlisen = 127.0.0.1:1\n");
  const auto key = load_with({{"config", path}});
  ASSERT_FALSE(key);
  EXPECT_EQ(key.error().message,
            "there is no option \"lisen\" (" + path + ", line 2); did you mean listen?");
}

TEST_F(Load, LeavesVariablesAloneThatAreNotItsOwn) {
  EXPECT_TRUE(load_with({}, {{"PATH", "/bin"}, {"HIKYAK", "x"}}));
  EXPECT_TRUE(load_with({}, {{"HIKYAKU_KILL", "x"}}, {"HIKYAKU_KILL"}));
  EXPECT_FALSE(load_with({}, {{"HIKYAKU_KILL", "x"}}));
  EXPECT_FALSE(load_with({}, {{"HIKYAKU_listen", "x"}}));
  EXPECT_TRUE(load_with({}, {{"HIKYAKU_SERVICE_HOST", "10.0.0.1"},
                             {"HIKYAKU_SERVICE_PORT", "80"},
                             {"HIKYAKU_SERVICE_PORT_HTTP", "80"},
                             {"HIKYAKU_PORT", "tcp://10.0.0.1:80"},
                             {"HIKYAKU_PORT_80_TCP_ADDR", "10.0.0.1"}}));
}

TEST_F(Load, NamesTheOptionTheSourceTheValueAndWhatIsRight) {
  struct Row {
    std::string name;
    std::string text;
    std::string message;
  };
  const Row rows[] = {
      {"drain", "20",
       "--drain: \"20\" is not a duration: write for example 250ms, 10s or 1d10h30m"},
      {"drain", "2h", "--drain: \"2h\" must be from 0 to 1h"},
      {"edge_threads", "two",
       "--edge-threads: \"two\" is not a whole number: write it with digits "
       "only, for "
       "example 16"},
      {"edge_threads", "-1",
       "--edge-threads: \"-1\" is not a whole number: write it with digits "
       "only, for example 16"},
      {"edge_threads", "65", "--edge-threads: \"65\" must be from 0 to 64"},
      {"cache_bytes", "64 MB",
       "--cache-bytes: \"64 MB\" is not a size: write for example 1000, 512KiB "
       "or 64MiB"},
      {"dev", "perhaps", "--dev: \"perhaps\" is not a boolean: write true or false"},
      {"listen", "8080",
       "--listen: \"8080\" is not an address: write for example 127.0.0.1:8080, "
       "0.0.0.0:8080 or "
       "[::1]:8080"},
      {"log_level", "verbose",
       "--log-level: \"verbose\" must be one of debug, info, "
       "warn, error, off"},
      {"data", "", "--data: \"\" must not be empty"},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.message);
    const auto options = load_with({{row.name, row.text}});
    ASSERT_FALSE(options);
    EXPECT_EQ(options.error().kind, ErrorKind::invalid_argument);
    EXPECT_EQ(options.error().message, row.message);
  }
}

TEST_F(Load, NamesTheFileAndTheLineOfAWrongLine) {
  struct Row {
    std::string text;
    std::string message;
  };
  const Row rows[] = {
      {"dev\n", ", line 1: there is no \"=\"; write name = value"},
      {"\n\n# x\ndrain = soon", "line 4: drain: \"soon\" is not a duration"},
      {"drain = 1s\ndrain = 2s\n", ", line 2: drain was already given in line 1"},
      {"config = other\n", ", line 1: a config file cannot name another one"},
      {"= 5\n", "there is no option \"\""},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.message);
    const auto options = load_with({{"config", write("conf", row.text)}});
    ASSERT_FALSE(options);
    EXPECT_NE(options.error().message.find(row.message), std::string::npos)
        << options.error().message;
  }
  EXPECT_NE(load_with({{"config", directory_ + "/none"}}).error().message.find("does not exist"),
            std::string::npos);
  EXPECT_NE(load_with({{"config", directory_}}).error().message.find("is a directory"),
            std::string::npos);
}

TEST_F(Load, RefusesOptionsThatDoNotFitEachOther) {
  struct Row {
    std::string_view name;
    Flags flags;
    bool fits;
  };
  const Row rows[] = {
      {"beyond loopback without TLS", {{"listen", "0.0.0.0:80"}}, false},
      {"every IPv6 address", {{"listen", "[::]:80"}}, false},
      {"a name that looks like loopback", {{"listen", "127.0.0.example:80"}}, false},
      {"a trusted network", {{"listen", "0.0.0.0:80"}, {"allow_insecure_listen", ""}}, true},
      {"with TLS", {{"listen", "0.0.0.0:80"}, {"tls_cert", "c"}, {"tls_key", "k"}}, true},
      {"loopback", {{"listen", "127.8.9.1:80"}}, true},
      {"IPv6 loopback", {{"listen", "[::1]:80"}}, true},
      {"localhost", {{"listen", "localhost:80"}}, true},
      {"a certificate without key", {{"tls_cert", "c"}}, false},
      {"a key without certificate", {{"tls_key", "k"}}, false},
      {"subdomains without TLS", {{"hsts_subdomains", ""}}, false},
      {"subdomains with TLS", {{"hsts_subdomains", ""}, {"tls_cert", "c"}, {"tls_key", "k"}}, true},
      {"more retries than the most", {{"retries_default", "5"}, {"retries_max", "4"}}, false},
      {"a longer timeout than the longest",
       {{"timeout_default", "5s"}, {"timeout_max", "4s"}},
       false},
      {"equal ones", {{"timeout_default", "5s"}, {"timeout_max", "5s"}}, true},
      {"less than a start needs", {{"min_free_disk", "127MiB"}}, false},
      {"just what a start needs", {{"min_free_disk", "128MiB"}}, true},
      {"a larger log than the reserve", {{"write_buffer_bytes", "129MiB"}}, false},
      {"both small", {{"min_free_disk", "12MiB"}, {"write_buffer_bytes", "1MiB"}}, true},
      {"no reserve", {{"min_free_disk", "0"}, {"write_buffer_bytes", "4GiB"}}, true},
      {"a public URL", {{"public_url", "https://a.example:8443/hooks/"}}, true},
      {"a public name alone", {{"public_url", "a.example"}}, false},
      {"a public URL without host", {{"public_url", "https:///hooks"}}, false},
      {"a public URL of another scheme", {{"public_url", "ftp://a.example"}}, false},
      {"a public URL with a query", {{"public_url", "https://a.example/?x"}}, false},
      {"a public URL with a user", {{"public_url", "https://me@a.example/"}}, false},
      {"a frame of nobody", {{"portal_frame_ancestors", "'none'"}}, true},
      {"frames of some",
       {{"portal_frame_ancestors", "'self'  https://a.example:8443 https://*.b.example"}},
       true},
      {"a frame without quotes", {{"portal_frame_ancestors", "self"}}, false},
      {"frames of no one named", {{"portal_frame_ancestors", " "}}, false},
      {"frames of nobody and somebody",
       {{"portal_frame_ancestors", "'none' https://a.example"}},
       false},
      {"another directive", {{"portal_frame_ancestors", "'self'; script-src *"}}, false},
      {"a host without scheme", {{"portal_frame_ancestors", "a.example"}}, false},
      {"a fault", {{"storage_fault", "hold-unsynced"}}, true},
      {"an unknown fault", {{"storage_fault", "rust"}}, false},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(load_with(row.flags).has_value(), row.fits);
  }
}

TEST_F(Load, TakesASecretFromAnySourceAndWarnsWhereOthersCanSeeIt) {
  struct Row {
    std::string_view name;
    Flags flags;
    Environment environment;
    std::size_t warnings;
  };
  const std::string closed = write("closed", "s3cret\n", 0600);
  const std::string open = write("open", "s3cret", 0644);
  const Row rows[] = {
      {"flag", {{"--token", "s3cret"}}, {}, 1},
      {"variable", {}, {{"HIKYAKU_TOKEN", "s3cret"}}, 0},
      {"file by flag", {{"token-file", closed}}, {}, 0},
      {"file by variable", {}, {{"HIKYAKU_TOKEN_FILE", closed}}, 0},
      {"file that others can read", {{"token_file", open}}, {}, 1},
      {"line", {{"config", write("c1", "token = s3cret")}}, {}, 0},
      {"line that others can read", {{"config", write("c2", "token = s3cret", 0640)}}, {}, 1},
      {"file by line", {{"config", write("c3", "token_file = " + closed, 0644)}}, {}, 0},
      {"flag over variable", {{"token_file", closed}}, {{"HIKYAKU_TOKEN", "other"}}, 0},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const auto options = load_with(row.flags, row.environment);
    ASSERT_TRUE(options) << options.error().message;
    EXPECT_EQ(options->token.reveal(), "s3cret");
    ASSERT_EQ(options->warnings.size(), row.warnings);
    for (const std::string& warning : options->warnings) {
      EXPECT_EQ(warning.find("s3cret"), std::string::npos);
    }
  }
}

TEST_F(Load, TakesAnAccessKeyFromAnySourceAndOnlyWhole) {
  struct Row {
    std::string_view name;
    Flags flags;
    Environment environment;
    std::string_view wrong;  ///< "": nothing is
  };
  const std::string id(20, 'K');
  const std::string secret(40, 's');
  const std::string id_file = write("id", id + "\n", 0644);
  const std::string secret_file = write("secret", secret + "\n", 0600);
  const Row rows[] = {
      {"variables",
       {},
       {{"HIKYAKU_AWS_ACCESS_KEY_ID", id}, {"HIKYAKU_AWS_SECRET_ACCESS_KEY", secret}},
       ""},
      {"files",
       {{"--aws-access-key-id-file", id_file}},
       {{"HIKYAKU_AWS_SECRET_ACCESS_KEY_FILE", secret_file}},
       ""},
      {"no secret", {{"aws_access_key_id", id}}, {}, "aws_secret_access_key is missing"},
      {"no id", {}, {{"HIKYAKU_AWS_SECRET_ACCESS_KEY", secret}}, "aws_access_key_id is missing"},
      {"short id",
       {{"aws_access_key_id", "test"}},
       {{"HIKYAKU_AWS_SECRET_ACCESS_KEY", secret}},
       "16 to 128"},
      {"mixed up",
       {{"aws_access_key_id", secret + "/+"}},
       {{"HIKYAKU_AWS_SECRET_ACCESS_KEY", secret}},
       "16 to 128"},
      {"short secret",
       {{"aws_access_key_id", id}},
       {{"HIKYAKU_AWS_SECRET_ACCESS_KEY", "ssss"}},
       "has 4 characters"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const auto options = load_with(row.flags, row.environment);
    ASSERT_EQ(options.has_value(), row.wrong.empty());
    if (options) {
      EXPECT_EQ(options->aws_access_key_id, id);
      EXPECT_EQ(options->aws_secret_access_key.reveal(), secret);
      EXPECT_TRUE(options->warnings.empty());
    } else {
      EXPECT_NE(options.error().message.find(row.wrong), std::string::npos)
          << options.error().message;
      EXPECT_EQ(options.error().message.find("ssss"), std::string::npos);
    }
  }
}

TEST_F(Load, SaysWhereASecretCameFrom) {
  const std::string file = write("token", "s3cret", 0600);

  EXPECT_EQ(load_with({}, {{"HIKYAKU_TOKEN", "x"}})->given_by.at("token"), "HIKYAKU_TOKEN");
  EXPECT_EQ(load_with({{"token_file", file}})->given_by.at("token"), "--token-file");
  EXPECT_FALSE(load_with({})->given_by.contains("token"));
}

TEST_F(Load, NeverShowsASecretInAnError) {
  const std::string empty = write("empty", " \n");
  const std::string two_lines = write("two", "s3cret\ns3cret\n");
  const std::pair<Flags, Environment> rows[] = {
      {{{"token", "s3cret s3cret"}}, {}},
      {{{"token", "s3cret\n"}}, {}},
      {{}, {{"HIKYAKU_MASTER_KEY", "s3cret\xff"}}},
      {{{"token_file", two_lines}}, {}},
      {{{"token_file", empty}}, {}},
      {{{"token_file", directory_ + "/none"}}, {}},
      {{{"token", "s3cret"}, {"token_file", two_lines}}, {}},
  };

  for (const auto& [flags, environment] : rows) {
    const auto options = load_with(flags, environment);
    ASSERT_FALSE(options);
    EXPECT_EQ(options.error().kind, ErrorKind::invalid_argument);
    EXPECT_EQ(options.error().message.find("s3cret"), std::string::npos) << options.error().message;
  }
}

TEST(OptionRows, AreConsistentWithThemselves) {
  const OptionTable& table = server_table();
  std::set<std::string> names;
  for (const OptionRow& row : table.rows) {
    SCOPED_TRACE(row.variable);
    const std::string name = table.name_of(row);
    EXPECT_TRUE(names.insert(name).second);
    EXPECT_EQ(table.find(name), &row);
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string::npos);
    EXPECT_TRUE(row.help.ends_with('.'));
    EXPECT_FALSE(row.since.empty());
    EXPECT_TRUE(row.kind != Kind::secret || row.default_text.empty());
    const auto dots = row.allowed.find("..");
    const std::string_view ends[] = {
        row.allowed.substr(0, dots),
        dots == std::string_view::npos ? "" : row.allowed.substr(dots + 2)};
    for (const std::string_view end :
         ends) {  // a typing error in a range would switch the check off
      if (row.kind == Kind::count) {
        EXPECT_TRUE(parse_count(end)) << end;
      } else if (row.kind == Kind::bytes) {
        EXPECT_TRUE(parse_bytes(end)) << end;
      } else if (row.kind == Kind::duration) {
        EXPECT_TRUE(parse_duration(end)) << end;
      }
    }
  }
  EXPECT_EQ(table.find("no_such"), nullptr);
  EXPECT_EQ(table.flag_of(*table.find("edge_threads")), "--edge-threads");
  EXPECT_EQ(table.find("edge_threads")->variable, "HIKYAKU_EDGE_THREADS");
}

TEST(OptionRows, AreNamedAsTheirFields) {
  std::size_t row = 0;
#define HK_OPTION(field, variable, kind, default_text, unit, allowed, since, help) \
  EXPECT_EQ(server_table().name_of(server_table().rows[row++]), #field);
#include "config/options.def"
#undef HK_OPTION
  EXPECT_EQ(row, server_table().rows.size());
}

TEST(Reference, HasARowOfEightCellsForEachOption) {
  const std::string text = reference_markdown();
  const OptionTable& table = server_table();
  for (const OptionRow& row : table.rows) {
    SCOPED_TRACE(row.variable);
    const auto start =
        text.find("\n| `" + table.name_of(row) + "` | `" + table.flag_of(row) + "` |");
    ASSERT_NE(start, std::string::npos);
    std::string line = text.substr(start + 1, text.find('\n', start + 1) - start - 1);
    for (auto escaped = line.find("\\|"); escaped != std::string::npos;
         escaped = line.find("\\|")) {
      line.erase(escaped, 2);
    }
    EXPECT_EQ(std::count(line.begin(), line.end(), '|'), 9);
  }
}

TEST(Reference, IsThePageInTheDocumentation) {
  const auto page =
      std::filesystem::path(__FILE__).parent_path() / "../../../docs/reference/configuration.md";
  if (!std::filesystem::exists(page)) {
    GTEST_SKIP() << "the page is not there";
  }
  std::ifstream file(page, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});

  EXPECT_EQ(text, reference_markdown());
}

TEST(EnvironmentNames, AreThoseOfTheProcess) {
  ::setenv("HIKYAKU_TEST_NAME", "a=b", 1);
  const auto names = environment_names();
  ::unsetenv("HIKYAKU_TEST_NAME");

  EXPECT_EQ(std::count(names.begin(), names.end(), "HIKYAKU_TEST_NAME"), 1);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::config
