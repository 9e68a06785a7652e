/* The tables and views of a result store, schema 4 (docs/store.md).
 *
 * Two rules keep the file small. The effective options, some kilobytes of text, are kept once per configuration. A
 * metric's name, unit and place are kept once, and its value in a run takes about ten bytes. Tables are STRICT, so that
 * a damaged value of the wrong kind is found by the check at opening and not by its readers.
 *
 * A 64-bit seed is kept as the signed number with the same bits. The views show it unsigned: as a number where it is
 * one in SQLite, as text above 2^63 - 1. The texts are compared with those in the file, so any change to one is a new
 * schema.
 *
 * Schema 2 has added the allocations. Until schema 3 `run.core` was one digest for all sources; since then it is
 * "MECHANISMS/PARTS", what that run depends on, and the view `runs` shows the two, with measures of all GPUs. Schema 4
 * has added runs that were stopped. A file of an older schema gets what it has not when it is opened for writing. Its
 * runs stay, but those from before schema 3 are not found again by what identifies a run now. */
#include "store_internal.h"

#include "uvm/allocation.h"

#define VALUE_WHERE(condition)                                                                                         \
    "(SELECT v.value FROM value v JOIN metric m ON m.id = v.metric WHERE v.run = r.id AND " condition ")"
/* A measure of the first GPU, and one of all GPUs: the latter has the name of the former where there is only one. */
#define OF_FIRST_GPU(name) VALUE_WHERE("m.name = '" PW_SCOPE_FIRST_GPU "." name "'")
#define OF_GPUS(name)                                                                                                  \
    VALUE_WHERE("m.name IN ('" PW_SCOPE_GPUS "." name "', '" PW_SCOPE_FIRST_GPU "." name "') "                         \
                "ORDER BY m.name DESC LIMIT 1")
#define RATE(of, unit) "1.0 * " of(unit ".hits") " / nullif(" of(unit ".lookups") ", 0)"
#define UNSIGNED(column) "CASE WHEN " column " >= 0 THEN " column " ELSE printf('%u', " column ") END"

#define RUNS(core, of)                                                                                                 \
    "CREATE VIEW runs AS SELECT r.id, r.machine, r.design, r.workload,\n"                                              \
    "  " UNSIGNED("r.seed") " AS seed,\n"                                                                              \
                            "  r.cycles, r.nanoseconds / 1e6 AS ms, r.ipc_throughput AS ipc,\n"                        \
                            "  " RATE(of, "l1_tlb") " AS l1_tlb_hit_rate,\n"                                           \
                                                    "  " RATE(                                                         \
                                                        of, "l2_tlb") " AS l2_tlb_hit_rate,\n"                         \
                                                                      "  " of("walk.count") " AS walks,\n"             \
                                                                                            "  r.wall_seconds, " core  \
                                                                                            ", r.finished_at\n"        \
                                                                                            "FROM run r"

#define COUNTER_COLUMN(member, unit) "  " #member " INTEGER NOT NULL CHECK (" #member " >= 0),\n"
#define COUNTER_NAME(member, unit) ", n." #member

const struct pw_store_object pw_store_objects[] = {
    {"configuration",
     "CREATE TABLE configuration(\n"
     "  id INTEGER PRIMARY KEY,\n"
     "  options TEXT NOT NULL UNIQUE\n"
     ") STRICT",
     1, 0},
    {"configuration_option",
     "CREATE TABLE configuration_option(\n"
     "  configuration INTEGER NOT NULL REFERENCES configuration(id),\n"
     "  name TEXT NOT NULL,\n"
     "  value TEXT NOT NULL,\n"
     "  PRIMARY KEY (configuration, name)\n"
     ") STRICT, WITHOUT ROWID",
     1, 0},
    {"run",
     "CREATE TABLE run(\n"
     "  id INTEGER PRIMARY KEY,\n"
     "  core TEXT NOT NULL,\n"
     "  configuration INTEGER NOT NULL REFERENCES configuration(id),\n"
     "  workload TEXT NOT NULL,\n"
     "  seed INTEGER NOT NULL,\n"
     "  machine TEXT NOT NULL,\n"
     "  design TEXT NOT NULL,\n"
     "  cycles INTEGER NOT NULL CHECK (cycles >= 0),\n"
     "  nanoseconds REAL NOT NULL,\n"
     "  ipc_throughput REAL NOT NULL,\n"
     "  wall_seconds REAL NOT NULL,\n"
     "  peak_rss_bytes INTEGER NOT NULL CHECK (peak_rss_bytes >= 0),\n"
     "  events INTEGER NOT NULL CHECK (events >= 0),\n"
     "  memory_operations INTEGER NOT NULL CHECK (memory_operations >= 0),\n"
     "  finished_at TEXT NOT NULL,\n"
     "  UNIQUE (core, configuration, workload, seed)\n"
     ") STRICT",
     1, 0},
    {"run_by_workload", "CREATE INDEX run_by_workload ON run(workload, wall_seconds)", 1, 0},
    {"app",
     "CREATE TABLE app(\n"
     "  run INTEGER NOT NULL REFERENCES run(id),\n"
     "  number INTEGER NOT NULL,\n"
     "  name TEXT NOT NULL,\n"
     "  warp_instructions INTEGER NOT NULL CHECK (warp_instructions >= 0),\n"
     "  cycles INTEGER NOT NULL CHECK (cycles >= 0),\n"
     "  ipc REAL NOT NULL,\n"
     "  sms INTEGER NOT NULL CHECK (sms BETWEEN 0 AND 4294967295),\n"
     "  PRIMARY KEY (run, number)\n"
     ") STRICT, WITHOUT ROWID",
     1, 0},
    {"metric",
     "CREATE TABLE metric(\n"
     "  id INTEGER PRIMARY KEY,\n"
     "  name TEXT NOT NULL,\n"
     "  unit TEXT NOT NULL,\n"
     "  app TEXT NOT NULL,\n"
     "  component TEXT NOT NULL,\n"
     "  metric TEXT NOT NULL,\n"
     "  UNIQUE (name, unit)\n"
     ") STRICT",
     1, 0},
    {"value",
     "CREATE TABLE value(\n"
     "  run INTEGER NOT NULL REFERENCES run(id),\n"
     "  metric INTEGER NOT NULL REFERENCES metric(id),\n"
     "  value ANY CHECK (typeof(value) IN ('integer', 'real', 'null')),\n"
     "  PRIMARY KEY (run, metric)\n"
     ") STRICT, WITHOUT ROWID",
     1, 0},
    {"runs", RUNS("r.core", OF_FIRST_GPU), 1, 2},
    {"runs",
     RUNS("substr(r.core, 1, instr(r.core || '/', '/') - 1) AS core,\n"
          "  substr(r.core, instr(r.core || '/', '/') + 1) AS parts",
          OF_GPUS),
     3, 0},
    {"apps",
     "CREATE VIEW apps AS SELECT a.run, a.number AS app, a.name, r.machine, r.design, r.workload,\n"
     "  a.warp_instructions, a.cycles, a.ipc, a.sms\n"
     "FROM app a JOIN run r ON r.id = a.run",
     1, 0},
    {"metrics",
     "CREATE VIEW metrics AS SELECT v.run, m.app, m.component, m.metric, m.unit, v.value, m.name\n"
     "FROM value v JOIN metric m ON m.id = v.metric",
     1, 0},
    {"options",
     "CREATE VIEW options AS SELECT r.id AS run, o.name, o.value\n"
     "FROM run r JOIN configuration_option o ON o.configuration = r.configuration",
     1, 0},
    {"stopped",
     "CREATE TABLE stopped(\n"
     "  core TEXT NOT NULL,\n"
     "  configuration INTEGER NOT NULL REFERENCES configuration(id),\n"
     "  workload TEXT NOT NULL,\n"
     "  seed INTEGER NOT NULL,\n"
     "  cycles INTEGER NOT NULL CHECK (cycles >= 0),\n"
     "  PRIMARY KEY (core, configuration, workload, seed)\n"
     ") STRICT, WITHOUT ROWID",
     4, 0},
    {"allocation",
     "CREATE TABLE allocation(\n"
     "  run INTEGER NOT NULL REFERENCES run(id),\n"
     "  number INTEGER NOT NULL,\n"
     "  app INTEGER NOT NULL CHECK (app BETWEEN 0 AND 255),\n"
     "  name TEXT NOT NULL,\n"
     "  count INTEGER NOT NULL CHECK (count >= 0),\n"
     "  bytes INTEGER NOT NULL CHECK (bytes >= 0),\n"
     "  pages INTEGER NOT NULL CHECK (pages >= 0),\n" PW_ALLOCATION_COUNTERS(
         COUNTER_COLUMN) "  PRIMARY KEY (run, number)\n"
                         ") STRICT, WITHOUT ROWID",
     2, 0},
    {"allocations",
     "CREATE VIEW allocations AS SELECT n.run, r.machine, r.design, r.workload, n.app, n.name, n.count, n.bytes,\n"
     "  n.pages" PW_ALLOCATION_COUNTERS(COUNTER_NAME) "\n"
                                                      "FROM allocation n JOIN run r ON r.id = n.run",
     2, 0},
    {0},
};
