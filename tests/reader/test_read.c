#include "available.h"
#include "reader/reader.h"
#include "registry.h"

#include "assemble.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FL_PLUGIN(name) extern const fl_reader_ops fl_reader_##name;
FL_READER_ROWS
#undef FL_PLUGIN

#define FL_PLUGIN(name) &fl_reader_##name,
static const fl_reader_ops *const readers[] = {FL_READER_ROWS};
#undef FL_PLUGIN

/* The hint at the formats there are, in the order of the table. */
static const char *known_formats(void)
{
    static char hint[256];
    size_t used = (size_t)snprintf(hint, sizeof hint, "this build reads ");
    for (size_t i = 0; i < COUNT_OF(readers); i++)
        used += (size_t)snprintf(hint + used, sizeof hint - used, "%s%s", i > 0 ? ", " : "",
                                 readers[i]->name);
    return hint;
}

static fl_status read_text(const char *text, size_t size, const char *format, fl_error *error)
{
    fl_trace *trace = NULL;
    fl_read_options options = {.format = format};
    *error = (fl_error){0};
    fl_status status = fl_read_memory(text, size, "p", &options, &trace, error);
    assert_int_equal(trace != NULL, status == FL_OK);
    fl_trace_free(trace);
    return status;
}

static void readers_are_listed(void **state)
{
    (void)state;
    const char *name, *summary;
    for (size_t i = 0; i < COUNT_OF(readers); i++) {
        assert_true(fl_reader_at(i, &name, &summary));
        assert_string_equal(name, readers[i]->name);
        assert_string_not_equal(summary, "");
    }
    assert_false(fl_reader_at(COUNT_OF(readers), &name, &summary));
}

/* How many readers take a file that begins so. */
static int takers(const void *head, size_t size)
{
    int count = 0;
    for (size_t i = 0; i < COUNT_OF(readers); i++)
        count += readers[i]->probe(head, size);
    return count;
}

static void no_two_readers_take_the_same_file(void **state)
{
    (void)state;
    for (unsigned first = 0; first < 256; first++) {
        uint8_t head[3] = {(uint8_t)first, 0, ' '};
        assert_true(takers(head, 1) <= 1);
        for (unsigned second = 0; second < 256; second++) {
            head[1] = (uint8_t)second;
            assert_true(takers(head, 2) <= 1);
            assert_true(takers(head, 3) <= 1);
        }
    }
}

/* Longer beginnings: of scripts, with and without a first line of settings, and of pickles of each
 * protocol. */
static void no_two_readers_take_the_same_beginning_of_a_genuine_file(void **state)
{
    (void)state;
    static const char *const paths[] = {
        "tests/data/conformance/scripts/mixed-1.txt", "traces/pinned.txt",
        "tests/data/snapshots/rs_basic.pickle",       "tests/data/snapshots/cpp.pickle",
        "tests/data/snapshots/fmt.proto0.pickle",     "tests/data/snapshots/fmt.proto2.pickle",
        "tests/data/snapshots/fmt.proto5.pickle",     "tests/data/snapshots/list.pickle",
    };
    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        uint8_t head[FL_PROBE_SIZE];
        FILE *file = fopen(paths[i], "rb");
        assert_non_null(file);
        size_t size = fread(head, 1, sizeof head, file);
        fclose(file);
        for (size_t length = 1; length < size; length++)
            assert_true(takers(head, length) <= 1);
        assert_int_equal(takers(head, size), 1);
    }
}

static void beginnings_of_scripts_are_taken_once(void **state)
{
    (void)state;
    static const char *const heads[] = {
        "# cap=1GiB\n",
        "# a comment\n",
        "#\n#\n",
        "\n\na 1 2\n",
        "a 1 512 0 t=3\n",
        "# {\n",
        "C expandable_segments:True\n",
        "m (text)\n",
    };
    for (size_t i = 0; i < COUNT_OF(heads); i++)
        assert_int_equal(takers(heads[i], strlen(heads[i])), 1);
}

static void genuine_files_are_taken_by_their_reader(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        fl_format format;
    } files[] = {
        {"tests/data/conformance/scripts/mixed-1.txt", FL_FORMAT_SCRIPT},
        {"tests/data/snapshots/rs_basic.pickle", FL_FORMAT_SNAPSHOT},
        {"tests/data/snapshots/cpp.pickle", FL_FORMAT_SNAPSHOT},
        {"tests/data/snapshots/fmt.proto0.pickle", FL_FORMAT_SNAPSHOT},
        {"tests/data/snapshots/rs_basic.json", FL_FORMAT_SNAPSHOT},
        {"tests/data/snapshots/fmt.torchsave.pt", FL_FORMAT_SNAPSHOT},
        {"tests/data/snapshots/rs_basic.trace_plot.html", FL_FORMAT_SNAPSHOT},
#if FL_HAVE_ZLIB
        {"tests/data/snapshots/fmt.pickle.gz", FL_FORMAT_SNAPSHOT},
#endif
    };
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        fl_trace *trace = NULL;
        fl_error error = {0};
        if (fl_read_file(files[i].path, NULL, &trace, &error) != FL_OK)
            fail_msg("%s", error.text);
        assert_int_equal(fl_trace_format(trace), files[i].format);
        assert_string_equal(fl_trace_format_name(trace),
                            files[i].format == FL_FORMAT_SCRIPT ? "script" : "snapshot");
        assert_string_equal(fl_trace_path(trace), files[i].path);
        fl_trace_free(trace);
    }
}

static void what_nobody_knows_is_refused(void **state)
{
    (void)state;
    fl_error error;
    assert_int_equal(read_text("", 0, NULL, &error), FL_ERR_INPUT);
    assert_string_equal(error.text, "p:0: the file is empty");
    assert_int_equal(read_text(NULL, 0, NULL, &error), FL_ERR_INPUT);
    assert_string_equal(error.text, "p:0: the file is empty");
    assert_int_equal(read_text("hello", 5, NULL, &error), FL_ERR_INPUT);
    assert_string_equal(error.text, "p:0: expected a trace in a known format");
    assert_int_equal(read_text("\x1F", 1, NULL, &error), FL_ERR_INPUT);
    assert_int_equal(read_text("ab", 2, NULL, &error), FL_ERR_INPUT);
}

static void a_format_may_be_named(void **state)
{
    (void)state;
    fl_error error;
    assert_int_equal(read_text("\n", 1, "script", &error), FL_OK);
    assert_int_equal(read_text("a 1 2\n", 6, "snapshot", &error), FL_ERR_INPUT);
    assert_int_equal(read_text("a 1 2\n", 6, "scripts", &error), FL_ERR_USAGE);
    assert_string_equal(error.text, "no format 'scripts'");
    assert_string_equal(error.hint, known_formats());
}

/* Reads a file with a byte order mark in front of it. */
static fl_status read_marked(const char *path, const char *format, const char **ret_name,
                             fl_error *error)
{
    size_t size;
    uint8_t *bytes = file_bytes(path, &size);
    char *marked = malloc(size + 3);
    memcpy(marked, "\xEF\xBB\xBF", 3);
    memcpy(marked + 3, bytes, size);
    fl_trace *trace = NULL;
    fl_read_options options = {.format = format};
    fl_status status = fl_read_memory(marked, size + 3, "p", &options, &trace, error);
    *ret_name = status == FL_OK ? fl_trace_format_name(trace) : "";
    fl_trace_free(trace);
    free(marked);
    free(bytes);
    return status;
}

static void a_byte_order_mark_is_passed_over(void **state)
{
    (void)state;
    static const char *const files[][2] = {
        {"tests/data/conformance/scripts/mixed-1.txt", "script"},
        {"tests/data/snapshots/rs_basic.json", "snapshot"},
        {"tests/data/snapshots/rs_basic.trace_plot.html", "snapshot"},
    };
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        fl_error error = {0};
        const char *name;
        if (read_marked(files[i][0], NULL, &name, &error) != FL_OK)
            fail_msg("%s", error.text);
        assert_string_equal(name, files[i][1]);
        assert_int_equal(read_marked(files[i][0], files[i][1], &name, &error), FL_OK);
    }
    fl_error error;
    assert_int_equal(read_text("\xEF\xBB\xBF", 3, NULL, &error), FL_ERR_INPUT);
    assert_string_equal(error.text, "p:0: the file is empty");
    assert_int_equal(read_text("\xEF\xBB\xBF[x]", 6, NULL, &error), FL_ERR_INPUT);
    assert_string_equal(error.text, "p:4: expected a value");
    assert_int_equal(read_text("\xEF\xBB"
                               "a 1 2\n",
                               8, NULL, &error),
                     FL_ERR_INPUT);
    assert_string_equal(error.text, "p:0: expected a trace in a known format");
}

static void an_error_need_not_be_taken(void **state)
{
    (void)state;
    fl_trace *trace = NULL;
    assert_int_equal(fl_read_memory("a 1", 3, "p", NULL, &trace, NULL), FL_ERR_INPUT);
    assert_int_equal(fl_read_file("no/such/file", NULL, &trace, NULL), FL_ERR_INPUT);
    assert_null(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_are_listed),
        cmocka_unit_test(no_two_readers_take_the_same_file),
        cmocka_unit_test(no_two_readers_take_the_same_beginning_of_a_genuine_file),
        cmocka_unit_test(beginnings_of_scripts_are_taken_once),
        cmocka_unit_test(genuine_files_are_taken_by_their_reader),
        cmocka_unit_test(what_nobody_knows_is_refused),
        cmocka_unit_test(a_format_may_be_named),
        cmocka_unit_test(a_byte_order_mark_is_passed_over),
        cmocka_unit_test(an_error_need_not_be_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
