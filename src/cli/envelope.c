#include "cli/envelope.h"

void fl_envelope_begin(fl_session *session)
{
    fl_emit *emit = session->emit;
    const fl_options *options = &session->options;
    fl_emit_for(emit, FL_EMIT_FOR_PROGRAMS);
    char schema[40];
    snprintf(schema, sizeof schema, "fraglab.%s", session->command->name);
    fl_emit_pair(emit, "schema", NULL, fl_emit_text(schema));
    fl_emit_pair(emit, "schema_version", NULL, fl_emit_count(FL_SCHEMA_VERSION));
    fl_emit_pair(emit, "fraglab_version", NULL, fl_emit_text(fl_version()));
    fl_emit_object_begin(emit, "config", NULL);
    fl_emit_pair(emit, "command", NULL, fl_emit_text(session->command->name));
    fl_emit_pair(emit, session->command->word_key, NULL, fl_emit_text(options->words[0]));
}

void fl_envelope_end(fl_session *session)
{
    fl_emit *emit = session->emit;
    fl_emit_object_end(emit);
    fl_emit_list_begin(emit, "warnings", NULL);
    for (size_t i = 0; i < session->warnings.count; i++)
        fl_emit_item(emit, fl_emit_text(session->warnings.items[i]));
    fl_emit_list_end(emit);
    fl_emit_for(emit, FL_EMIT_FOR_ALL);
}
