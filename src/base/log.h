/* Messages for people, on stderr, one line each, as FERRY_LOG allows. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

typedef enum log_level { LOG_NONE, LOG_WARN, LOG_INFO } log_level;

void log_line(log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
