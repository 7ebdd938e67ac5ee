/* A result file appears whole or not at all: on success, on failure, and when a signal ends us. */
#include "cli/output.h"
#include "test.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A folder of its own for each test, entered. */
static int enter_folder(void **state)
{
    static char folder[64];
    snprintf(folder, sizeof folder, "/tmp/fraglab-output-XXXXXX");
    *state = folder;
    return mkdtemp(folder) == NULL || chdir(folder) != 0;
}

static size_t count_files(void)
{
    size_t count = 0;
    DIR *folder = opendir(".");
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder))
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

static int leave_folder(void **state)
{
    unlink("result");
    unlink("link");
    return chdir("/") != 0 || rmdir(*state) != 0;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
}

static void assert_holds(const char *path, const char *expected)
{
    char text[100] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    assert_string_equal(text, expected);
}

static void write_result(fl_output *output)
{
    assert_int_equal(fl_output_open(output, "result", NULL), FL_OK);
    assert_true(fl_output_write(output, "new\n", 4));
}

static void a_committed_result_replaces_the_older_one(void **state)
{
    (void)state;
    fl_output output;
    write_file("result", "old\n");
    chmod("result", 0640);
    write_result(&output);
    assert_holds("result", "old\n");
    assert_int_equal(fl_output_commit(&output, NULL), FL_OK);
    assert_holds("result", "new\n");
    assert_int_equal(count_files(), 1);
    struct stat status;
    assert_int_equal(stat("result", &status), 0);
    assert_int_equal(status.st_mode & 07777, 0640);
}

static void a_discarded_result_leaves_the_older_one(void **state)
{
    (void)state;
    fl_output output;
    write_file("result", "old\n");
    write_result(&output);
    fl_output_discard(&output);
    assert_holds("result", "old\n");
    assert_int_equal(count_files(), 1);
}

static void a_discarded_result_leaves_nothing_where_nothing_was(void **state)
{
    (void)state;
    fl_output output;
    write_result(&output);
    fl_output_discard(&output);
    assert_int_equal(count_files(), 0);
}

static void a_link_stays_a_link_to_the_new_result(void **state)
{
    (void)state;
    fl_output output;
    write_file("result", "old\n");
    assert_int_equal(symlink("result", "link"), 0);
    assert_int_equal(fl_output_open(&output, "link", NULL), FL_OK);
    fl_output_write(&output, "new\n", 4);
    assert_int_equal(fl_output_commit(&output, NULL), FL_OK);
    assert_holds("result", "new\n");
    struct stat status;
    assert_int_equal(lstat("link", &status), 0);
    assert_true(S_ISLNK(status.st_mode));
}

static void a_device_is_written_directly_and_told_when_full(void **state)
{
    (void)state;
    fl_output output;
    fl_error error = {0};
    assert_int_equal(fl_output_open(&output, "/dev/full", NULL), FL_OK);
    fl_output_write(&output, "new\n", 4);
    assert_int_equal(fl_output_commit(&output, &error), FL_ERR_OUTPUT);
    assert_string_equal(error.text, "/dev/full: cannot be written: No space left on device");
}

static void a_place_that_is_not_there_is_told_at_once(void **state)
{
    (void)state;
    fl_output output;
    fl_error error = {0};
    assert_int_equal(fl_output_open(&output, "no/result", &error), FL_ERR_OUTPUT);
    assert_string_equal(error.text, "no/result: cannot be created: No such file or directory");
}

/* A child that is ended by a signal in the middle of writing; returns that signal. */
static int end_by(int number, bool is_ignored)
{
    pid_t child = fork();
    if (child == 0) {
        fl_output output;
        signal(number, is_ignored ? SIG_IGN : SIG_DFL);
        fl_output_catch_signals();
        if (fl_output_open(&output, "result", NULL) != FL_OK)
            _exit(1);
        fl_output_write(&output, "new\n", 4);
        raise(number);
        _exit(fl_output_commit(&output, NULL) == FL_OK ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void a_signal_leaves_the_older_result_and_ends_us_as_ever(void **state)
{
    (void)state;
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    write_file("result", "old\n");
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        assert_int_equal(end_by(numbers[i], false), numbers[i]);
        assert_holds("result", "old\n");
        assert_int_equal(count_files(), 1);
    }
}

static int write_beyond_the_limit(void)
{
    pid_t child = fork();
    if (child == 0) {
        fl_output output;
        fl_error error = {0};
        struct rlimit limit = {4096, 4096};
        static char much[65536];
        fl_output_catch_signals();
        if (fl_output_open(&output, "result", NULL) != FL_OK ||
            setrlimit(RLIMIT_FSIZE, &limit) != 0)
            _exit(99);
        fl_output_write(&output, much, sizeof much);
        _exit(fl_output_commit(&output, &error));
    }
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void a_limit_on_file_sizes_is_a_failure_to_write(void **state)
{
    (void)state;
    write_file("result", "old\n");
    assert_int_equal(write_beyond_the_limit(), FL_ERR_OUTPUT);
    assert_holds("result", "old\n");
    assert_int_equal(count_files(), 1);
}

static void a_signal_that_is_ignored_stays_ignored(void **state)
{
    (void)state;
    assert_int_equal(end_by(SIGHUP, true), 0);
    assert_holds("result", "new\n");
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_committed_result_replaces_the_older_one),
        IN_FOLDER(a_discarded_result_leaves_the_older_one),
        IN_FOLDER(a_discarded_result_leaves_nothing_where_nothing_was),
        IN_FOLDER(a_link_stays_a_link_to_the_new_result),
        IN_FOLDER(a_device_is_written_directly_and_told_when_full),
        IN_FOLDER(a_place_that_is_not_there_is_told_at_once),
        IN_FOLDER(a_signal_leaves_the_older_result_and_ends_us_as_ever),
        IN_FOLDER(a_limit_on_file_sizes_is_a_failure_to_write),
        IN_FOLDER(a_signal_that_is_ignored_stays_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
