// URLs, and the sentences of errors.
#include <gtest/gtest.h>

#include "net/url.h"

namespace steertag::net {
namespace {

TEST(Url, Parts) {
  const auto url = parse_url("iwarp://server.example:2049/export/a");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->provider, "iwarp");
  EXPECT_EQ(url->host, "server.example");
  EXPECT_EQ(url->port, 2049);
  EXPECT_EQ(url->path, "/export/a");
}

TEST(Url, DefaultsAndBrackets) {
  const auto url = parse_url("verbs://[fe80::1]");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->host, "fe80::1");
  EXPECT_EQ(url->port, 20049);
  EXPECT_EQ(url->text(), "verbs://[fe80::1]:20049");
  EXPECT_EQ(parse_url("iwarp://[::1]:7/x")->text(), "iwarp://[::1]:7/x");
}

TEST(Url, PlainTcpHasThePortOfNfs) {
  EXPECT_EQ(parse_url("tcp://server")->port, 2049);
  EXPECT_EQ(parse_url("tcp://server:20049")->port, 20049);
}

TEST(Url, EveryMistakeHasASentence) {
  for (const char* text : {"", "server", "://server", "iwarp://", "iwarp:///export", "iwarp://[::1",
                           "iwarp://[::1]7", "iwarp://::1", "iwarp://a:", "iwarp://a:x",
                           "iwarp://a:65536", "iwarp://a:-1", "iwarp://a:1x"}) {
    const auto url = parse_url(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().code, Errc::bad_url);
    EXPECT_FALSE(url.error().detail.empty());
  }
}

TEST(Errc, EveryCodeHasASentence) {
  for (int code = 0; code <= static_cast<int>(Errc::bad_record); ++code) {
    EXPECT_NE(sentence(static_cast<Errc>(code)), "unknown error") << code;
  }
}

}  // namespace
}  // namespace steertag::net
