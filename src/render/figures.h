/* Figures: the gnuplot scripts of plots/, as they are in this build.
 *
 * A figure is one script that reads tables of observers (docs/observers.md) by the names of their
 * columns, and a word in src/render/meson.build. */
#ifndef FL_RENDER_FIGURES_H
#define FL_RENDER_FIGURES_H

#include <stddef.h>

typedef struct fl_figure_script {
    const char *name;   /* of the script, without `.gp`, and of the image */
    const char *script; /* its text */
} fl_figure_script;

/* In order of name; NULL beyond the last. */
const fl_figure_script *fl_figure_at(size_t index);

/* What all of them load: `style.gp`. */
const char *fl_figure_style(void);

#endif
