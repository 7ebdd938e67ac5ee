#include "render/figures.h"

#include "test.h"

#include <stdio.h>
#include <string.h>

/* The program's text of a script is that of the file. */
static void assert_is_file(const char *name, const char *text)
{
    static char content[8192];
    char path[64];
    snprintf(path, sizeof path, "plots/%s.gp", name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    content[fread(content, 1, sizeof content - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(text, content);
}

static void figures_are_the_scripts_of_the_tree_in_order_of_name(void **state)
{
    (void)state;
    assert_is_file("style", fl_figure_style());
    size_t count = 0;
    for (; fl_figure_at(count) != NULL; count++) {
        assert_is_file(fl_figure_at(count)->name, fl_figure_at(count)->script);
        assert_true(count == 0 ||
                    strcmp(fl_figure_at(count - 1)->name, fl_figure_at(count)->name) < 0);
    }
    assert_true(count >= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_the_scripts_of_the_tree_in_order_of_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
