/*
 * Storage for what is spilled: in memory, or in the files of a scratch directory through twpa/file_spill.h. Calls can
 * be made to fail, and bytes that are read to be damaged.
 */
#include "decode.h"

#include "support/memory.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static trace_file *find_file(decode_half *d, uint64_t number)
{
  for (size_t i = 0; i < d->nfiles; i++)
    if (d->files[i].number == number)
      return &d->files[i];
  return NULL;
}

static int memory_write(void *user, uint64_t number, uint64_t offset, const void *data, size_t len)
{
  decode_half *d = user;
  trace_file *f = find_file(d, number);
  if (f == NULL) {
    d->files = host_grow(d->files, &d->files_cap, d->nfiles, sizeof *d->files);
    f = &d->files[d->nfiles++];
    *f = (trace_file){.number = number};
  }
  if (offset > f->len)
    return TWPA_E_CORRUPT;
  if (f->cap - offset < len) {
    f->cap = (size_t)offset + len + f->cap / 2;
    f->data = host_resize(f->data, f->cap, 1);
  }
  memcpy(f->data + offset, data, len);
  f->len = (size_t)offset + len;
  return 0;
}

static int memory_read(void *user, uint64_t number, uint64_t offset, void *data, size_t len)
{
  trace_file *f = find_file(user, number);
  if (f == NULL || offset > f->len || f->len - offset < len)
    return TWPA_E_CORRUPT;
  memcpy(data, f->data + offset, len);
  return 0;
}

static int memory_remove(void *user, uint64_t number)
{
  decode_half *d = user;
  trace_file *f = find_file(d, number);
  if (f != NULL) {
    free(f->data);
    *f = d->files[--d->nfiles];
  }
  return 0;
}

/* Is this call to fail? Then *answer is what it returns; damage is left to the caller. */
static bool fails(trace *t, const char *name, int *answer)
{
  if (!trace_fault_hits(t, FAULT_STORAGE, name))
    return false;
  consumer_flush(t);
  trace_say(t, "fault %s", name);
  switch (t->faults[FAULT_STORAGE].how) {
  case HOW_NOMEM:
    *answer = TWPA_E_NOMEM;
    return true;
  case HOW_CORRUPT:
    *answer = TWPA_E_CORRUPT;
    return true;
  case HOW_DAMAGE:
    *answer = 0;
    return true;
  default:
    *answer = EIO;
    return true;
  }
}

static void tell(trace *t, const char *name, uint64_t file, uint64_t offset, size_t len)
{
  if (t->decode->print_storage == 0)
    return;
  consumer_flush(t);
  if (strcmp(name, "remove") == 0)
    trace_say(t, "remove file=%" PRIu64, file);
  else
    trace_say(t, "%s file=%" PRIu64 " offset=%" PRIu64 " len=%zu", name, file, offset, len);
}

static int on_write(void *user, uint64_t file, uint64_t offset, const void *data, size_t len)
{
  trace *t = user;
  decode_half *d = t->decode;
  int answer = 0;
  tell(t, "write", file, offset, len);
  if (fails(t, "write", &answer))
    return answer;
  return d->spill != NULL ? d->storage.write(d->storage.user, file, offset, data, len)
                          : memory_write(d, file, offset, data, len);
}

static int on_read(void *user, uint64_t file, uint64_t offset, void *data, size_t len)
{
  trace *t = user;
  decode_half *d = t->decode;
  int answer = 0;
  tell(t, "read", file, offset, len);
  bool hit = fails(t, "read", &answer);
  if (hit && answer != 0)
    return answer;
  int got = d->spill != NULL ? d->storage.read(d->storage.user, file, offset, data, len)
                             : memory_read(d, file, offset, data, len);
  if (hit && got == 0)
    ((unsigned char *)data)[len / 2] ^= 1;
  return got;
}

static int on_remove(void *user, uint64_t file)
{
  trace *t = user;
  decode_half *d = t->decode;
  int answer = 0;
  if (d->crashed)
    return 0;
  tell(t, "remove", file, 0, 0);
  if (fails(t, "remove", &answer))
    return answer;
  return d->spill != NULL ? d->storage.remove(d->storage.user, file) : memory_remove(d, file);
}

static bool make_directory(trace *t)
{
  decode_half *d = t->decode;
  if (d->directory != NULL)
    return true;
  const char *tmp = getenv("TMPDIR");
  trace_text path = {0};
  text_add(&path, "%s/twpa-trace.XXXXXX", tmp != NULL && tmp[0] != 0 ? tmp : "/tmp");
  d->directory = path.data;
  if (mkdtemp(d->directory) != NULL)
    return true;
  trace_say(t, "no scratch directory: %s", strerror(errno));
  free(d->directory);
  d->directory = NULL;
  return false;
}

bool storage_open(trace *t)
{
  decode_half *d = t->decode;
  d->crashed = false;
  if (d->storage_kind == STORAGE_FILES) {
    if (!make_directory(t))
      return false;
    twpa_file_spill_options options = {.struct_size = TWPA_FILE_SPILL_OPTIONS_INIT, .directory = d->directory};
    twpa_status st = twpa_file_spill_new(&d->spill, &options, &t->allocator);
    if (st != TWPA_OK)
      return !trace_status(t, st);
    d->storage = (twpa_storage){.struct_size = TWPA_STORAGE_INIT};
    st = twpa_file_spill_storage(d->spill, &d->storage);
    if (st != TWPA_OK)
      return !trace_status(t, st);
  }
  return true;
}

/* The hooks that the buffer gets: those of the trace, which hand on. */
const twpa_storage *storage_hooks(trace *t, twpa_storage *hooks)
{
  if (t->decode->storage_kind == STORAGE_NONE)
    return NULL;
  *hooks = (twpa_storage){TWPA_STORAGE_INIT, t, on_write, on_read, on_remove};
  return hooks;
}

static bool is_spill_file(const char *name)
{
  size_t len = strlen(name);
  return len > 6 && strcmp(name + len - 6, ".spill") == 0;
}

/* Counts the spill files of the directory; with `clear`, removes everything in it. */
static size_t look_through(const char *directory, bool clear)
{
  size_t n = 0;
  DIR *dir = opendir(directory);
  if (dir == NULL)
    return 0;
  for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
    n += is_spill_file(e->d_name);
    if (!clear || strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
      continue;
    trace_text path = {0};
    text_add(&path, "%s/%s", directory, e->d_name);
    unlink(path.data);
    text_free(&path);
  }
  closedir(dir);
  return n;
}

size_t storage_files(const decode_half *d)
{
  if (d->storage_kind == STORAGE_FILES)
    return d->directory != NULL ? look_through(d->directory, false) : 0;
  return d->nfiles;
}

static void drop_memory(decode_half *d)
{
  for (size_t i = 0; i < d->nfiles; i++)
    free(d->files[i].data);
  d->nfiles = 0;
}

void storage_close(trace *t, bool crash)
{
  decode_half *d = t->decode;
  twpa_file_spill_free(d->spill);
  d->spill = NULL;
  if (crash) { /* memory ends with the process, files do not */
    drop_memory(d);
    return;
  }
  size_t left = storage_files(d);
  if (left != 0)
    trace_say(t, "storage left: %zu files", left);
}

void storage_remove(trace *t)
{
  decode_half *d = t->decode;
  drop_memory(d);
  free(d->files);
  if (d->directory == NULL)
    return;
  look_through(d->directory, true);
  rmdir(d->directory);
  free(d->directory);
}
