#include "render/figures.h"

#include "render/scripts.h"

static const fl_figure_script figures[] = {FL_FIGURE_ROWS};

const fl_figure_script *fl_figure_at(size_t index)
{
    return index < sizeof figures / sizeof *figures ? &figures[index] : NULL;
}

const char *fl_figure_style(void)
{
    return FL_FIGURE_STYLE;
}
