#include <fraglab/explain.h>

#include "failing_host.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MESSAGE                                                                                    \
    "CUDA out of memory. Tried to allocate 1.70 GiB. GPU 0 has a total capacity of 6.00 GiB of "   \
    "which 0 bytes is free. Of the allocated memory 2.93 GiB is allocated by PyTorch, and 2.30 "   \
    "GiB is reserved by PyTorch but unallocated.\n"

typedef struct found {
    uint64_t lines[64];
    size_t count;
    size_t most; /* then it fails */
} found;

static fl_status take(void *user, const fl_explanation *explanation, fl_error *error)
{
    found *f = user;
    if (f->count == f->most)
        return fl_fail(error, FL_ERR_OUTPUT, "enough");
    assert_true(explanation->message.figures[FL_FIGURE_REQUESTED].is_given);
    f->lines[f->count++ % COUNT_OF(f->lines)] = explanation->line;
    return FL_OK;
}

/* Feeds a text in pieces of `step` bytes. */
static fl_status explain_pieces(const char *text, size_t size, size_t step, found *f)
{
    fl_explain *explain = NULL;
    fl_status status = fl_explain_open(NULL, take, f, &explain, NULL);
    for (size_t at = 0; status == FL_OK && at < size; at += step)
        status = fl_explain_feed(explain, text + at, size - at < step ? size - at : step, NULL);
    if (status == FL_OK)
        status = fl_explain_finish(explain, NULL);
    fl_explain_close(explain);
    return status;
}

/* Lines of a log, then a message, and so on; the lines where messages are. */
static char *make_log(size_t messages, size_t between, size_t *ret_size)
{
    char *log = malloc(messages * (between * 90 + sizeof MESSAGE) + 1);
    size_t size = 0;
    for (size_t i = 0; i < messages; i++) {
        for (size_t k = 0; k < between; k++)
            size += (size_t)sprintf(log + size,
                                    "2024-05-01 12:13:14 INFO step %zu.%zu memory 12.5 "
                                    "GiB allocated, out of 80\n",
                                    i, k);
        size += (size_t)sprintf(log + size, "%s", MESSAGE);
    }
    *ret_size = size;
    return log;
}

static void pieces_of_any_size_give_the_same(void **state)
{
    (void)state;
    static const size_t steps[] = {1, 7, 4096, 262143, 262144, 262145, SIZE_MAX / 2};
    size_t size;
    char *log = make_log(5, 2000, &size);
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        found f = {.most = SIZE_MAX};
        assert_int_equal(explain_pieces(log, size, steps[i], &f), FL_OK);
        assert_int_equal(f.count, 5);
        for (size_t k = 0; k < f.count; k++)
            assert_int_equal(f.lines[k], (k + 1) * 2001);
    }
    free(log);
}

static void a_log_without_messages_gives_none(void **state)
{
    (void)state;
    size_t size;
    char *log = make_log(1, 10000, &size);
    found f = {.most = SIZE_MAX};
    assert_int_equal(explain_pieces(log, size - strlen(MESSAGE), 65536, &f), FL_OK);
    assert_int_equal(f.count, 0);
    free(log);
}

static void messages_stand_close_together(void **state)
{
    (void)state;
    found f = {.most = SIZE_MAX};
    const char *text = MESSAGE MESSAGE "torch.OutOfMemoryError: " MESSAGE;
    assert_int_equal(explain_pieces(text, strlen(text), 100, &f), FL_OK);
    assert_int_equal(f.count, 3);
    assert_int_equal(f.lines[2], 3);
}

static void what_only_says_so_again_is_part_of_the_message(void **state)
{
    (void)state;
    found f = {.most = SIZE_MAX};
    const char *text = MESSAGE "terminate called: cudaErrorMemoryAllocation\n";
    assert_int_equal(explain_pieces(text, strlen(text), 100, &f), FL_OK);
    assert_int_equal(f.count, 1);
}

static void wide_characters_are_read(void **state)
{
    (void)state;
    static const char text[] = "\xFE\xFFone\n" MESSAGE;
    for (int is_big = 0; is_big < 2; is_big++) {
        char wide[2 * sizeof text];
        size_t size = 0;
        for (size_t i = 0; text[i] != '\0'; i++) {
            if (i < 2) {
                wide[size++] = text[is_big ? i : 1 - i];
                continue;
            }
            wide[size++] = is_big ? '\0' : text[i];
            wide[size++] = is_big ? text[i] : '\0';
        }
        found f = {.most = SIZE_MAX};
        assert_int_equal(explain_pieces(wide, size, 3, &f), FL_OK);
        assert_int_equal(f.count, 1);
        assert_int_equal(f.lines[0], 2);
    }
}

static void texts_shorter_than_anything_are_texts(void **state)
{
    (void)state;
    static const char *const texts[] = {"",       "m",    "me",       "alloc",
                                        "memory", "\xFF", "\xFF\xFE", "\xFF\xFEm"};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        found f = {.most = SIZE_MAX};
        assert_int_equal(explain_pieces(texts[i], strlen(texts[i]), 1, &f), FL_OK);
        assert_int_equal(f.count, 0);
    }
}

static void a_sink_that_has_enough_ends_the_search(void **state)
{
    (void)state;
    size_t size;
    char *log = make_log(5, 10, &size);
    found f = {.most = 2};
    assert_int_equal(explain_pieces(log, size, 4096, &f), FL_ERR_OUTPUT);
    assert_int_equal(f.count, 2);
    free(log);
}

static fl_status explain_on(const fl_host *host, void *path, fl_error *error)
{
    found f = {.most = SIZE_MAX};
    fl_read_options options = {.host = host};
    fl_status status = fl_explain_file(path, &options, take, &f, error);
    if (status == FL_OK)
        assert_int_equal(f.count, 1);
    return status;
}

static void files_are_read_on_any_host(void **state)
{
    (void)state;
    char path[] = "/tmp/fraglab-explain-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    const char *text = "<html>\n" MESSAGE; /* not the page of a viewer */
    assert_int_equal(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
    assert_true(failing_host_sweep(explain_on, path) > 0);
    assert_int_equal(explain_on(NULL, path, NULL), FL_OK);
    unlink(path);
    assert_int_equal(explain_on(NULL, path, NULL), FL_ERR_INPUT);
}

static fl_status count_any(void *user, const fl_explanation *explanation, fl_error *error)
{
    (void)explanation;
    (void)error;
    ++*(size_t *)user;
    return FL_OK;
}

/* Noise made of what messages are made of: nothing is promised but an end. */
static void hostile_text_does_no_harm(void **state)
{
    (void)state;
    static const char *const parts[] = {"CUDA out of memory. ",
                                        "Tried to allocate ",
                                        "9",
                                        ".",
                                        ",",
                                        " GiB",
                                        "\n",
                                        "[",
                                        "]",
                                        "(",
                                        ")",
                                        "GPU 0 has a total capacity of ",
                                        "Process ",
                                        " has ",
                                        "\x1B[",
                                        "<",
                                        "&gt;",
                                        "\\n",
                                        "\xE2\x94",
                                        "std::bad_alloc: ",
                                        "alloc",
                                        "memory",
                                        "OOM when allocating tensor with shape",
                                        "99999999999",
                                        "PyTorch CUDA memory summary, device ID 0",
                                        " is free. ",
                                        "\0x",
                                        "Limit: ",
                                        "InUse: "};
    uint64_t seed = 99;
    char text[6000];
    for (int round = 0; round < 300; round++) {
        size_t size = 0;
        while (size < sizeof text - 64) {
            seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            const char *part = parts[(seed >> 33) % COUNT_OF(parts)];
            size_t length = *part == '\0' ? 2 : strlen(part);
            memcpy(text + size, part, length);
            size += length;
        }
        size_t count = 0;
        fl_explain *explain = NULL;
        assert_int_equal(fl_explain_open(NULL, count_any, &count, &explain, NULL), FL_OK);
        assert_int_equal(fl_explain_feed(explain, text, size, NULL), FL_OK);
        assert_int_equal(fl_explain_finish(explain, NULL), FL_OK);
        fl_explain_close(explain);
        assert_true(count < size / 16);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_of_any_size_give_the_same),
        cmocka_unit_test(a_log_without_messages_gives_none),
        cmocka_unit_test(messages_stand_close_together),
        cmocka_unit_test(what_only_says_so_again_is_part_of_the_message),
        cmocka_unit_test(wide_characters_are_read),
        cmocka_unit_test(texts_shorter_than_anything_are_texts),
        cmocka_unit_test(a_sink_that_has_enough_ends_the_search),
        cmocka_unit_test(files_are_read_on_any_host),
        cmocka_unit_test(hostile_text_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
