/* A libnvidia-ml.so.1 of the tests' own. It says what the file named by SLUICE_FAKE_NVML says, read at each call:
 *
 *   init CODE
 *   device uuid=GPU-0 name=NVIDIA_H100 total=.. util=.. used=.. power=.. temp=.. energy=.. clock=.. nvlink=0|1
 *
 * One line per device, in index order. err=CODE fails every call on the device, err.KEY=CODE one of them,
 * hang=1 never returns from a sample, hang=2 never from opening. An absent key is NOT_SUPPORTED.
 * Built with -DOLD_DRIVER it lacks what old drivers lack.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OK = 0, INVALID = 2, NOT_SUPPORTED = 3 };
#define WIDTH 1024

static int find_line(int index, char *line)
{
    FILE *file = fopen(getenv("SLUICE_FAKE_NVML"), "r");
    int seen = -1;
    if (!file)
        return -1;
    while (fgets(line, WIDTH, file)) {
        if (!strncmp(line, "device ", 7) && ++seen == index) {
            fclose(file);
            return index;
        }
    }
    fclose(file);
    return index < 0 ? seen + 1 : -1;
}

static int text(const char *line, const char *key, char *out, size_t size)
{
    char pattern[64];
    const char *at;
    size_t n = 0;
    snprintf(pattern, sizeof pattern, " %s=", key);
    at = strstr(line, pattern);
    if (!at)
        return 0;
    for (at += strlen(pattern); *at && *at != ' ' && *at != '\n' && n + 1 < size; at++)
        out[n++] = *at == '_' ? ' ' : *at;
    out[n] = 0;
    return 1;
}

static int number(void *handle, const char *key, unsigned long long *out)
{
    char line[WIDTH], value[64], error[64];
    if (find_line((int)(long)handle - 1, line) < 0)
        return INVALID;
    if (text(line, "hang", value, sizeof value) && value[0] == '1' && strcmp(key, "total"))
        for (;;)
            pause();
    snprintf(error, sizeof error, "err.%s", key);
    if (text(line, "err", value, sizeof value) || text(line, error, value, sizeof value))
        return atoi(value);
    if (!text(line, key, value, sizeof value))
        return NOT_SUPPORTED;
    *out = strtoull(value, NULL, 10);
    return OK;
}

static int small(void *handle, const char *key, unsigned *out)
{
    unsigned long long wide = 0;
    int code = number(handle, key, &wide);
    *out = (unsigned)wide;
    return code;
}

static int copy(void *handle, const char *key, char *out, unsigned size)
{
    char line[WIDTH];
    if (find_line((int)(long)handle - 1, line) < 0)
        return INVALID;
    return text(line, key, out, size) ? OK : NOT_SUPPORTED;
}

int nvmlInitWithFlags(unsigned flags)
{
    FILE *file = fopen(getenv("SLUICE_FAKE_NVML"), "r");
    int code = 9;
    (void)flags;
    if (file) {
        if (fscanf(file, "init %d", &code) != 1)
            code = 9;
        fclose(file);
    }
    return code;
}

int nvmlShutdown(void) { return OK; }
const char *nvmlErrorString(int code) { (void)code; return "an error"; }

int nvmlSystemGetDriverVersion(char *out, unsigned size) { snprintf(out, size, "550.54.15"); return OK; }

int nvmlDeviceGetCount_v2(unsigned *count)
{
    char line[WIDTH];
    int found = find_line(-1, line);
    *count = found < 0 ? 0 : (unsigned)found;
    return OK;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **handle)
{
    char line[WIDTH], value[8];
    if (find_line((int)index, line) < 0)
        return INVALID;
    if (text(line, "hang", value, sizeof value) && value[0] == '2')
        for (;;)
            pause();
    *handle = (void *)(long)(index + 1);
    return OK;
}

int nvmlDeviceGetUUID(void *h, char *out, unsigned size) { return copy(h, "uuid", out, size); }
int nvmlDeviceGetName(void *h, char *out, unsigned size) { return copy(h, "name", out, size); }

int nvmlDeviceGetMemoryInfo(void *h, unsigned long long *memory)
{
    int code = number(h, "total", &memory[0]);
    return code ? code : number(h, "used", &memory[2]);
}

#ifndef OLD_DRIVER
struct memory_v2 { unsigned version; unsigned long long total, reserved, free, used; };
int nvmlDeviceGetMemoryInfo_v2(void *h, struct memory_v2 *memory)
{
    int code = number(h, "total", &memory->total);
    if (memory->version != 0x02000028)
        return INVALID;
    return code ? code : number(h, "used", &memory->used);
}

int nvmlDeviceGetTotalEnergyConsumption(void *h, unsigned long long *out) { return number(h, "energy", out); }
#endif

int nvmlDeviceGetUtilizationRates(void *h, unsigned *rates) { rates[1] = 0; return small(h, "util", &rates[0]); }
int nvmlDeviceGetPowerUsage(void *h, unsigned *out) { return small(h, "power", out); }
int nvmlDeviceGetTemperature(void *h, int sensor, unsigned *out) { (void)sensor; return small(h, "temp", out); }
int nvmlDeviceGetClockInfo(void *h, int kind, unsigned *out) { (void)kind; return small(h, "clock", out); }
int nvmlDeviceGetNvLinkState(void *h, unsigned link, unsigned *out) { (void)link; return small(h, "nvlink", out); }
