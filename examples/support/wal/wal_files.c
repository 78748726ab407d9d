/* Segments and timeline histories of pg_wal. */
#include "support/wal/wal_files.h"

#include "support/wal/wal_bytes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Without waiting: what stands in the place of a file may be a pipe that nobody writes to. */
#define READ_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK)

#define HISTORY_MAX (1u << 20) /* bytes of a history file */

/* A name found in the directory: 24 hexadecimal digits. */
typedef struct found_name {
  uint32_t timeline, high, low;
  bool partial;
} found_name;

typedef struct found_names {
  found_name *items;
  size_t len, cap;
} found_names;

char *wal_lsn_text(char buf[WAL_LSN_BYTES], twpa_lsn lsn)
{
  snprintf(buf, WAL_LSN_BYTES, "%" PRIX32 "/%" PRIX32, (uint32_t)(lsn >> 32), (uint32_t)lsn);
  return buf;
}

static char *segment_name(char buf[WAL_NAME_BYTES], const wal_files *files, uint32_t timeline, uint64_t segment,
                          bool partial)
{
  uint64_t per_id = (UINT64_C(1) << 32) / files->segment_bytes;
  snprintf(buf, WAL_NAME_BYTES, "%08" PRIX32 "%08" PRIX32 "%08" PRIX32 "%s", timeline,
           (uint32_t)(segment / per_id), (uint32_t)(segment % per_id), partial ? ".partial" : "");
  return buf;
}

char *wal_segment_name(char buf[WAL_NAME_BYTES], const wal_files *files, uint32_t timeline, uint64_t segment)
{
  return segment_name(buf, files, timeline, segment, false);
}

char *wal_file_name(char buf[WAL_NAME_BYTES], const wal_files *files, const wal_file *file)
{
  return segment_name(buf, files, file->timeline, file->segment, file->partial);
}

/* Eight upper-case hexadecimal digits. */
static bool read_hex8(const char *s, uint32_t *out)
{
  uint32_t v = 0;
  for (int i = 0; i < 8; i++) {
    unsigned digit;
    if (s[i] >= '0' && s[i] <= '9')
      digit = (unsigned)(s[i] - '0');
    else if (s[i] >= 'A' && s[i] <= 'F')
      digit = (unsigned)(s[i] - 'A' + 10);
    else
      return false;
    v = v << 4 | digit;
  }
  *out = v;
  return true;
}

static bool is_segment_name(const char *name, found_name *out)
{
  size_t len = strlen(name);
  if (len < 24 || !read_hex8(name, &out->timeline) || !read_hex8(name + 8, &out->high) ||
      !read_hex8(name + 16, &out->low))
    return false;
  out->partial = len != 24;
  return (len == 24 || strcmp(name + 24, ".partial") == 0) && out->timeline != 0;
}

static int compare_names(const void *pa, const void *pb)
{
  const found_name *a = pa, *b = pb;
  if (a->high != b->high)
    return a->high < b->high ? -1 : 1;
  if (a->low != b->low)
    return a->low < b->low ? -1 : 1;
  if (a->timeline != b->timeline)
    return a->timeline < b->timeline ? -1 : 1;
  return (int)a->partial - (int)b->partial;
}

static bool list_directory(found_names *names, const char *dir, host_error *err)
{
  DIR *d = opendir(dir);
  if (d == NULL)
    return host_fail(err, "%s: %s", dir, strerror(errno));
  bool ok = true;
  errno = 0;
  for (struct dirent *e; ok && (e = readdir(d)) != NULL; errno = 0) {
    found_name name;
    if (!is_segment_name(e->d_name, &name))
      continue;
    if (names->len == names->cap) {
      size_t cap = names->cap == 0 ? 64 : names->cap * 2;
      found_name *items = realloc(names->items, cap * sizeof *items);
      if (items == NULL) {
        ok = host_fail(err, "%s: out of memory", dir);
        break;
      }
      names->items = items;
      names->cap = cap;
    }
    names->items[names->len++] = name;
  }
  if (ok && errno != 0)
    ok = host_fail(err, "%s: %s", dir, strerror(errno));
  closedir(d);
  if (ok && names->len == 0)
    ok = host_fail(err, "%s: holds no WAL segment", dir);
  if (ok)
    qsort(names->items, names->len, sizeof *names->items, compare_names);
  return ok;
}

/* The whole history file, NUL-terminated; *text stays NULL if there is none. */
static bool read_history(char **text, const char *path, host_error *err)
{
  *text = NULL;
  int fd = open(path, READ_FLAGS);
  if (fd < 0)
    return errno == ENOENT ? true : host_fail(err, "%s: %s", path, strerror(errno));
  struct stat st;
  char *buf = NULL;
  bool ok = true;
  if (fstat(fd, &st) != 0)
    ok = host_fail(err, "%s: %s", path, strerror(errno));
  else if (st.st_size > (off_t)HISTORY_MAX)
    ok = host_fail(err, "%s: too long for a timeline history", path);
  else if ((buf = malloc((size_t)st.st_size + 1)) == NULL)
    ok = host_fail(err, "%s: out of memory", path);
  else {
    ssize_t n = read(fd, buf, (size_t)st.st_size);
    if (n < 0)
      ok = host_fail(err, "%s: %s", path, strerror(errno));
    else
      buf[n] = '\0';
  }
  close(fd);
  if (!ok) {
    free(buf);
    return false;
  }
  *text = buf;
  return true;
}

static bool add_span(wal_files *files, uint32_t timeline, twpa_lsn begin, twpa_lsn end)
{
  wal_span *spans = realloc(files->spans, (files->nspans + 1) * sizeof *spans);
  if (spans == NULL)
    return false;
  files->spans = spans;
  spans[files->nspans++] = (wal_span){timeline, begin, end};
  return true;
}

/* One line: parent timeline, switch point, free text. *used is false for empty lines and comments. */
static bool parse_history_line(const char *line, uint32_t *timeline, twpa_lsn *lsn, bool *used)
{
  line += strspn(line, " \t\r");
  *used = *line != '\0' && *line != '#';
  if (!*used)
    return true;
  uint32_t high, low;
  int end = 0;
  if (sscanf(line, "%10" SCNu32 "%*[ \t]%8" SCNx32 "/%8" SCNx32 "%n", timeline, &high, &low, &end) != 3 || end == 0)
    return false;
  *lsn = (twpa_lsn)high << 32 | low;
  return *timeline != 0;
}

/* Fills in the spans of the target timeline and its ancestors. */
static bool read_descent(wal_files *files, uint32_t target, bool older_segments, host_error *err)
{
  char path[4096];
  if (snprintf(path, sizeof path, "%s/%08" PRIX32 ".history", files->dir, target) >= (int)sizeof path)
    return host_fail(err, "%s: path too long", files->dir);
  char *text = NULL;
  if (target > 1 && !read_history(&text, path, err))
    return false;
  if (text == NULL && target > 1 && older_segments)
    return host_fail(err, "%s: missing, but there are WAL segments of older timelines", path);
  twpa_lsn begin = 0;
  bool ok = true;
  char *rest = text;
  for (unsigned number = 1; ok && rest != NULL; number++) {
    char *line = rest;
    rest = strchr(line, '\n');
    if (rest != NULL)
      *rest++ = '\0';
    uint32_t timeline;
    twpa_lsn lsn;
    bool used;
    uint32_t last = files->nspans > 0 ? files->spans[files->nspans - 1].timeline : 0;
    if (!parse_history_line(line, &timeline, &lsn, &used))
      ok = host_fail(err, "%s: line %u is not \"timeline, position, reason\"", path, number);
    else if (used && (timeline <= last || timeline >= target || lsn < begin))
      ok = host_fail(err, "%s: line %u is out of order", path, number);
    else if (used && !add_span(files, timeline, begin, lsn))
      ok = host_fail(err, "%s: out of memory", path);
    else if (used)
      begin = lsn;
  }
  if (ok && !add_span(files, target, begin, UINT64_MAX))
    ok = host_fail(err, "%s: out of memory", path);
  free(text);
  return ok;
}

static bool is_segment_size(uint32_t bytes)
{
  return bytes >= WAL_SEGMENT_MIN && bytes <= WAL_SEGMENT_MAX && (bytes & (bytes - 1)) == 0;
}

/* The segment size that the first page of a file states. */
static bool sniff_segment_bytes(wal_files *files, const found_name *name, host_error *err)
{
  char path[4096];
  unsigned char head[40];
  if (snprintf(path, sizeof path, "%s/%08" PRIX32 "%08" PRIX32 "%08" PRIX32 "%s", files->dir, name->timeline,
               name->high, name->low, name->partial ? ".partial" : "") >= (int)sizeof path)
    return host_fail(err, "%s: path too long", files->dir);
  int fd = open(path, READ_FLAGS);
  if (fd < 0)
    return host_fail(err, "%s: %s", path, strerror(errno));
  ssize_t n = pread(fd, head, sizeof head, 0);
  close(fd);
  uint32_t bytes = n == (ssize_t)sizeof head ? wal_u32(head + 32) : 0;
  if (n != (ssize_t)sizeof head || (wal_u16(head + 2) & 2) == 0 || !is_segment_size(bytes))
    return host_fail(err, "%s: the first page does not state a segment size", path);
  files->segment_bytes = bytes;
  return true;
}

/* Of the names of one segment number, the file that the server would read; false if none is on the line of descent. */
static bool choose_file(const wal_files *files, const found_name *names, size_t n, uint64_t segment, wal_file *out)
{
  twpa_lsn seg_begin = segment * files->segment_bytes;
  twpa_lsn seg_end = seg_begin + files->segment_bytes;
  for (int partial = 0; partial < 2; partial++)
    for (size_t s = files->nspans; s-- > 0;) {
      const wal_span *span = &files->spans[s];
      if (span->begin >= seg_end || span->end <= seg_begin)
        continue;
      for (size_t i = 0; i < n; i++)
        if (names[i].timeline == span->timeline && names[i].partial == (partial != 0)) {
          *out = (wal_file){segment, span->timeline, partial != 0, span->end};
          return true;
        }
    }
  return false;
}

static bool choose_files(wal_files *files, const found_names *names, host_error *err)
{
  uint64_t per_id = (UINT64_C(1) << 32) / files->segment_bytes;
  files->files = malloc(names->len * sizeof *files->files);
  if (files->files == NULL)
    return host_fail(err, "%s: out of memory", files->dir);
  for (size_t i = 0, n; i < names->len; i += n) {
    const found_name *first = &names->items[i];
    for (n = 1; i + n < names->len && first[n].high == first->high && first[n].low == first->low;)
      n++;
    if (first->low >= per_id)
      return host_fail(err, "%s/%08" PRIX32 "%08" PRIX32 "%08" PRIX32 "%s: not a name for segments of %" PRIu32
                       " bytes", files->dir, first->timeline, first->high, first->low,
                       first->partial ? ".partial" : "", files->segment_bytes);
    if (choose_file(files, first, n, first->high * per_id + first->low, &files->files[files->nfiles]))
      files->nfiles++;
  }
  if (files->nfiles == 0)
    return host_fail(err, "%s: holds no WAL segment of timeline %" PRIu32 " or its ancestors", files->dir,
                     files->spans[files->nspans - 1].timeline);
  return true;
}

static bool open_names(wal_files *files, const found_names *names, uint32_t timeline, uint32_t segment_bytes,
                       host_error *err)
{
  uint32_t newest = 0, oldest = UINT32_MAX;
  for (size_t i = 0; i < names->len; i++) {
    newest = names->items[i].timeline > newest ? names->items[i].timeline : newest;
    oldest = names->items[i].timeline < oldest ? names->items[i].timeline : oldest;
  }
  if (timeline == 0)
    timeline = newest;
  if (segment_bytes != 0) {
    if (!is_segment_size(segment_bytes))
      return host_fail(err, "%s: %" PRIu32 " bytes is not a segment size", files->dir, segment_bytes);
    files->segment_bytes = segment_bytes;
  } else if (!sniff_segment_bytes(files, &names->items[0], err)) {
    return false;
  }
  return read_descent(files, timeline, oldest < timeline, err) && choose_files(files, names, err);
}

bool wal_files_open(wal_files *out, const char *data_dir, uint32_t timeline, uint32_t segment_bytes, host_error *err)
{
  wal_files files = {.fd = -1};
  size_t len = strlen(data_dir) + sizeof "/pg_wal";
  files.dir = malloc(len);
  if (files.dir == NULL)
    return host_fail(err, "%s: out of memory", data_dir);
  snprintf(files.dir, len, "%s/pg_wal", data_dir);
  found_names names = {0};
  bool ok = list_directory(&names, files.dir, err) && open_names(&files, &names, timeline, segment_bytes, err);
  free(names.items);
  if (!ok) {
    wal_files_close(&files);
    return false;
  }
  *out = files;
  return true;
}

void wal_files_close(wal_files *files)
{
  if (files->fd >= 0)
    close(files->fd);
  free(files->dir);
  free(files->spans);
  free(files->files);
  *files = (wal_files){.fd = -1};
}

/* Number of files with a segment number below the given one. */
static size_t lower_bound(const wal_files *files, uint64_t segment)
{
  size_t low = 0, high = files->nfiles;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (files->files[mid].segment < segment)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

const wal_file *wal_files_find(const wal_files *files, uint64_t segment)
{
  size_t i = lower_bound(files, segment);
  return i < files->nfiles && files->files[i].segment == segment ? &files->files[i] : NULL;
}

const wal_file *wal_files_after(const wal_files *files, uint64_t segment)
{
  size_t i = segment == UINT64_MAX ? files->nfiles : lower_bound(files, segment + 1);
  return i < files->nfiles ? &files->files[i] : NULL;
}

const wal_span *wal_files_span(const wal_files *files, twpa_lsn lsn)
{
  size_t i = files->nspans - 1;
  while (i > 0 && files->spans[i].begin > lsn)
    i--;
  return &files->spans[i];
}

static bool open_file(wal_files *files, const wal_file *file, host_error *err)
{
  if (files->open == file)
    return true;
  if (files->fd >= 0)
    close(files->fd);
  files->open = NULL;
  files->fd = -1;
  char name[WAL_NAME_BYTES], path[4096];
  wal_file_name(name, files, file);
  if (snprintf(path, sizeof path, "%s/%s", files->dir, name) >= (int)sizeof path)
    return host_fail(err, "%s: path too long", files->dir);
  int fd = open(path, READ_FLAGS);
  if (fd < 0)
    return host_fail(err, "%s: %s", path, strerror(errno));
  struct stat st;
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
    close(fd);
    return host_fail(err, "%s: not a readable file", path);
  }
  files->fd = fd;
  files->open = file;
  files->open_bytes = (uint64_t)st.st_size;
  return true;
}

bool wal_files_read(wal_files *files, const wal_file *file, uint64_t offset, void *buf, size_t len, size_t *got,
                    host_error *err)
{
  *got = 0;
  if (!open_file(files, file, err))
    return false;
  while (*got < len) {
    ssize_t n = pread(files->fd, (char *)buf + *got, len - *got, (off_t)(offset + *got));
    if (n == 0)
      break;
    if (n < 0) {
      if (errno == EINTR)
        continue;
      char name[WAL_NAME_BYTES];
      return host_fail(err, "%s/%s: read at byte %" PRIu64 ": %s", files->dir, wal_file_name(name, files, file),
                       offset + *got, strerror(errno));
    }
    *got += (size_t)n;
  }
  return true;
}
