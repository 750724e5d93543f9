/* Law: which changes of files under RECORDED a process asks the system for, in order, into the file RECORD; for LD_PRELOAD.

A record: kind, inode, number, length of the text, the text. A change is recorded when it was made, under the lock
under which it was made, so that the order is that of the disk. A sync is recorded when it begins and when it has ended:
what was written in between it has not promised. What the records mean is disk.py's; nothing is changed here. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define FILES_MAX 4096
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
static const char *folder;
static int out = -1;
static uint64_t followed[FILES_MAX]; /* by descriptor: its inode */

struct __attribute__((packed)) head {
    char kind;
    uint64_t inode;
    int64_t number;
    uint32_t length;
};

__attribute__((constructor)) static void begin(void) {
    folder = getenv("RECORDED");
    out = REAL(open)(getenv("RECORD"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (!folder || out < 0)
        abort();
}

static void record(char kind, uint64_t inode, int64_t number, const void *text, size_t length) {
    struct head head = {kind, inode, number, (uint32_t)length};
    struct iovec parts[2] = {{&head, sizeof head}, {(void *)text, length}};
    if (writev(out, parts, 2) != (ssize_t)(sizeof head + length))
        abort();
}

static int ours(const char *path) { return folder && strncmp(path, folder, strlen(folder)) == 0; }

static uint64_t inode_of(int file) { return file >= 0 && file < FILES_MAX ? followed[file] : 0; }

static int opened(int file, const char *path, int is_new) {
    struct stat found;
    if (file < 0 || !ours(path))
        return file;
    if (file >= FILES_MAX || fstat(file, &found))
        abort();
    followed[file] = found.st_ino;
    if (is_new)
        record('C', found.st_ino, 0, path, strlen(path));
    return file;
}

static int open_(const char *path, int flags, mode_t mode) {
    static int (*real)(const char *, int, ...);
    int file, is_new;
    if (!real)
        real = REAL(open);
    if (!folder || !ours(path))
        return real(path, flags, mode);
    pthread_mutex_lock(&one);
    is_new = (flags & O_CREAT) && access(path, F_OK);
    file = opened(real(path, flags, mode), path, is_new);
    if (file >= 0 && !is_new && (flags & O_TRUNC))
        record('T', followed[file], 0, "", 0);
    pthread_mutex_unlock(&one);
    return file;
}

#define OPEN(name)                                                                                                     \
    int name(const char *path, int flags, ...) {                                                                       \
        va_list rest;                                                                                                  \
        mode_t mode = 0;                                                                                               \
        va_start(rest, flags);                                                                                         \
        if (flags & O_CREAT)                                                                                           \
            mode = va_arg(rest, mode_t);                                                                               \
        va_end(rest);                                                                                                  \
        return open_(path, flags, mode);                                                                               \
    }
OPEN(open)
OPEN(open64)

int close(int file) {
    if (inode_of(file))
        followed[file] = 0;
    return REAL(close)(file);
}

#define CHANGE(type, call, done, kind, inode, number, text, length)                                                    \
    uint64_t changed = inode;                                                                                          \
    type result;                                                                                                       \
    if (!changed)                                                                                                      \
        return call;                                                                                                   \
    pthread_mutex_lock(&one);                                                                                          \
    result = call;                                                                                                     \
    if (done)                                                                                                          \
        record(kind, changed, number, text, length);                                                                   \
    pthread_mutex_unlock(&one);                                                                                        \
    return result;

#define PWRITE(name)                                                                                                   \
    ssize_t name(int file, const void *data, size_t size, off_t at) {                                                  \
        CHANGE(ssize_t, REAL(name)(file, data, size, at), result > 0, 'W', inode_of(file), at, data, (size_t)result)   \
    }
PWRITE(pwrite)
PWRITE(pwrite64)

ssize_t write(int file, const void *data, size_t size) {
    CHANGE(ssize_t, REAL(write)(file, data, size), result > 0, 'W', inode_of(file),
           lseek(file, 0, SEEK_CUR) - result, data, (size_t)result)
}

#define SIZED(name, kind, first, call)                                                                                 \
    int name {                                                                                                         \
        CHANGE(int, call, result == 0, kind, inode_of(file), first, "", 0)                                             \
    }
SIZED(ftruncate(int file, off_t size), 'T', size, REAL(ftruncate)(file, size))
SIZED(ftruncate64(int file, off64_t size), 'T', size, REAL(ftruncate64)(file, size))
SIZED(posix_fallocate(int file, off_t at, off_t size), 'A', at + size, REAL(posix_fallocate)(file, at, size))
SIZED(posix_fallocate64(int file, off64_t at, off64_t size), 'A', at + size, REAL(posix_fallocate64)(file, at, size))

#define SYNC(name)                                                                                                     \
    int name(int file) {                                                                                               \
        uint64_t inode = inode_of(file);                                                                               \
        int result;                                                                                                    \
        if (!inode)                                                                                                    \
            return REAL(name)(file);                                                                                   \
        pthread_mutex_lock(&one);                                                                                      \
        record('B', inode, 0, "", 0);                                                                                  \
        pthread_mutex_unlock(&one);                                                                                    \
        result = REAL(name)(file);                                                                                     \
        pthread_mutex_lock(&one);                                                                                      \
        if (!result)                                                                                                   \
            record('E', inode, 0, "", 0);                                                                              \
        pthread_mutex_unlock(&one);                                                                                    \
        return result;                                                                                                 \
    }
SYNC(fsync)
SYNC(fdatasync)

int unlink(const char *path) {
    CHANGE(int, REAL(unlink)(path), result == 0, 'U', (uint64_t)ours(path), 0, path, strlen(path))
}

int mkdir(const char *path, mode_t mode) {
    CHANGE(int, REAL(mkdir)(path, mode), result == 0, 'D', (uint64_t)ours(path), 0, path, strlen(path))
}

int rename(const char *before, const char *after) {
    size_t first = strlen(before), length = first + 1 + strlen(after);
    char both[length + 1];
    memcpy(both, before, first + 1);
    memcpy(both + first + 1, after, length - first);
    CHANGE(int, REAL(rename)(before, after), result == 0, 'R', (uint64_t)ours(before), 0, both, length)
}

#define TRUNCATE(name)                                                                                                 \
    int name(const char *path, off_t size) {                                                                           \
        struct stat found;                                                                                             \
        uint64_t there = ours(path) && !stat(path, &found) ? found.st_ino : 0;                                         \
        CHANGE(int, REAL(name)(path, size), result == 0, 'T', there, size, "", 0)                                      \
    }
TRUNCATE(truncate)
TRUNCATE(truncate64)
