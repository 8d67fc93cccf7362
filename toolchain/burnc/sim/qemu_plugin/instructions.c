/* A TCG plug-in for QEMU: counts executed instructions exactly, between the marks of a run, and ends QEMU when the
   process that started it hangs up.

   Arguments: control=FD (a socket to the host) and, by the addresses of their entries, functions of the firmware:
   begin= and mark= (counting), listen= and speak= (those that take a byte from the host and send one to it).
   Counting starts when `begin` is entered. Each entry of `mark` logs the count since then or since the last mark, and
   counting pauses until `mark` has returned, so that what it does itself counts nowhere.
   On the control socket the host sends one byte, whatever it is, and gets 64-bit numbers in the byte order of the
   machine: whether the firmware listens and has sent nothing since, all instructions since power-on, the number of
   logged counts, the counts. */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The part of QEMU's plug-in interface, version 1, that is used here; Debian does not ship its header. */
typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef void (*translated_callback)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*executed_callback)(unsigned int cpu, void *data);
enum { NO_REGISTER_ACCESS = 0 };
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
extern uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
extern struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
extern uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
extern size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
extern void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, translated_callback callback);
extern void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, executed_callback callback,
                                                 int access, void *data);

#define EXPORTED __attribute__((visibility("default")))

extern EXPORTED int qemu_plugin_version;
EXPORTED int qemu_plugin_version = 1;
EXPORTED int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv);

enum { MOST_MARKS = 65536, HEADER_WORDS = 3 };
#define NOWHERE UINT64_MAX

enum { BEGIN, MARK, LISTEN, SPEAK, ROLES };

static const char *const role_names[ROLES] = {"begin=", "mark=", "listen=", "speak="};
static uint64_t role_pcs[ROLES] = {NOWHERE, NOWHERE, NOWHERE, NOWHERE};

/* A translated block: QEMU runs it from its first instruction to its last. */
typedef struct {
    uint64_t pc;
    uint64_t end;
    uint64_t instructions;
    int role; /* of the function that it begins; ROLES for none of them */
} block;

static int control = -1;

/* Written by the thread of the virtual CPU, read by the one that serves the host: always after the firmware has sent
   what the host waits for, or, for `listening`, again and again. */
static volatile uint64_t listening;
static volatile uint64_t total;
static volatile uint64_t marks;
static uint64_t reply[HEADER_WORDS + MOST_MARKS];

static uint64_t origin;           /* total at the last mark's return */
static uint64_t resume = NOWHERE; /* where the mark under way returns to */
static uint64_t last_end;

static void on_executed(unsigned int cpu, void *data) {
    const block *const this = data;
    (void)cpu;
    switch (this->role) {
    case BEGIN:
        marks = 0;
        origin = total;
        resume = NOWHERE;
        break;
    case MARK:
        if (marks < MOST_MARKS) {
            reply[HEADER_WORDS + marks] = total - origin;
            marks = marks + 1u;
        }
        resume = last_end; /* the block before ended with the call */
        break;
    case LISTEN:
        listening = 1;
        break;
    case SPEAK:
        listening = 0;
        break;
    default:
        break;
    }
    if (this->pc == resume) {
        origin = total;
        resume = NOWHERE;
    }
    total = total + this->instructions;
    last_end = this->end;
}

static void on_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb) {
    const size_t count = qemu_plugin_tb_n_insns(tb);
    const struct qemu_plugin_insn *const last = qemu_plugin_tb_get_insn(tb, count - 1u);
    block *const made = malloc(sizeof *made);
    (void)id;
    if (made == NULL) {
        abort();
    }
    made->pc = qemu_plugin_tb_vaddr(tb);
    made->end = qemu_plugin_insn_vaddr(last) + qemu_plugin_insn_size(last);
    made->instructions = count;
    made->role = 0;
    while (made->role < ROLES && role_pcs[made->role] != made->pc) {
        made->role++;
    }
    qemu_plugin_register_vcpu_tb_exec_cb(tb, on_executed, NO_REGISTER_ACCESS, made);
}

static void *serve(void *unused) {
    char request;
    while (read(control, &request, 1) == 1) {
        const char *from = (const char *)reply;
        size_t left = (HEADER_WORDS + marks) * sizeof reply[0];
        reply[0] = listening;
        reply[1] = total;
        reply[2] = marks;
        while (left > 0) {
            const ssize_t sent = write(control, from, left);
            if (sent <= 0) {
                _exit(0);
            }
            from += sent;
            left -= (size_t)sent;
        }
    }
    _exit(0); /* the host has hung up */
    return unused;
}

static uint64_t value_of(const char *argument, const char *name, uint64_t otherwise) {
    const size_t length = strlen(name);
    return strncmp(argument, name, length) == 0 ? strtoull(argument + length, NULL, 0) : otherwise;
}

EXPORTED int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv) {
    pthread_t server;
    int i;
    int role;
    (void)info;
    for (i = 0; i < argc; i++) {
        for (role = 0; role < ROLES; role++) {
            role_pcs[role] = value_of(argv[i], role_names[role], role_pcs[role]);
        }
        control = (int)value_of(argv[i], "control=", (uint64_t)control);
    }
    if (control < 0 || pthread_create(&server, NULL, serve, NULL) != 0) {
        return 1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translated);
    return 0;
}
