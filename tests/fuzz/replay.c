/* replay FOLDER TARGET...: every file of FOLDER/TARGET through its fuzz target, without a fuzzer.
 *
 * What once broke a promise stays in the corpus, so this is the regression test.  A target without
 * files fails: a new reader brings some. */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int replay_file(const char *target, const char *path)
{
    FILE *file = fopen(path, "rb");
    static uint8_t bytes[1 << 20];
    size_t size = file != NULL ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file == NULL || size == sizeof bytes) {
        fprintf(stderr, "replay: %s: cannot be read, or is too large\n", path);
        return 1;
    }
    fclose(file);
    /* A copy of its own lets the address sanitizer see a read beyond the end. */
    uint8_t *copy = malloc(size + 1);
    memcpy(copy, bytes, size);
    fuzz_one(target, copy, size);
    free(copy);
    return 0;
}

static int replay_target(const char *folder, const char *target)
{
    char path[1024];
    struct dirent **entries;
    size_t files = 0;
    int result = 0;
    snprintf(path, sizeof path, "%s/%s", folder, target);
    int count = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] != '.') {
            snprintf(path, sizeof path, "%s/%s/%s", folder, target, entries[i]->d_name);
            result |= replay_file(target, path);
            files++;
        }
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    printf("%s: %zu files\n", target, files);
    if (files == 0)
        fprintf(stderr, "replay: no files in %s/%s\n", folder, target);
    return files > 0 ? result : 1;
}

int main(int argc, char **argv)
{
    int result = argc < 3;
    for (int i = 2; i < argc; i++)
        result |= replay_target(argv[1], argv[i]);
    return result;
}
