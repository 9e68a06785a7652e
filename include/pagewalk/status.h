/* Status and error message, as every call of the library returns them. The values are the command line's exit codes. */
#ifndef PAGEWALK_STATUS_H
#define PAGEWALK_STATUS_H

enum pw_status {
    PW_OK = 0,
    PW_FAILED = 1,        /* the run itself failed: broken identity, no progress, out of memory, disk full */
    PW_USER_ERROR = 2,    /* a mistake in what the user gave us: option, file, trace */
    PW_BUSY = 3,          /* of streams only (stream.h): there is no room now, but there will be */
    PW_STOPPED = 4,       /* of the library only: a run has taken longer than limit_cycles */
    PW_INTERRUPTED = 130, /* stopped by a signal; what was finished is kept */
    PW_NO_READER = 141,   /* of the command line only: who read its output has gone, as in `pagewalk … | head` */
};

enum { PW_ERROR_CAPACITY = 4096 };

struct pw_error {
    enum pw_status status;
    char message[PW_ERROR_CAPACITY]; /* one line; a failed run may append further lines that say who waits for whom */
};

#endif
