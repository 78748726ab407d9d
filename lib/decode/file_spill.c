/*
 * Spill storage in files: a directory, a few open files, the least recently used of which makes room for the next.
 *
 * The hook for reading may run on several threads. The open files are guarded by a flag that nobody waits for: who
 * finds it set opens the file for himself and closes it again. Removing a file does not wait either, or threads that read
 * all the time would keep the disk from being given back: if the flag is set, the file loses its name at once, and
 * whoever has the flag next closes what is open and has no name any more.
 */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE 1 /* flock */
#define _FILE_OFFSET_BITS 64

#include <twpa/file_spill.h>

#include "base/alloc.h"
#include "base/sized.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPEN_FILES_DEFAULT 16u
#define OPEN_FILES_MAX 1024u
#define NAME_LEN 27u /* twpa-0123456789abcdef.spill */
#define FAILED 1     /* what a hook returns when errno says why */

typedef struct open_file {
  uint64_t file;
  int fd; /* -1: free */
  uint64_t used;
} open_file;

struct twpa_file_spill {
  twpa__mem mem;
  int directory;
  atomic_flag busy; /* somebody uses the open files */
  atomic_bool nameless; /* one of them may have been removed meanwhile */
  atomic_int error;
  open_file *open;
  uint32_t nopen;
  uint64_t clock;
};

static void name_of(char name[NAME_LEN + 1], uint64_t file)
{
  static const char digits[] = "0123456789abcdef";
  memcpy(name, "twpa-0123456789abcdef.spill", NAME_LEN + 1);
  for (int i = 0; i < 16; i++)
    name[5 + i] = digits[(file >> (60 - 4 * i)) & 15];
}

static bool is_spill_file(const char *name)
{
  return strlen(name) == NAME_LEN && memcmp(name, "twpa-", 5) == 0 &&
         strspn(name + 5, "0123456789abcdef") == 16 && strcmp(name + 21, ".spill") == 0;
}

static int fail(twpa_file_spill *spill, int error)
{
  atomic_store(&spill->error, error);
  return FAILED;
}

/* --- open files --- */

static int open_path(const twpa_file_spill *spill, uint64_t file, int flags)
{
  char name[NAME_LEN + 1];
  name_of(name, file);
  int fd;
  do
    fd = openat(spill->directory, name, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
  while (fd < 0 && errno == EINTR);
  return fd;
}

/* The slot of a file, or the one that is to make room. */
static open_file *slot_for(twpa_file_spill *spill, uint64_t file)
{
  open_file *oldest = &spill->open[0];
  for (uint32_t i = 0; i < spill->nopen; i++) {
    open_file *slot = &spill->open[i];
    if (slot->fd >= 0 && slot->file == file)
      return slot;
    if (oldest->fd >= 0 && (slot->fd < 0 || slot->used < oldest->used))
      oldest = slot;
  }
  return oldest;
}

static void close_slot(open_file *slot)
{
  close(slot->fd);
  slot->fd = -1;
}

/* Closes what was removed while somebody else had the flag. */
static void close_nameless(twpa_file_spill *spill)
{
  if (!atomic_load(&spill->nameless))
    return;
  atomic_store(&spill->nameless, false); /* before looking: a removal that comes now is for the next one */
  for (uint32_t i = 0; i < spill->nopen; i++) {
    struct stat found;
    if (spill->open[i].fd >= 0 && fstat(spill->open[i].fd, &found) == 0 && found.st_nlink == 0)
      close_slot(&spill->open[i]);
  }
}

static bool take_flag(twpa_file_spill *spill)
{
  if (atomic_flag_test_and_set(&spill->busy))
    return false;
  close_nameless(spill);
  return true;
}

static void drop_flag(twpa_file_spill *spill)
{
  close_nameless(spill);
  atomic_flag_clear(&spill->busy);
}

/* An open descriptor; *own: the caller closes it. -1: errno says why. */
static int acquire(twpa_file_spill *spill, uint64_t file, int flags, bool *own)
{
  *own = !take_flag(spill);
  if (*own)
    return open_path(spill, file, flags);
  open_file *slot = slot_for(spill, file);
  if (slot->fd < 0 || slot->file != file) {
    int fd = open_path(spill, file, flags);
    if (fd < 0) {
      int error = errno;
      drop_flag(spill);
      errno = error;
      return -1;
    }
    if (slot->fd >= 0)
      close(slot->fd);
    slot->fd = fd;
    slot->file = file;
  }
  slot->used = ++spill->clock;
  return slot->fd;
}

static void done_with(twpa_file_spill *spill, int fd, bool own)
{
  if (own)
    close(fd);
  else
    drop_flag(spill);
}

/* --- hooks --- */

/* All bytes, or errno. */
static int write_all(int fd, const unsigned char *data, size_t len, uint64_t offset)
{
  while (len > 0) {
    ssize_t n = pwrite(fd, data, len, (off_t)offset);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return n == 0 ? ENOSPC : errno;
    data += n;
    len -= (size_t)n;
    offset += (uint64_t)n;
  }
  return 0;
}

static int hook_write(void *user, uint64_t file, uint64_t offset, const void *data, size_t len)
{
  twpa_file_spill *spill = user;
  bool own;
  int fd = acquire(spill, file, O_RDWR | O_CREAT | (offset == 0 ? O_TRUNC : 0), &own);
  if (fd < 0)
    return fail(spill, errno);
  int error = write_all(fd, data, len, offset);
  done_with(spill, fd, own);
  return error == 0 ? 0 : fail(spill, error);
}

/* All bytes: 0; too few: TWPA_E_CORRUPT; else errno. */
static int read_all(int fd, unsigned char *data, size_t len, uint64_t offset)
{
  while (len > 0) {
    ssize_t n = pread(fd, data, len, (off_t)offset);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return n == 0 ? TWPA_E_CORRUPT : errno;
    data += n;
    len -= (size_t)n;
    offset += (uint64_t)n;
  }
  return 0;
}

static int hook_read(void *user, uint64_t file, uint64_t offset, void *data, size_t len)
{
  twpa_file_spill *spill = user;
  bool own;
  int fd = acquire(spill, file, O_RDWR, &own);
  if (fd < 0)
    return fail(spill, errno);
  int error = read_all(fd, data, len, offset);
  done_with(spill, fd, own);
  return error <= 0 ? error : fail(spill, error);
}

static int hook_remove(void *user, uint64_t file)
{
  twpa_file_spill *spill = user;
  bool ours = take_flag(spill);
  if (ours) {
    open_file *slot = slot_for(spill, file);
    if (slot->fd >= 0 && slot->file == file)
      close_slot(slot);
    drop_flag(spill);
  }
  char name[NAME_LEN + 1];
  name_of(name, file);
  if (unlinkat(spill->directory, name, 0) != 0 && errno != ENOENT)
    return fail(spill, errno);
  if (!ours)
    atomic_store(&spill->nameless, true);
  return 0;
}

/* --- the object --- */

/* What an earlier run has left. A file that cannot be removed does no harm: the first write to it cuts it off. */
static void remove_leftovers(int directory)
{
  int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
  if (dir == NULL) {
    if (fd >= 0)
      close(fd);
    return;
  }
  const struct dirent *entry;
  while ((entry = readdir(dir)) != NULL)
    if (is_spill_file(entry->d_name))
      (void)unlinkat(directory, entry->d_name, 0);
  closedir(dir);
}

static twpa_status take_directory(int *fd, const char *path)
{
  *fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (*fd < 0)
    return TWPA_E_NOTFOUND;
  if (flock(*fd, LOCK_EX | LOCK_NB) == 0)
    return TWPA_OK;
  int error = errno;
  close(*fd);
  errno = error;
  return error == EWOULDBLOCK ? TWPA_E_EXISTS : TWPA_E_NOTFOUND;
}

twpa_status twpa_file_spill_new(twpa_file_spill **spill, const twpa_file_spill_options *options,
                                const twpa_allocator *allocator)
{
  twpa_file_spill_options own;
  twpa__mem mem;
  if (spill == NULL || options == NULL)
    return TWPA_E_INVAL;
  twpa_status st = twpa__read_sized(&own, sizeof own, options, sizeof own);
  if (st == TWPA_OK)
    st = twpa__mem_init(&mem, allocator);
  if (st != TWPA_OK)
    return st;
  if (own.directory == NULL || own.open_files > OPEN_FILES_MAX)
    return TWPA_E_INVAL;
  uint32_t nopen = own.open_files != 0 ? own.open_files : OPEN_FILES_DEFAULT;
  twpa_file_spill *s = twpa__zalloc(&mem, sizeof *s);
  open_file *files = s != NULL ? twpa__alloc(&mem, nopen * sizeof *files) : NULL;
  int fd = -1;
  st = files != NULL ? take_directory(&fd, own.directory) : TWPA_E_NOMEM;
  if (st != TWPA_OK) {
    int error = errno;
    twpa__release(&mem, files, nopen * sizeof *files);
    twpa__release(&mem, s, sizeof *s);
    errno = error;
    return st;
  }
  remove_leftovers(fd);
  s->mem = mem;
  s->directory = fd;
  s->open = files;
  s->nopen = nopen;
  for (uint32_t i = 0; i < nopen; i++)
    s->open[i] = (open_file){.fd = -1};
  atomic_init(&s->error, 0);
  atomic_flag_clear(&s->busy);
  atomic_init(&s->nameless, false);
  *spill = s;
  return TWPA_OK;
}

void twpa_file_spill_free(twpa_file_spill *spill)
{
  if (spill == NULL)
    return;
  for (uint32_t i = 0; i < spill->nopen; i++)
    if (spill->open[i].fd >= 0)
      close(spill->open[i].fd);
  remove_leftovers(spill->directory);
  close(spill->directory);
  twpa__mem mem = spill->mem;
  twpa__release(&mem, spill->open, spill->nopen * sizeof *spill->open);
  twpa__release(&mem, spill, sizeof *spill);
}

twpa_status twpa_file_spill_storage(twpa_file_spill *spill, twpa_storage *storage)
{
  if (spill == NULL || storage == NULL)
    return TWPA_E_INVAL;
  const twpa_storage hooks = {TWPA_STORAGE_INIT, spill, hook_write, hook_read, hook_remove};
  return twpa__write_sized(storage, &hooks, sizeof hooks, sizeof hooks);
}

int twpa_file_spill_errno(const twpa_file_spill *spill)
{
  return spill != NULL ? atomic_load(&spill->error) : 0;
}
