/* The drawings are well-formed, hold every node, edge and bar, and survive odd input. */
#include "support/draw/svg.h"
#include "support/draw/svg_graph.h"
#include "support/draw/svg_timeline.h"
#include "support/runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64];

static char *read_file(void)
{
  FILE *f = fopen(path, "r");
  ck_assert_ptr_nonnull(f);
  static char text[4 << 20];
  size_t n = fread(text, 1, sizeof text - 1, f);
  text[n] = 0;
  fclose(f);
  return text;
}

static size_t count(const char *text, const char *what)
{
  size_t n = 0;
  for (const char *p = text; (p = strstr(p, what)) != NULL; p += strlen(what))
    n++;
  return n;
}

/* Tags are balanced, attributes quoted, nothing unescaped between. */
static void check_well_formed(const char *text)
{
  char stack[16][16];
  int depth = 0;
  ck_assert(!strncmp(text, "<?xml", 5));
  for (const char *p = strstr(text, "?>") + 2; *p;) {
    if (*p != '<') {
      ck_assert(*p != '>' && (*p != '&' || strchr(p, ';')));
      p++;
      continue;
    }
    char name[16];
    bool closing = p[1] == '/';
    p += 1 + closing;
    size_t n = strcspn(p, " />\n");
    ck_assert_uint_lt(n, sizeof name);
    memcpy(name, p, n);
    name[n] = 0;
    bool quoted = false;
    while (*p && (quoted || *p != '>')) {
      quoted ^= *p == '"';
      ck_assert(*p != '<');
      p++;
    }
    ck_assert(*p == '>');
    if (closing)
      ck_assert_str_eq(stack[--depth], name);
    else if (p[-1] != '/')
      strcpy(stack[depth++], name);
    ck_assert_int_ge(depth, 0);
    ck_assert_int_lt(depth, 16);
    p++;
  }
  ck_assert_int_eq(depth, 0);
  ck_assert_ptr_null(strstr(text, "nan"));
  ck_assert_ptr_null(strstr(text, "inf\""));
}

static const svg_graph_kind kinds[] = {{"write-write", "#0072b2"}, {"reference", "#009e73"}, {"barrier", "#d55e00"}};

START_TEST(graphs)
{
  rng r = {test_seed(815)};
  for (int round = 0; round < 40; round++) {
    svg_graph_node nodes[60] = {{{0}, {0}, NULL}};
    svg_graph_edge edges[200];
    uint32_t n = (uint32_t)rng_below(&r, 60) + (round > 0), m = 0;
    for (uint32_t i = 0; i < n; i++) {
      snprintf(nodes[i].label, sizeof nodes[i].label, "%u", 1000 + i);
      snprintf(nodes[i].below, sizeof nodes[i].below, "%u <&> changes", i);
      nodes[i].title = i % 2 ? "a \"title\" & more" : NULL;
    }
    for (uint32_t i = 1; i < n; i++)
      for (int k = 0; k < 3; k++)
        if (rng_chance(&r, 50))
          edges[m++] = (svg_graph_edge){
              .from = (uint32_t)rng_below(&r, i), .to = i, .kind = (uint32_t)rng_below(&r, 3)};
    svg_graph g = {.title = "Graph <1>", .subtitle = "a & b", .nodes = nodes, .nnodes = n, .edges = edges,
                   .nedges = m, .kinds = kinds, .nkinds = 3};
    host_error err = {{0}};
    ck_assert_msg(svg_graph_write(&g, path, &err), "%s", err.text);
    const char *text = read_file();
    check_well_formed(text);
    ck_assert_uint_eq(count(text, "rx=\"6\""), n);
    ck_assert_uint_ge(count(text, "marker-end"), m);
  }
}
END_TEST

START_TEST(timelines)
{
  rng r = {test_seed(816)};
  for (int round = 0; round < 40; round++) {
    const char *const lanes[] = {"worker 1", "worker 2", "worker 3"};
    svg_bar bars[100] = {{0}};
    svg_wait waits[100];
    uint32_t n = (uint32_t)rng_below(&r, 100), m = n ? (uint32_t)rng_below(&r, 100) : 0;
    uint64_t now[3] = {0, 0, 0}, scale = round % 2 ? 1 : 1000000;
    for (uint32_t i = 0; i < n; i++) {
      uint32_t lane = (uint32_t)rng_below(&r, 3);
      uint64_t end = now[lane] + rng_below(&r, 50) * scale;
      bars[i] = (svg_bar){.start = now[lane], .end = end, .lane = lane, .kind = (uint32_t)rng_below(&r, 3)};
      snprintf(bars[i].label, sizeof bars[i].label, "%u", i);
      now[lane] = end;
    }
    uint64_t start = 0;
    for (uint32_t i = 0; i < m; i++) {
      start += rng_below(&r, 5) * scale;
      waits[i] = (svg_wait){
          .start = start, .end = start + rng_below(&r, 90) * scale, .lane = (uint32_t)rng_below(&r, 3)};
    }
    svg_timeline t = {.title = "Timeline", .subtitle = "x < y", .lanes = lanes, .nlanes = 3, .bars = bars, .nbars = n,
                      .waits = waits, .nwaits = m, .unit = "ms", .scale = 1000.0 * (double)(round + 1)};
    host_error err = {{0}};
    ck_assert_msg(svg_timeline_write(&t, path, &err), "%s", err.text);
    check_well_formed(read_file());
  }
}
END_TEST

/* Bytes that are no UTF-8, or no characters of XML, become U+FFFD; whole characters stay. */
START_TEST(names_in_other_encodings)
{
#define GONE "\xEF\xBF\xBD"
  static const struct {
    const char *name, *want;
  } cases[] = {
      {"caf\xE9 table", "caf" GONE " table"},
      {"caf\xC3\xA9", "caf\xC3\xA9"},
      {"cut \xE2\x82", "cut " GONE GONE},
      {"euro \xE2\x82\xAC", "euro \xE2\x82\xAC"},
      {"four \xF0\x9F\x90\x98!", "four \xF0\x9F\x90\x98!"},
      {"long \xC0\xAF", "long " GONE GONE},
      {"long \xE0\x80\xAF", "long " GONE GONE GONE},
      {"half \xED\xA0\x80", "half " GONE GONE GONE},
      {"far \xF4\x90\x80\x80", "far " GONE GONE GONE GONE},
      {"none \xEF\xBF\xBF", "none " GONE GONE GONE},
      {"\xFE\xFF<", GONE GONE "&lt;"},
      {"before \xE2<", "before " GONE "&lt;"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    svg s;
    host_error err = {{0}};
    ck_assert_msg(svg_open(&s, path, 100, 100, cases[i].name, cases[i].name, &err), "%s", err.text);
    ck_assert_msg(svg_close(&s, &err), "%s", err.text);
    char want[100];
    snprintf(want, sizeof want, "<title>%s</title>", cases[i].want);
    const char *text = read_file();
    check_well_formed(text);
    ck_assert_msg(strstr(text, want) != NULL, "case %zu", i);
  }
}
END_TEST

START_TEST(nowhere_to_write)
{
  host_error err = {{0}};
  svg_graph g = {.title = "", .subtitle = ""};
  svg_timeline t = {.title = "", .subtitle = "", .unit = "ms", .scale = 1};
  ck_assert(!svg_graph_write(&g, "/nowhere/at/all.svg", &err));
  ck_assert_ptr_nonnull(strstr(err.text, "/nowhere/at/all.svg"));
  ck_assert(!svg_timeline_write(&t, "/nowhere/at/all.svg", &err));
}
END_TEST

int main(void)
{
  snprintf(path, sizeof path, "/tmp/twpa-draw-%ld.svg", (long)getpid());
  Suite *s = suite_create("draw");
  TCase *tc = tcase_create("all");
  tcase_set_timeout(tc, 60);
  tcase_add_test(tc, graphs);
  tcase_add_test(tc, timelines);
  tcase_add_test(tc, names_in_other_encodings);
  tcase_add_test(tc, nowhere_to_write);
  suite_add_tcase(s, tc);
  int status = run_suite(s);
  if (!getenv("TWPA_KEEP"))
    unlink(path);
  return status;
}
