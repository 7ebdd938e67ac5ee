#include "cli/shell.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the child: never returns. */
static void become_shell(const char *command, const char *path)
{
    int nothing = open("/dev/null", O_RDWR);
    if (nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 && dup2(nothing, STDOUT_FILENO) >= 0 &&
        dup2(nothing, STDERR_FILENO) >= 0 && setenv("FRAGLAB_TRACE", path, 1) == 0) {
        if (nothing > STDERR_FILENO)
            close(nothing);
        execl("/bin/sh", "sh", "-c", command, "sh", path, (char *)NULL);
    }
    _exit(127);
}

static fl_status wait_for(pid_t child, const char *what, int *ret_exit, fl_error *error)
{
    int state;
    if (child < 0)
        return fl_fail(error, FL_ERR_RESOURCE, "%s could not be started: %s", what,
                       strerror(errno));
    while (waitpid(child, &state, 0) < 0) {
        if (errno != EINTR)
            return fl_fail(error, FL_ERR_RESOURCE, "%s could not be waited for: %s", what,
                           strerror(errno));
    }
    *ret_exit = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
    return FL_OK;
}

fl_status fl_shell_ask(const char *command, const char *path, int *ret_exit, fl_error *error)
{
    pid_t child = fork();
    if (child == 0)
        become_shell(command, path);
    return wait_for(child, "a shell", ret_exit, error);
}

/* In the child: never returns.  execvp changes none of the words, but its type does not say so. */
static void become_program(const char *const *words)
{
    union {
        const char *const *ours;
        char *const *theirs;
    } list = {.ours = words};
    int nothing = open("/dev/null", O_RDWR);
    if (nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 && dup2(nothing, STDOUT_FILENO) >= 0)
        execvp(words[0], list.theirs);
    _exit(errno == ENOENT ? FL_SHELL_NOT_FOUND : 126);
}

fl_status fl_shell_run(const char *const *words, int *ret_exit, fl_error *error)
{
    pid_t child = fork();
    if (child == 0)
        become_program(words);
    return wait_for(child, words[0], ret_exit, error);
}
