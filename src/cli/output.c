/* The file beside the target is named after it and the process, and opened exclusively, so that two
 * runs never share it.  A signal handler may only do what is safe there: it removes that file, by a
 * name that stands still while handlers are set, and lets the signal do its work again. */
#define _XOPEN_SOURCE 700 /* realpath */

#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *volatile unfinished; /* the temporary of the one open output */
static const char *volatile scratch;

static void handle_signal(int number)
{
    const char *paths[] = {unfinished, scratch};
    for (size_t i = 0; i < 2; i++) {
        if (paths[i] != NULL)
            unlink(paths[i]);
    }
    signal(number, SIG_DFL);
    raise(number);
}

void fl_output_scratch(const char *path)
{
    scratch = path;
}

void fl_output_catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction action;
        if (sigaction(numbers[i], NULL, &action) != 0 || action.sa_handler == SIG_IGN)
            continue; /* nohup and shells in the background mean it */
        memset(&action, 0, sizeof action);
        action.sa_handler = handle_signal;
        sigemptyset(&action.sa_mask);
        sigaction(numbers[i], &action, NULL);
    }
    signal(SIGXFSZ, SIG_IGN); /* a file beyond the limit is a write that fails */
}

static fl_status output_fail(const char *path, const char *what, fl_error *error)
{
    return fl_fail(error, FL_ERR_OUTPUT, "%s: %s: %s", path != NULL ? path : "standard output",
                   what, strerror(errno));
}

static fl_status open_directly(fl_output *output, const char *path, fl_error *error)
{
    output->file = fopen(path, "w");
    return output->file != NULL ? FL_OK : output_fail(path, "cannot be opened", error);
}

static void output_forget(fl_output *output)
{
    unfinished = NULL;
    output->target[0] = output->temporary[0] = '\0';
}

/* `TARGET.PID.part`; an older file's permissions carry over. */
static fl_status open_beside(fl_output *output, mode_t mode, fl_error *error)
{
    int length = snprintf(output->temporary, sizeof output->temporary, "%s.%ld.part",
                          output->target, (long)getpid());
    if (length < 0 || (size_t)length >= sizeof output->temporary)
        return fl_fail(error, FL_ERR_OUTPUT, "%s: the name is too long", output->path);
    int descriptor = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0)
        return output_fail(output->path, "cannot be created", error);
    unfinished = output->temporary;
    if (mode != 0 && fchmod(descriptor, mode) != 0) {
        close(descriptor);
        return output_fail(output->path, "its permissions cannot be kept", error);
    }
    output->file = fdopen(descriptor, "w");
    if (output->file != NULL)
        return FL_OK;
    close(descriptor);
    return fl_fail(error, FL_ERR_RESOURCE, "out of memory");
}

static fl_status open_file(fl_output *output, const char *path, fl_error *error)
{
    struct stat status;
    bool is_there = stat(path, &status) == 0;
    if (is_there && !S_ISREG(status.st_mode))
        return open_directly(output, path, error);
    if (is_there ? realpath(path, output->target) == NULL
                 : snprintf(output->target, sizeof output->target, "%s", path) < 0)
        return output_fail(path, "cannot be resolved", error);
    return open_beside(output, is_there ? status.st_mode & 07777 : 0, error);
}

fl_status fl_output_open(fl_output *output, const char *path, fl_error *error)
{
    *output = (fl_output){0};
    if (path == NULL || strcmp(path, "-") == 0) {
        output->file = stdout;
        return FL_OK;
    }
    output->path = path;
    fl_status status = open_file(output, path, error);
    if (status != FL_OK)
        fl_output_discard(output);
    return status;
}

fl_status fl_output_fail(const fl_output *output, fl_error *error)
{
    errno = output->problem != 0 ? output->problem : errno;
    return output_fail(output->path, "cannot be written", error);
}

fl_status fl_output_commit(fl_output *output, fl_error *error)
{
    bool is_stdout = output->file == stdout;
    bool is_good = ferror(output->file) == 0;
    is_good = (is_stdout ? fflush(stdout) : fclose(output->file)) == 0 && is_good;
    output->file = NULL;
    if (is_good && output->temporary[0] != '\0')
        is_good = rename(output->temporary, output->target) == 0;
    fl_status status = is_good ? FL_OK : fl_output_fail(output, error);
    if (!is_good && output->temporary[0] != '\0')
        unlink(output->temporary);
    output_forget(output);
    return status;
}

void fl_output_discard(fl_output *output)
{
    if (output->file != NULL && output->file != stdout)
        fclose(output->file);
    if (unfinished != NULL)
        unlink(unfinished);
    output_forget(output);
}

bool fl_output_write(void *user, const char *data, size_t size)
{
    fl_output *output = user;
    bool is_good = fwrite(data, 1, size, output->file) == size;
    if (!is_good && output->problem == 0)
        output->problem = errno;
    return is_good;
}
