/* Every kind of row, and every way to type it wrong. */
#include "cli/option.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

static const fl_option_group *const groups[] = {&fl_options_replay, &fl_options_allocator,
                                                &fl_options_input, &fl_options_common, NULL};

#define WORDS_MOST 12

/* Parses `line`, its words separated by single blanks, as typed after the command. */
static fl_status parse(const char *line, fl_options *options, fl_error *error)
{
    static char text[400];
    static char *argv[WORDS_MOST + 1];
    int argc = 0;
    snprintf(text, sizeof text, "replay %s", line);
    for (char *word = text; word != NULL && argc < WORDS_MOST;) {
        char *blank = strchr(word, ' ');
        argv[argc++] = word;
        word = blank != NULL ? blank + 1 : NULL;
        if (blank != NULL)
            *blank = '\0';
    }
    argv[argc] = NULL;
    *error = (fl_error){0};
    return fl_option_parse(groups, argc, argv, options, error);
}

static void every_kind_of_option_sets_its_field(void **state)
{
    (void)state;
    fl_options options;
    fl_error error;
    assert_int_equal(parse("--torch 2.9 --fraction=.5 a.txt --context 1MiB --trace-device 3 "
                           "--on-oom skip -q",
                           &options, &error),
                     FL_OK);
    assert_string_equal(options.torch, "2.9");
    assert_true(options.fraction == 0.5);
    assert_int_equal(options.context_bytes, 1 << 20);
    assert_int_equal(options.trace_device, 3);
    assert_string_equal(options.on_oom, "skip");
    assert_true(options.is_quiet);
    assert_int_equal(options.word_count, 1);
    assert_string_equal(options.words[0], "a.txt");
}

static void what_is_not_given_has_its_default(void **state)
{
    (void)state;
    fl_options options;
    fl_error error;
    assert_int_equal(parse("a.txt", &options, &error), FL_OK);
    assert_string_equal(options.format, "text");
    assert_string_equal(options.color, "auto");
    assert_string_equal(options.backing, "sim");
    assert_null(options.torch);
    assert_true(options.fraction < 0);
    assert_true(options.trace_device == FL_NOT_GIVEN);
    assert_int_equal(options.top, 10);
}

static void two_dashes_end_the_options(void **state)
{
    (void)state;
    fl_options options;
    fl_error error;
    assert_int_equal(parse("-- --quiet", &options, &error), FL_OK);
    assert_false(options.is_quiet);
    assert_string_equal(options.words[0], "--quiet");
}

static void a_beginning_that_fits_one_option_is_enough(void **state)
{
    (void)state;
    fl_options options;
    fl_error error;
    assert_int_equal(parse("--trace 2 a.txt", &options, &error), FL_OK);
    assert_int_equal(options.trace_device, 2);
}

static void what_is_typed_wrong_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *line, *text, *hint;
    } rows[] = {
        {"--gup 1", "unknown option '--gup'", "did you mean '--gpu'?"},
        {"--gup=1", "unknown option '--gup'", "did you mean '--gpu'?"},
        {"--xyzzy", "unknown option '--xyzzy'", ""},
        {"--fr 1", "ambiguous option '--fr'", "--fraction, --from"},
        {"-z", "unknown option '-z'", ""},
        {"--gpu", "option '--gpu' needs SIZE", ""},
        {"-o", "option '--output' needs FILE", ""},
        {"--quiet=1", "option '--quiet' takes no argument", ""},
        {"--format yaml", "option '--format' expects text|json|csv, got 'yaml'", ""},
        {"--on-oom skipp", "option '--on-oom' expects stop|skip, got 'skipp'",
         "did you mean 'skip'?"},
        {"--trace-device x", "option '--trace-device' expects a whole number, got 'x'", ""},
        {"--trace-device -1", "option '--trace-device' expects a whole number, got '-1'", ""},
        {"--trace-device 1K", "option '--trace-device' expects a whole number, got '1K'", ""},
        {"--trace-device 99999999999999999999",
         "option '--trace-device' expects a whole number, got '99999999999999999999'", ""},
        {"--jobs 0", "option '--jobs' expects a whole number above 0, got '0'", ""},
        {"--context 1QB", "option '--context' expects a size such as 512MiB, got '1QB'", ""},
        {"--fraction 1.5", "option '--fraction' expects a number from 0 to 1, got '1.5'", ""},
        {"--fraction nan", "option '--fraction' expects a number from 0 to 1, got 'nan'", ""},
        {"--fraction=", "option '--fraction' expects a number from 0 to 1, got ''", ""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        fl_options options;
        fl_error error;
        assert_int_equal(parse(rows[i].line, &options, &error), FL_ERR_USAGE);
        assert_string_equal(error.text, rows[i].text);
        assert_string_equal(error.hint, rows[i].hint);
    }
}

static void every_row_is_whole(void **state)
{
    (void)state;
    const fl_option_group *all[] = {&fl_options_common, &fl_options_input,  &fl_options_allocator,
                                    &fl_options_info,   &fl_options_replay, &fl_options_verify};
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        for (const fl_option *row = all[i]->rows; row->name != NULL; row++) {
            assert_true(row->offset < sizeof(fl_options));
            assert_int_equal(row->argument == NULL, row->kind == FL_OPTION_FLAG);
            assert_int_equal(row->words != NULL, row->kind == FL_OPTION_WORD);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_option_sets_its_field),
        cmocka_unit_test(what_is_not_given_has_its_default),
        cmocka_unit_test(two_dashes_end_the_options),
        cmocka_unit_test(a_beginning_that_fits_one_option_is_enough),
        cmocka_unit_test(what_is_typed_wrong_is_named),
        cmocka_unit_test(every_row_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
