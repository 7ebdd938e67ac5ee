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

fl_status fl_shell_ask(const char *command, const char *path, int *ret_exit, fl_error *error)
{
    int state;
    pid_t child = fork();
    if (child == 0)
        become_shell(command, path);
    if (child < 0)
        return fl_fail(error, FL_ERR_RESOURCE, "a shell could not be started: %s", strerror(errno));
    while (waitpid(child, &state, 0) < 0) {
        if (errno != EINTR)
            return fl_fail(error, FL_ERR_RESOURCE, "a shell could not be waited for: %s",
                           strerror(errno));
    }
    *ret_exit = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
    return FL_OK;
}
