#include "base/mapping.h"

#include <sys/mman.h>
#include <sys/stat.h>

bool fl_mapping_open(int file, fl_mapping *ret_mapping)
{
    struct stat stat;
    if (fstat(file, &stat) != 0 || !S_ISREG(stat.st_mode) || stat.st_size <= 0 ||
        (uint64_t)stat.st_size > SIZE_MAX)
        return false;
    size_t size = (size_t)stat.st_size;
    void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    if (bytes == MAP_FAILED)
        return false;
    *ret_mapping = (fl_mapping){bytes, size};
    return true;
}

void fl_mapping_close(fl_mapping *mapping)
{
    if (mapping->bytes != NULL)
        munmap(mapping->bytes, mapping->size);
    *mapping = (fl_mapping){0};
}
