#include "reader/input.h"

#include "assemble.h"
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* A file of `size` bytes in the folder of temporary files; to be removed by the caller. */
static void write_file(char *path, size_t size)
{
    int file = mkstemp(path);
    assert_true(file >= 0);
    uint8_t *bytes = malloc(size + 1);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(i * 7 + (i >> 8));
    assert_int_equal(write(file, bytes, size), size);
    free(bytes);
    close(file);
}

/* Takes all content in steps of `step` and checks it against write_file's. */
static void content_is(fl_input *input, size_t size, size_t step)
{
    size_t at = 0;
    for (;;) {
        assert_int_equal(fl_input_fill(input, step, NULL), FL_OK);
        size_t here = (size_t)(input->end - input->at);
        assert_int_equal(fl_input_offset(input), at);
        assert_true(here >= step || input->is_last);
        if (here == 0)
            break;
        for (size_t i = 0; i < here && i < step; i++, at++)
            assert_int_equal(*input->at++, (uint8_t)(at * 7 + (at >> 8)));
    }
    assert_int_equal(at, size);
}

static fl_read_options options_with_host(void)
{
    return (fl_read_options){.host = fl_host_default()};
}

static void a_file_is_read_to_its_end_in_any_steps(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 4096, 70000};
    fl_read_options options = options_with_host();
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        char path[] = "/tmp/fraglab-input-XXXXXX";
        write_file(path, sizes[i]);
        fl_input input;
        assert_int_equal(fl_input_open_file(&input, path, &options, NULL), FL_OK);
        content_is(&input, sizes[i], 1 + i * 1000);
        fl_input_close(&input);
        unlink(path);
    }
}

static void standard_input_is_a_dash(void **state)
{
    (void)state;
    char path[] = "/tmp/fraglab-input-XXXXXX";
    write_file(path, 5000);
    int before = dup(STDIN_FILENO);
    assert_non_null(freopen(path, "rb", stdin));
    fl_read_options options = options_with_host();
    fl_input input;
    assert_int_equal(fl_input_open_file(&input, "-", &options, NULL), FL_OK);
    assert_string_equal(input.name, "standard input");
    content_is(&input, 5000, 100);
    fl_input_close(&input);
    assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0);
    if (before >= 0) {
        dup2(before, STDIN_FILENO);
        close(before);
    }
    unlink(path);
}

static void files_that_cannot_be_read_are_named(void **state)
{
    (void)state;
    fl_read_options options = options_with_host();
    fl_input input;
    fl_error error = {0};
    assert_int_equal(fl_input_open_file(&input, "no/such", &options, &error), FL_ERR_INPUT);
    assert_string_equal(error.text, "no/such: cannot be opened: No such file or directory");
    error = (fl_error){0};
    assert_int_equal(fl_input_open_file(&input, "tests", &options, &error), FL_ERR_INPUT);
    assert_string_equal(error.text, "tests: cannot be read: Is a directory");
}

static void without_a_free_file_handle_the_host_is_to_blame(void **state)
{
    (void)state;
    fl_read_options options = options_with_host();
    fl_input input;
    fl_error error = {0};
    struct rlimit old;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    struct rlimit none = {0, old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    fl_status status = fl_input_open_file(&input, "tests/data/README.md", &options, &error);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_int_equal(status, FL_ERR_RESOURCE);
}

static void memory_is_read_in_place(void **state)
{
    (void)state;
    static const char text[] = "plain text";
    fl_read_options options = options_with_host();
    fl_input input;
    assert_int_equal(fl_input_open_memory(&input, text, 10, "m", &options, NULL), FL_OK);
    assert_ptr_equal(input.at, text);
    assert_true(input.is_last);
    assert_int_equal(fl_input_fill(&input, 100, NULL), FL_OK);
    assert_int_equal(input.end - input.at, 10);
    fl_input_close(&input);
}

typedef struct progress_log {
    int calls;
    uint64_t done, total;
    int stop_at;
} progress_log;

static bool progress_note(void *user, uint64_t done, uint64_t total)
{
    progress_log *log = user;
    assert_true(done >= log->done);
    log->done = done;
    log->total = total;
    return ++log->calls != log->stop_at;
}

static void progress_is_told_and_may_stop_the_reading(void **state)
{
    (void)state;
    char path[] = "/tmp/fraglab-input-XXXXXX";
    write_file(path, 600000);
    progress_log log = {0};
    fl_read_options options = options_with_host();
    options.progress = progress_note;
    options.user = &log;
    fl_input input;
    assert_int_equal(fl_input_open_file(&input, path, &options, NULL), FL_OK);
    content_is(&input, 600000, 1000);
    fl_input_close(&input);
    assert_true(log.calls >= 3);
    assert_int_equal(log.done, 600000);
    assert_int_equal(log.total, 600000);

    log = (progress_log){.stop_at = 2};
    fl_error error = {0};
    assert_int_equal(fl_input_open_file(&input, path, &options, &error), FL_OK);
    fl_status status = FL_OK;
    while (status == FL_OK && !input.is_last) {
        input.at = input.end;
        status = fl_input_fill(&input, 1, &error);
    }
    assert_int_equal(status, FL_ERR_NO);
    fl_input_close(&input);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_read_to_its_end_in_any_steps),
        cmocka_unit_test(standard_input_is_a_dash),
        cmocka_unit_test(files_that_cannot_be_read_are_named),
        cmocka_unit_test(without_a_free_file_handle_the_host_is_to_blame),
        cmocka_unit_test(memory_is_read_in_place),
        cmocka_unit_test(progress_is_told_and_may_stop_the_reading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
