/* A user's program that reads and writes JSON: built against the installed package. */
#include <ferry/convert.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    static const char text[] = "{\"dt\": 0.5}";
    ferry_bundle *b;
    char *back;

    if (ferry_convert_from_json(text, strlen(text), &b) != FERRY_OK || ferry_convert_to_json(b, &back) != FERRY_OK) {
        fprintf(stderr, "%s\n", ferry_error_detail());
        return 1;
    }
    fputs(back, stdout);
    ferry_convert_free(back);
    ferry_bundle_free(b);
    return 0;
}
