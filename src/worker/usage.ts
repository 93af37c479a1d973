/** The texts of `--help`. What they say is what the commands do: a test compares the flags. */

const overview = `Usage: node worker.js <command> [options]        node worker.js <command> --help

Work on a stream
  run --stream <key> --group <name>   hand the messages of a stream and group to a handler

The runs application: a gateway over HTTP, a stream, workers and a store
  gateway                    take runs over HTTP, keep them and publish them; --workers 2 executes them in the same process
  run                        execute runs, as many such processes as you like; needs DATABASE_URL
  selftest                   try the whole chain in five checks, without any installation
  lessons                    count completed lessons: typed events, each completion recorded once

Look and operate
  inspect                    a stream, its groups and their consumers
  dlq list|show|replay|discard   the dead letters of a stream
  consumers reap             remove consumers that own nothing and are gone
  trim                       remove old entries, but none that a group still needs

Try
  sandbox                    serve a Redis of its own with sample streams on loopback, in memory
  sample                     fill an empty Redis with sample streams and keep them moving

Every option that takes a value can come from the environment: --sweep-ms is REDIS_STREAMS_SWEEP_MS. Secrets come from there only:
REDIS_STREAMS_URL with its password, DATABASE_URL, REDIS_STREAMS_TOKEN.
`;

const exitCodes = `
Exit codes
  0  ended as asked
  1  failed; the last line says why
  2  the command line is wrong
  3  the handler file cannot be used
  4  the handler ended the process, or something threw outside of any message
  5  the editor that launched it is gone
  130, 143  ended at once by a second SIGINT or SIGTERM
`;

const appOptions = `  --url <redis://…>          a Redis, or embedded:// for an engine in this process; a URL with a password only as REDIS_STREAMS_URL
  --env <name>               comes before the stream names: dev:koda:runs. Default dev
  --group <name>             the group that executes runs. Default workers
  --store <memory|postgres>  where runs are kept. Default postgres when DATABASE_URL is set, else memory
  --stale-ms <n>             how long a run is pending before the sweeper looks after it. Default 30000
  --sweep-ms <n>             how often it looks. Default 5000; 0 for never
  --close-ms <n>             how long requests and handlers may go on after SIGINT or SIGTERM. Default 10000
  --metrics-port <n>         serve /metrics, /healthz and /readyz on 127.0.0.1. Default: nowhere
  --log <text|json>          default text
`;

const workerOptions = `  --handler <file>           executes runs in place of the echo: (message, context), the run is message.body { runId, sessionId, input },
                             and what it returns is the reply. ES module or CommonJS; TypeScript where Node runs it
  --consumer <name>          default: host, pid and chance
  --concurrency <n>          runs at once. Default 10
  --handler-timeout-ms <n>   default 30000, 0 for none
  --min-idle-ms <n>          how long a run must lie before another worker takes it over. Default 30000; the same in all workers
  --heartbeat-ms <n>         how often a worker says that it is at work. Default a third of that
  --reclaim-ms <n>           how often to look for such runs. Default 5000
  --retry-ms <n>             how long until a failed run is tried again, doubled each time. Default 500
`;

const texts = {
  run: `Usage: node worker.js run --stream <key> --group <name> [options]
       node worker.js run [options]

With --stream: hands the messages of a stream and group to a handler, until SIGINT or SIGTERM; a second one ends it at once.

  --url <redis://…>          or REDIS_STREAMS_URL, which keeps a password out of the process list
  --stream, --group <name>   or REDIS_STREAMS_STREAM, REDIS_STREAMS_GROUP
  --consumer <name>          or REDIS_STREAMS_CONSUMER; default: host, pid and chance
  --handler <file>           or REDIS_STREAMS_HANDLER: exports a function (default, or named handle); default: the sample's
  --max-messages <n>         end after this many
  --create-group             create the stream and group when they are missing, from --from <0|$|id>, default 0
  --reclaim                  take over what others let lie for --min-idle-ms, default 30000
  --dead-letter              move a message to the dead letters after three failed deliveries
  --journal                  keep the delivery journal of the stream, <stream>:journal, which the editor shows as delivery history
  --concurrency <n>          handlers at once, default 10
  --handler-timeout-ms <n>   default 30000, 0 for none
  --heartbeat-ms, --close-ms <n>
  --log <text|json>
  --launch-file <file>       all of this in a file, as an editor writes it; it is deleted at once

Without --stream: a worker of the runs application. It reads <env>:koda:runs, executes each run, writes its reply and marks it done in
one transaction, then acknowledges. What a dead worker left is taken over; what was delivered three times becomes a dead letter, and
its run is marked failed. Inputs that begin with boom fail, slow take 2 s (slow 5000 takes 5 s), die kills the process.
Start as many as you like; they share the store, so DATABASE_URL must be set.

${appOptions}${workerOptions}${exitCodes}`,

  gateway: `Usage: node worker.js gateway [options]

Takes runs over HTTP, keeps each in the store first and publishes it second, to <env>:koda:runs. A run that could not be published, or
whose gateway died in between, is published by the sweeper of any gateway or worker.

  POST /runs       { "sessionId", "idempotencyKey", "input" } as application/json
                   202 { "runId", "streamId", "duplicated" }: kept. A known idempotency key is not published again and answers
                   duplicated: true with its first run; streamId is null when the stream cannot be reached just now
                   400 with the field named · 401 · 413 · 415 · 429 with Retry-After · 503 try again with the same key
  GET /runs/<id>   200 { "runId", "sessionId", "status": pending|done|failed, "streamId", "reply", "failure", "createdAt" } · 404

  --workers <n>              execute runs in this process too, with so many consumers. Default 0. Needed for a memory store
                             and for embedded://, because both live in one process; an input that begins with die ends all of it
  --host <address>           default 127.0.0.1; any other than loopback needs REDIS_STREAMS_TOKEN
  --port <n>                 default 8787; 0 for a free one
  --rate-per-minute <n>      runs that a session may post in a minute. Default 120; 0 for no limit
  --max-body-bytes <n>       default 65536
${appOptions}
With --workers:
${workerOptions}
Secrets, from the environment only: REDIS_STREAMS_URL, DATABASE_URL, REDIS_STREAMS_TOKEN (clients send "Authorization: Bearer …")
${exitCodes}`,

  selftest: `Usage: node worker.js selftest [options]

Puts the gateway, the bus, workers and a store together and runs five checks, each printing one line with its figures:
publish and consume, two workers share the load, a duplicate submission is blocked, a worker crashes before its acknowledgement,
poison. Then XLEN, XINFO GROUPS and XPENDING are compared with what was printed. Streams, runs and dead letters are its own and are removed.

  --url <redis://…>          or REDIS_STREAMS_URL. Default embedded://, an engine in this process
  --store <memory|postgres>  default postgres when DATABASE_URL is set, else memory
  --json                     one object a line
${exitCodes}`,

  inspect: `Usage: node worker.js inspect [options]

Shows a stream, its groups and their consumers, and changes nothing. A lag that the server does not know is "unknown".

  --url <redis://…>          or REDIS_STREAMS_URL
  --stream <key>             the key itself. Default: the runs of --env <name>, dev:koda:runs
  --json                     for programs
${exitCodes}`,

  dlq: `Usage: node worker.js dlq list [--reason <word>] [--limit <n>] [--after <id>]
       node worker.js dlq show <id>
       node worker.js dlq replay <id>…|--all [--reason <word>] [--limit <n>] [--rate <n>] [--dry-run]
       node worker.js dlq discard <id>…|--all [--reason <word>] [--limit <n>] [--dry-run]

Works with the dead letters of a stream. replay publishes them again at the end of the stream, each in one step with its removal, at
most --rate a second; a replayed run is executed anew. discard removes them for good. --dry-run says what would be done.
show prints the fields of the message; list prints none.

  --url <redis://…>          or REDIS_STREAMS_URL
  --stream <key>             whose dead letters. Default: the runs of --env <name>, dev:koda:runs
  --json                     for programs
${exitCodes}`,

  consumers: `Usage: node worker.js consumers reap [options]

Removes the consumers of a group that own nothing and have been idle for long; each in one guarded step on the server.

  --url <redis://…>          or REDIS_STREAMS_URL
  --stream <key>             default: the runs of --env <name>, dev:koda:runs
  --group <name>             default workers
  --idle-ms <n>              how long idle. Default 3600000, an hour
  --json                     for programs
${exitCodes}`,

  trim: `Usage: node worker.js trim --max-length <n> | --min-id <id> [options]

Removes entries from the start of a stream, but none that a group has not read or not acknowledged; a stream without groups is left alone.

  --url <redis://…>          or REDIS_STREAMS_URL
  --stream <key>             default: the runs of --env <name>, dev:koda:runs
  --json                     for programs
${exitCodes}`,

  lessons: `Usage: node worker.js lessons run [options]
       node worker.js lessons publish --type <type> --student <id> --lesson <id> [--task <id>] [--score <n>] [options]
       node worker.js lessons show --student <id> [options]

The second example: the stream <env>:lesson-events with typed events (lesson_started, lesson_completed, task_submitted). run records a
completion once, however often it is told, and counts only what it really inserted. An event that its schema refuses becomes a dead letter.

  --url <redis://…>          or REDIS_STREAMS_URL
  --env <name>               default dev
  --group <name>             default progress
  --consumer <name>          default: host, pid and chance
  --close-ms <n>             default 10000
  --log <text|json>          default text
Needs DATABASE_URL, where completions are kept (publish does not).
${exitCodes}`,

  sandbox: `Usage: node worker.js sandbox [--port <n>]

Serves a Redis of its own with sample streams on loopback, in memory; nothing needs to be installed. Port 0, the default, is a free one.
`,

  sample: `Usage: node worker.js sample --url <redis://…>

Fills an empty Redis with sample streams and keeps them moving, until SIGINT or SIGTERM.
`,
} as const;

/** The help of a command, or the overview. */
export function usageOf(command: string | undefined): string {
  return isCommand(command) ? texts[command] : overview + exitCodes;
}

/** Whether there is help for a command of this name. */
export function isCommand(command: string | undefined): command is keyof typeof texts {
  return command !== undefined && Object.hasOwn(texts, command);
}
