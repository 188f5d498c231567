/* A file system with faults, for a process that is started with this library in LD_PRELOAD.
 *
 * Operations on files below FAULTY_ROOT are counted by kind. Those that FAULTY_PLAN lists fail, are
 * lost, or are the last ones before a power cut, which is SIGKILL here. Every change is appended to
 * FAULTY_LOG with its bytes: from the log, disk.py finds what a power cut may leave on the disk.
 *
 * FAULTY_PLAN is a list of KIND@N=ACTION, separated by commas: the Nth operation of the kind, from 1.
 *
 *   KIND    create (open that creates or empties a file), open, read, write, truncate (also
 *           allocations), sync, rename, remove, folder, link; any: all but open and read
 *   ACTION  cut: the operation is made, then the process is killed
 *           lost: the operation is not made and succeeds
 *           short: a write makes only its first half, and says so
 *           EIO, ENOSPC, EDQUOT, EROFS: the operation is not made and fails
 *           with + at the end: all later operations of the kind, too
 *
 * One operation is made and logged at a time, so the log has their order. Calls of the C library are
 * seen, not system calls that are made without it; disk.py compares the folder with the log to notice
 * those. Reads and writes of mapped files are not seen. A writable shared map is logged as unsupported.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#if !defined(__LP64__)
#error "offsets are taken to have 64 bits"
#endif

enum kind { CREATE, OPEN, READ, WRITE, TRUNCATE, SYNC, RENAME, REMOVE, FOLDER, LINK, ANY, KINDS };

static const char *const kind_names[KINDS] = {"create", "open",   "read",   "write",  "truncate", "sync",
                                              "rename", "remove", "folder", "link",   "any"};

enum action { NOTHING, CUT, LOST, SHORT, FAIL };

struct fault {
    enum kind kind;
    uint64_t number;
    int is_for_ever;
    enum action action;
    int error;
};

/* A record of the log; path, other path and data follow it. */
struct record {
    uint8_t kind;
    uint8_t unused[3];
    int32_t value;
    uint64_t inode;
    uint64_t offset;
    uint64_t length;
    uint32_t path_length;
    uint32_t other_length;
    uint64_t data_length;
};

#define MOST_FAULTS 16

static struct fault faults[MOST_FAULTS];
static int fault_count;
static uint64_t counts[KINDS];
static char root[PATH_MAX];
static size_t root_length;
static int log_fd = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void die(const char *what) {
    fprintf(stderr, "faulty-fs: %s\n", what);
    _exit(99);
}

static void parse_action(struct fault *fault, char *text) {
    static const struct { const char *name; enum action action; int error; } actions[] = {
        {"cut", CUT, 0},       {"lost", LOST, 0},         {"short", SHORT, 0},      {"EIO", FAIL, EIO},
        {"ENOSPC", FAIL, ENOSPC}, {"EDQUOT", FAIL, EDQUOT}, {"EROFS", FAIL, EROFS},
    };
    size_t length = strlen(text);
    if (length > 0 && text[length - 1] == '+') {
        fault->is_for_ever = 1;
        text[length - 1] = 0;
    }
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (strcmp(text, actions[i].name) == 0) {
            fault->action = actions[i].action;
            fault->error = actions[i].error;
            return;
        }
    die("FAULTY_PLAN has an unknown action");
}

static void parse_plan(const char *plan) {
    char *copy = strdup(plan), *rest = copy;
    for (char *item; (item = strsep(&rest, ",")) != NULL;) {
        if (*item == 0)
            continue;
        char *at = strchr(item, '@'), *is = strchr(item, '=');
        if (at == NULL || is == NULL || is < at || fault_count == MOST_FAULTS)
            die("FAULTY_PLAN is a list of KIND@N=ACTION");
        *at = *is = 0;
        struct fault *fault = &faults[fault_count++];
        fault->number = strtoull(at + 1, NULL, 10);
        int kind = 0;
        while (kind < KINDS && strcmp(item, kind_names[kind]) != 0)
            kind++;
        if (kind == KINDS || fault->number == 0)
            die("FAULTY_PLAN has an unknown kind or no number");
        fault->kind = kind;
        parse_action(fault, is + 1);
    }
    free(copy);
}

__attribute__((constructor)) static void begin(void) {
    const char *folder = getenv("FAULTY_ROOT"), *file = getenv("FAULTY_LOG"), *plan = getenv("FAULTY_PLAN");
    if (folder == NULL || file == NULL || realpath(folder, root) == NULL)
        die("FAULTY_ROOT must be a folder, and FAULTY_LOG a file");
    root_length = strlen(root);
    int fd = syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    /* A number that the process itself does not use. */
    log_fd = fcntl(fd, F_DUPFD_CLOEXEC, 900);
    if (log_fd < 0)
        die("FAULTY_LOG cannot be written");
    syscall(SYS_close, fd);
    if (plan != NULL)
        parse_plan(plan);
    /* Processes that this one starts have no faults. */
    unsetenv("LD_PRELOAD");
}

/* ---- paths ---- */

static int is_inside(const char *path) {
    return strncmp(path, root, root_length) == 0 && (path[root_length] == '/' || path[root_length] == 0);
}

/* The path of a descriptor, if it is below the root. */
static int path_of(int fd, char *path) {
    char link[64];
    int saved = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = log_fd < 0 ? -1 : readlink(link, path, PATH_MAX - 1);
    errno = saved;
    if (length < 0)
        return 0;
    path[length] = 0;
    return is_inside(path);
}

/* The absolute path of a name, without resolving its last part; whether it is below the root. */
static int absolute(int folder, const char *name, char *path) {
    char base[PATH_MAX] = "", joined[2 * PATH_MAX], real[PATH_MAX];
    int saved = errno;
    if (log_fd < 0 || name == NULL || strlen(name) >= PATH_MAX)
        return 0;
    if (name[0] != '/') {
        if (folder == AT_FDCWD) {
            if (getcwd(base, sizeof base) == NULL)
                return errno = saved, 0;
        } else {
            char link[64];
            snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
            ssize_t length = readlink(link, base, sizeof base - 1);
            if (length < 0)
                return errno = saved, 0;
            base[length] = 0;
        }
    }
    snprintf(joined, sizeof joined, "%s%s%s", base, name[0] == '/' ? "" : "/", name);
    size_t length = strlen(joined);
    while (length > 1 && joined[length - 1] == '/')
        joined[--length] = 0;
    char *last = strrchr(joined, '/');
    *last = 0;
    int is_real = realpath(last == joined ? "/" : joined, real) != NULL;
    errno = saved;
    if (!is_real || strlen(real) + strlen(last + 1) + 2 > PATH_MAX)
        return 0;
    size_t folder_length = strlen(real);
    memcpy(path, real, folder_length);
    path[folder_length] = '/';
    strcpy(path + folder_length + 1, last + 1);
    return is_inside(path);
}

static uint64_t inode_of(int fd) {
    struct stat stat;
    return fstat(fd, &stat) == 0 ? stat.st_ino : 0;
}

static uint64_t inode_at(const char *path) {
    struct stat stat;
    return lstat(path, &stat) == 0 ? stat.st_ino : 0;
}

/* ---- the log ---- */

static void put(const void *bytes, size_t length) {
    const char *at = bytes;
    while (length > 0) {
        ssize_t written = syscall(SYS_write, log_fd, at, length);
        if (written <= 0)
            die("FAULTY_LOG cannot be written");
        at += written;
        length -= written;
    }
}

static void note(char kind, uint64_t inode, uint64_t offset, uint64_t length, int value, const char *path,
                 const char *other, const struct iovec *data, int parts, size_t data_length) {
    int saved = errno;
    struct record record = {.kind = kind, .value = value, .inode = inode, .offset = offset, .length = length};
    record.path_length = path == NULL ? 0 : strlen(path);
    record.other_length = other == NULL ? 0 : strlen(other);
    record.data_length = data_length;
    put(&record, sizeof record);
    put(path, record.path_length);
    put(other, record.other_length);
    for (int i = 0; i < parts && data_length > 0; i++) {
        size_t part = data[i].iov_len < data_length ? data[i].iov_len : data_length;
        put(data[i].iov_base, part);
        data_length -= part;
    }
    errno = saved;
}

/* ---- faults ---- */

static int is_cut;

/* Begins an operation: counts it, and returns what happens to it. leave() ends it. */
static struct fault enter(enum kind kind, const char *path) {
    pthread_mutex_lock(&lock);
    counts[kind]++;
    int is_change = kind != OPEN && kind != READ;
    counts[ANY] += is_change;
    is_cut = 0;
    struct fault found = {.action = NOTHING};
    for (int i = 0; i < fault_count; i++) {
        const struct fault *fault = &faults[i];
        if (fault->kind != kind && !(fault->kind == ANY && is_change))
            continue;
        uint64_t count = counts[fault->kind];
        if (count != fault->number && !(fault->is_for_ever && count > fault->number))
            continue;
        if (fault->action == CUT)
            is_cut = 1;
        else
            found = *fault;
    }
    if (found.action != NOTHING) {
        static const char *const names[] = {"", "cut", "lost", "short", "fail"};
        char what[64];
        snprintf(what, sizeof what, "%s %s", kind_names[kind], names[found.action]);
        note('E', 0, counts[kind], 0, found.error, path, what, NULL, 0, 0);
        if (found.action == FAIL)
            errno = found.error;
    }
    return found;
}

/* Ends an operation. After the last one before a power cut, the process does not continue. */
static void leave(void) {
    if (is_cut) {
        note('X', 0, 0, 0, 0, NULL, NULL, NULL, 0, 0);
        kill(getpid(), SIGKILL);
        for (;;)
            pause();
    }
    pthread_mutex_unlock(&lock);
}

/* ---- opening ---- */

static int open_in(int folder, const char *name, int flags, mode_t mode) {
    char path[PATH_MAX], real[PATH_MAX];
    if (!absolute(folder, name, path))
        return syscall(SYS_openat, folder, name, flags, mode);
    int creates = (flags & (O_CREAT | O_TRUNC)) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
    struct fault fault = enter(creates ? CREATE : OPEN, path);
    int fd = -1;
    if (!creates)
        note('O', 0, 0, 0, 0, path, NULL, NULL, 0, 0);
    if (fault.action != FAIL) {
        uint64_t before = creates ? inode_at(path) : 0;
        fd = syscall(SYS_openat, folder, name, flags, mode);
        if (fd >= 0 && creates && path_of(fd, real)) {
            uint64_t inode = inode_of(fd);
            if (before == 0)
                note('C', inode, 0, 0, mode, real, NULL, NULL, 0, 0);
            else if (flags & O_TRUNC)
                note('T', inode, 0, 0, 0, real, NULL, NULL, 0, 0);
        }
    }
    leave();
    return fd;
}

static mode_t mode_of(int flags, va_list arguments) {
    int has_mode = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
    return has_mode ? va_arg(arguments, mode_t) : 0;
}

int open(const char *name, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return open_in(AT_FDCWD, name, flags, mode);
}

int openat(int folder, const char *name, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return open_in(folder, name, flags, mode);
}

int creat(const char *name, mode_t mode) {
    return open_in(AT_FDCWD, name, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

int open64(const char *, int, ...) __attribute__((alias("open")));
int openat64(int, const char *, int, ...) __attribute__((alias("openat")));
int creat64(const char *, mode_t) __attribute__((alias("creat")));

/* ---- reading ---- */

static ssize_t read_in(int fd, const struct iovec *data, int parts, off_t offset) {
    char path[PATH_MAX];
    if (path_of(fd, path)) {
        struct fault fault = enter(READ, path);
        note('Q', 0, 0, 0, 0, path, NULL, NULL, 0, 0);
        leave();
        if (fault.action == FAIL) {
            errno = fault.error;
            return -1;
        }
    }
    if (offset < 0)
        return syscall(SYS_readv, fd, data, parts);
    return syscall(SYS_preadv, fd, data, parts, (unsigned long)offset, 0UL);
}

ssize_t read(int fd, void *bytes, size_t length) {
    struct iovec data = {bytes, length};
    return read_in(fd, &data, 1, -1);
}

ssize_t pread(int fd, void *bytes, size_t length, off_t offset) {
    struct iovec data = {bytes, length};
    return read_in(fd, &data, 1, offset);
}

ssize_t readv(int fd, const struct iovec *data, int parts) { return read_in(fd, data, parts, -1); }

ssize_t preadv(int fd, const struct iovec *data, int parts, off_t offset) {
    return read_in(fd, data, parts, offset);
}

ssize_t pread64(int, void *, size_t, off_t) __attribute__((alias("pread")));
ssize_t preadv64(int, const struct iovec *, int, off_t) __attribute__((alias("preadv")));

/* ---- writing ---- */

static ssize_t raw_write(int fd, const struct iovec *data, int parts, off_t offset) {
    if (offset < 0)
        return syscall(SYS_writev, fd, data, parts);
    return syscall(SYS_pwritev, fd, data, parts, (unsigned long)offset, 0UL);
}

/* Where a write will begin. */
static off_t place_of(int fd, off_t offset, int flags) {
    struct stat stat;
    if ((flags & O_APPEND) != 0)
        return fstat(fd, &stat) == 0 ? stat.st_size : 0;
    return offset < 0 ? lseek(fd, 0, SEEK_CUR) : offset;
}

static ssize_t write_in(int fd, const struct iovec *data, int parts, off_t offset) {
    char path[PATH_MAX];
    if (!path_of(fd, path))
        return raw_write(fd, data, parts, offset);
    size_t length = 0;
    for (int i = 0; i < parts; i++)
        length += data[i].iov_len;
    struct fault fault = enter(WRITE, path);
    ssize_t written = -1;
    int flags = fcntl(fd, F_GETFL);
    off_t place = place_of(fd, offset, flags);
    if (fault.action == LOST) {
        if (offset < 0)
            lseek(fd, length, SEEK_CUR);
        written = length;
    } else if (fault.action != FAIL) {
        struct iovec half = {data[0].iov_base, data[0].iov_len / 2};
        int is_short = fault.action == SHORT && parts > 0 && half.iov_len > 0;
        written = is_short ? raw_write(fd, &half, 1, offset) : raw_write(fd, data, parts, offset);
        if (written > 0) {
            uint64_t inode = inode_of(fd);
            note('W', inode, place, written, 0, path, NULL, data, parts, written);
            if (flags & O_DSYNC)
                note('S', inode, 0, 0, 0, path, NULL, NULL, 0, 0);
        }
    }
    leave();
    return written;
}

ssize_t write(int fd, const void *bytes, size_t length) {
    struct iovec data = {(void *)bytes, length};
    return write_in(fd, &data, 1, -1);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) {
    struct iovec data = {(void *)bytes, length};
    return write_in(fd, &data, 1, offset);
}

ssize_t writev(int fd, const struct iovec *data, int parts) { return write_in(fd, data, parts, -1); }

ssize_t pwritev(int fd, const struct iovec *data, int parts, off_t offset) {
    return write_in(fd, data, parts, offset);
}

ssize_t pwritev2(int fd, const struct iovec *data, int parts, off_t offset, int flags) {
    char path[PATH_MAX];
    if (flags == 0 || !path_of(fd, path))
        return write_in(fd, data, parts, offset);
    errno = EOPNOTSUPP;
    return -1;
}

ssize_t pwrite64(int, const void *, size_t, off_t) __attribute__((alias("pwrite")));
ssize_t pwritev64(int, const struct iovec *, int, off_t) __attribute__((alias("pwritev")));
ssize_t pwritev64v2(int, const struct iovec *, int, off_t, int) __attribute__((alias("pwritev2")));

/* Copies between files are refused as between file systems, so that programs read and write instead. */
ssize_t copy_file_range(int in, off_t *from, int out, off_t *to, size_t length, unsigned flags) {
    char path[PATH_MAX];
    if (path_of(out, path)) {
        errno = EXDEV;
        return -1;
    }
    return syscall(SYS_copy_file_range, in, from, out, to, length, flags);
}

ssize_t sendfile(int out, int in, off_t *offset, size_t length) {
    char path[PATH_MAX];
    if (path_of(out, path)) {
        errno = EINVAL;
        return -1;
    }
    return syscall(SYS_sendfile, out, in, offset, length);
}

ssize_t splice(int in, off_t *from, int out, off_t *to, size_t length, unsigned flags) {
    char path[PATH_MAX];
    if (path_of(out, path)) {
        errno = EINVAL;
        return -1;
    }
    return syscall(SYS_splice, in, from, out, to, length, flags);
}

ssize_t sendfile64(int, int, off_t *, size_t) __attribute__((alias("sendfile")));

/* ---- lengths ---- */

int ftruncate(int fd, off_t length) {
    char path[PATH_MAX];
    if (!path_of(fd, path))
        return syscall(SYS_ftruncate, fd, length);
    struct fault fault = enter(TRUNCATE, path);
    int result = fault.action == LOST ? 0 : -1;
    if (fault.action != LOST && fault.action != FAIL) {
        result = syscall(SYS_ftruncate, fd, length);
        if (result == 0)
            note('T', inode_of(fd), 0, length, 0, path, NULL, NULL, 0, 0);
    }
    leave();
    return result;
}

int truncate(const char *name, off_t length) {
    int fd = open(name, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    int result = ftruncate(fd, length), saved = errno;
    syscall(SYS_close, fd);
    errno = saved;
    return result;
}

int fallocate(int fd, int mode, off_t offset, off_t length) {
    char path[PATH_MAX];
    if (!path_of(fd, path))
        return syscall(SYS_fallocate, fd, mode, offset, length);
    struct fault fault = enter(TRUNCATE, path);
    int result = fault.action == LOST ? 0 : -1;
    if (fault.action != LOST && fault.action != FAIL) {
        result = syscall(SYS_fallocate, fd, mode, offset, length);
        if (result == 0)
            note('A', inode_of(fd), offset, length, mode, path, NULL, NULL, 0, 0);
    }
    leave();
    return result;
}

int posix_fallocate(int fd, off_t offset, off_t length) {
    int saved = errno;
    int error = fallocate(fd, 0, offset, length) == 0 ? 0 : errno;
    errno = saved;
    return error;
}

int ftruncate64(int, off_t) __attribute__((alias("ftruncate")));
int truncate64(const char *, off_t) __attribute__((alias("truncate")));
int fallocate64(int, int, off_t, off_t) __attribute__((alias("fallocate")));
int posix_fallocate64(int, off_t, off_t) __attribute__((alias("posix_fallocate")));

void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
    char path[PATH_MAX];
    int is_written = (flags & (MAP_SHARED | MAP_SHARED_VALIDATE)) != 0 && (flags & MAP_PRIVATE) == 0 &&
                     (protection & PROT_WRITE) != 0 && fd >= 0;
    if (is_written && path_of(fd, path)) {
        pthread_mutex_lock(&lock);
        note('N', 0, 0, 0, 0, path, "a writable shared map", NULL, 0, 0);
        pthread_mutex_unlock(&lock);
    }
    return (void *)syscall(SYS_mmap, address, length, protection, flags, fd, offset);
}

void *mmap64(void *, size_t, int, int, int, off_t) __attribute__((alias("mmap")));

/* ---- syncs ---- */

/* A sync of one file or folder ('S'), or of everything ('G'). */
static int sync_in(int fd, long call, char kind) {
    char path[PATH_MAX];
    if (!path_of(fd, path))
        return syscall(call, fd);
    struct fault fault = enter(SYNC, path);
    int result = fault.action == FAIL ? -1 : 0;
    if (fault.action == FAIL)
        note('F', kind == 'S' ? inode_of(fd) : 0, 0, 0, fault.error, path, NULL, NULL, 0, 0);
    else if (fault.action != LOST) {
        result = syscall(call, fd);
        if (result == 0)
            note(kind, inode_of(fd), 0, 0, 0, path, NULL, NULL, 0, 0);
    }
    leave();
    return result;
}

int fsync(int fd) { return sync_in(fd, SYS_fsync, 'S'); }

int fdatasync(int fd) { return sync_in(fd, SYS_fdatasync, 'S'); }

int syncfs(int fd) { return sync_in(fd, SYS_syncfs, 'G'); }

/* ---- names ---- */

static int rename_in(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
    char path[PATH_MAX], other[PATH_MAX];
    int is_from = absolute(from_folder, from, path), is_to = absolute(to_folder, to, other);
    if (!is_from && !is_to)
        return syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
    struct fault fault = enter(RENAME, is_from ? path : other);
    int result = fault.action == LOST ? 0 : -1;
    if (fault.action != LOST && fault.action != FAIL) {
        result = syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
        if (result == 0)
            note(is_from && is_to && (flags & RENAME_EXCHANGE) == 0 ? 'R' : 'N', 0, 0, 0, flags, path, other,
                 NULL, 0, 0);
    }
    leave();
    return result;
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
    return rename_in(from_folder, from, to_folder, to, flags);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
    return rename_in(from_folder, from, to_folder, to, 0);
}

int rename(const char *from, const char *to) { return rename_in(AT_FDCWD, from, AT_FDCWD, to, 0); }

int unlinkat(int folder, const char *name, int flags) {
    char path[PATH_MAX];
    if (!absolute(folder, name, path))
        return syscall(SYS_unlinkat, folder, name, flags);
    struct fault fault = enter(REMOVE, path);
    int result = fault.action == LOST ? 0 : -1;
    if (fault.action != LOST && fault.action != FAIL) {
        result = syscall(SYS_unlinkat, folder, name, flags);
        if (result == 0)
            note('U', 0, 0, 0, 0, path, NULL, NULL, 0, 0);
    }
    leave();
    return result;
}

int unlink(const char *name) { return unlinkat(AT_FDCWD, name, 0); }

int rmdir(const char *name) { return unlinkat(AT_FDCWD, name, AT_REMOVEDIR); }

int remove(const char *name) {
    int result = unlinkat(AT_FDCWD, name, 0);
    return result < 0 && errno == EISDIR ? unlinkat(AT_FDCWD, name, AT_REMOVEDIR) : result;
}

int mkdirat(int folder, const char *name, mode_t mode) {
    char path[PATH_MAX];
    if (!absolute(folder, name, path))
        return syscall(SYS_mkdirat, folder, name, mode);
    struct fault fault = enter(FOLDER, path);
    int result = fault.action == LOST ? 0 : -1;
    if (fault.action != LOST && fault.action != FAIL) {
        result = syscall(SYS_mkdirat, folder, name, mode);
        if (result == 0)
            note('M', inode_at(path), 0, 0, mode, path, NULL, NULL, 0, 0);
    }
    leave();
    return result;
}

int mkdir(const char *name, mode_t mode) { return mkdirat(AT_FDCWD, name, mode); }

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    char path[PATH_MAX];
    if (!absolute(to_folder, to, path))
        return syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
    struct fault fault = enter(LINK, path);
    int result = fault.action == LOST ? 0 : -1;
    if (fault.action != LOST && fault.action != FAIL) {
        result = syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
        if (result == 0)
            note('L', inode_at(path), 0, 0, 0, path, NULL, NULL, 0, 0);
    }
    leave();
    return result;
}

int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

int symlinkat(const char *target, int folder, const char *name) {
    char path[PATH_MAX];
    if (!absolute(folder, name, path))
        return syscall(SYS_symlinkat, target, folder, name);
    struct fault fault = enter(LINK, path);
    int result = fault.action == LOST ? 0 : -1;
    if (fault.action != LOST && fault.action != FAIL) {
        result = syscall(SYS_symlinkat, target, folder, name);
        if (result == 0)
            note('N', 0, 0, 0, 0, path, "a symbolic link", NULL, 0, 0);
    }
    leave();
    return result;
}

int symlink(const char *target, const char *name) { return symlinkat(target, AT_FDCWD, name); }
