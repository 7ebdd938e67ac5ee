/* fraglab COMMAND [options] [FILE]: finds the command and runs it. */
#include "cli/session.h"

#include <fraglab/suggest.h>

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COMMANDS_MOST 40

static void print_usage(FILE *out)
{
    fputs("usage: fraglab COMMAND [options] [FILE]\n"
          "\n"
          "Re-runs PyTorch's CUDA caching allocator over a recorded memory trace.\n"
          "\n"
          "Commands:\n",
          out);
    const fl_command *command;
    for (size_t i = 0; (command = fl_command_at(i)) != NULL; i++)
        fprintf(out, "  %-10s%s\n", command->name, command->summary);
    fputs("\n"
          "`fraglab COMMAND --help` tells the options of a command, `fraglab --version` the\n"
          "version.  A FILE of `-` is standard input; .gz and .zst are read as they are.\n"
          "\n"
          "Exit status: 0 done, 1 done and the answer is no, 2 usage, 3 input unreadable or\n"
          "invalid, 4 feature or device not available, 5 output could not be written, 6 host\n"
          "resources exhausted, 128+n ended by signal n.\n",
          out);
}

static int complain(fl_error *error)
{
    fl_session_complain(error);
    return (int)error->status;
}

static const fl_command *find_command(const char *word)
{
    const fl_command *command;
    for (size_t i = 0; (command = fl_command_at(i)) != NULL; i++) {
        if (strcmp(command->name, word) == 0)
            return command;
    }
    return NULL;
}

/* What people type who have not read --help: a file, or an option of a command. */
static void hint_at_order(int argc, char **argv, fl_error *error)
{
    struct stat file;
    if (*argv[1] != '-') {
        if (stat(argv[1], &file) == 0 && S_ISREG(file.st_mode))
            fl_hint(error, "fraglab replay %s", argv[1]);
        return;
    }
    for (int i = 2; i < argc; i++) {
        const fl_command *command = find_command(argv[i]);
        if (command != NULL)
            fl_hint(error, "options come after the command: fraglab %s", command->synopsis);
    }
}

static int run_unknown(int argc, char **argv)
{
    const char *word = argv[1];
    const char *names[COMMANDS_MOST + 1] = {NULL};
    for (size_t i = 0; i < COMMANDS_MOST && fl_command_at(i) != NULL; i++)
        names[i] = fl_command_at(i)->name;
    fl_error error = {0};
    fl_fail(&error, FL_ERR_USAGE, "unknown %s '%s'", *word == '-' ? "option" : "command", word);
    hint_at_order(argc, argv, &error);
    fl_suggest(names, word, "", &error);
    fl_hint(&error, "fraglab --help");
    return complain(&error);
}

static int print_to_stdout(bool is_version)
{
    fl_error error = {0};
    fl_output output;
    fl_output_open(&output, NULL, &error);
    if (is_version)
        fprintf(output.file, "fraglab %s\n", fl_version());
    else
        print_usage(output.file);
    return fl_output_commit(&output, &error) == FL_OK ? 0 : complain(&error);
}

/* Without this a file of ours could take the number of a standard stream that was closed, and talk
 * would land in it. */
static void fill_standard_streams(void)
{
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
        if (fcntl(stream, F_GETFD) < 0)
            (void)!open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);
    }
}

/* `help`, and `help COMMAND`. */
static int run_help(int argc, char **argv)
{
    char option[] = "--help";
    if (argc < 3)
        return print_to_stdout(false);
    const fl_command *command = find_command(argv[2]);
    if (command == NULL)
        return run_unknown(argc - 1, argv + 1);
    char *words[] = {argv[2], option, NULL};
    return fl_session_run(command, 2, words);
}

int main(int argc, char **argv)
{
    fill_standard_streams();
    if (argc < 2) {
        print_usage(stderr);
        return FL_ERR_USAGE;
    }
    const char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return print_to_stdout(false);
    if (strcmp(word, "--version") == 0)
        return print_to_stdout(true);
    const fl_command *command = find_command(word);
    if (command != NULL)
        return fl_session_run(command, argc - 1, argv + 1);
    return strcmp(word, "help") == 0 ? run_help(argc, argv) : run_unknown(argc, argv);
}
