#include "reader/script_line.h"

#include "test.h"

#include <string.h>

static fl_piece piece_of(const char *text)
{
    return (fl_piece){text, strlen(text)};
}

static void piece_is(fl_piece piece, const char *expected)
{
    assert_int_equal(piece.length, strlen(expected));
    assert_memory_equal(piece.at, expected, piece.length);
}

static void words_are_taken_between_blanks(void **state)
{
    (void)state;
    fl_piece rest = piece_of(" \tone  two\r"), word;
    assert_true(fl_piece_word(&rest, &word));
    piece_is(word, "one");
    assert_true(fl_piece_word(&rest, &word));
    piece_is(word, "two");
    assert_false(fl_piece_word(&rest, &word));
    fl_piece blank = piece_of(" \t\r ");
    fl_piece_trim(&blank);
    piece_is(blank, "");
}

static void numbers_are_decimal_or_hexadecimal(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_number;
        uint64_t value;
    } cases[] = {
        {"0", true, 0},
        {"007", true, 7},
        {"18446744073709551615", true, UINT64_MAX},
        {"18446744073709551616", false, 0},
        {"0xFFFFFFFFFFFFFFFF", true, UINT64_MAX},
        {"0x10000000000000000", false, 0},
        {"0x7f0a", true, 0x7F0A},
        {"0x", false, 0},
        {"", false, 0},
        {"-1", false, 0},
        {"+1", false, 0},
        {"1 ", false, 0},
        {"ff", false, 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint64_t value = 0;
        assert_int_equal(fl_piece_number(piece_of(cases[i].text), &value), cases[i].is_number);
        assert_true(value == cases[i].value);
    }
}

static void a_line_is_read_without_what_went_before(void **state)
{
    (void)state;
    fl_script_line line;
    char why[100];
    assert_true(fl_script_parse(piece_of("b 3.4 use_on_oom=1 x=y dev=7"), &line, why, sizeof why));
    assert_int_equal(line.event.kind, FL_OP_SCOPE_BEGIN);
    assert_int_equal(line.event.flags, FL_OP_USE_ON_OOM);
    assert_int_equal(line.device, 7);
    assert_int_equal(line.pool.first, 3);
    assert_int_equal(line.pool.second, 4);
    assert_false(line.has_stream);
    fl_piece rest = line.parts, part;
    assert_true(fl_script_next_unknown(&line, &rest, &part));
    piece_is(part, "x=y");
    assert_false(fl_script_next_unknown(&line, &rest, &part));
}

static void keys_of_another_operation_are_unknown(void **state)
{
    (void)state;
    fl_script_line line;
    char why[100];
    assert_true(fl_script_parse(piece_of("q 3 capture=1"), &line, why, sizeof why));
    assert_int_equal(line.event.flags, 0);
    assert_true(line.has_unknown);
}

static void what_was_found_may_be_said_of_settings_and_limits_only(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint8_t flags;
        bool has_unknown;
    } cases[] = {
        {"C max_split_size_mb:32 inferred=1", FL_OP_INFERRED, false},
        {"C max_split_size_mb:32 inferred=0 t=5", 0, false},
        {"F 0.5 inferred=1", FL_OP_INFERRED, false},
        {"F 5GiB inferred=1", FL_OP_INFERRED | FL_OP_BYTES, false},
        {"e inferred=1", 0, true},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        fl_script_line line;
        char why[100];
        assert_true(fl_script_parse(piece_of(cases[i].text), &line, why, sizeof why));
        assert_int_equal(line.event.flags, cases[i].flags);
        assert_int_equal(line.has_unknown, cases[i].has_unknown);
        if (line.text.at != NULL)
            piece_is(line.text, "max_split_size_mb:32");
    }
}

static void unknown_parts_are_told_from_all_else(void **state)
{
    (void)state;
    static const struct {
        uint8_t kind;
        const char *parts;
        bool is_unknown;
    } cases[] = {
        {FL_OP_ALLOC, "odd=1 held=1", true}, {FL_OP_ALLOC, "", true},
        {FL_OP_ALLOC, "odd=1 at=5", false},  {FL_OP_FREE, "held=1", false},
        {FL_OP_FREE, "t=5", false},          {FL_OP_FREE, "odd", false},
        {FL_OP_FREE, "odd=1\nf=2", false},   {FL_OP_MARK, "odd=1", false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(fl_script_is_unknown(cases[i].kind, piece_of(cases[i].parts)),
                         cases[i].is_unknown);
}

static void a_complaint_fits_its_room(void **state)
{
    (void)state;
    fl_script_line line;
    char why[20];
    assert_false(fl_script_parse(piece_of("a nonsense that is long"), &line, why, sizeof why));
    assert_int_equal(strlen(why), sizeof why - 1);
}

static void letters_are_those_of_the_grammar(void **state)
{
    (void)state;
    const char *letters = "afrpceFbqxstzdComSB";
    for (int c = 0; c < 256; c++)
        assert_int_equal(fl_script_is_letter((char)c), c != 0 && strchr(letters, c) != NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_taken_between_blanks),
        cmocka_unit_test(numbers_are_decimal_or_hexadecimal),
        cmocka_unit_test(a_line_is_read_without_what_went_before),
        cmocka_unit_test(keys_of_another_operation_are_unknown),
        cmocka_unit_test(what_was_found_may_be_said_of_settings_and_limits_only),
        cmocka_unit_test(unknown_parts_are_told_from_all_else),
        cmocka_unit_test(a_complaint_fits_its_room),
        cmocka_unit_test(letters_are_those_of_the_grammar),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
