import { type RunningProcess, startNodeProcess } from '../process/node-process.ts';
import { waitUntilReady } from '../process/wait-until-ready.ts';
import { seconds } from './report.ts';
import { readablePath, type StackContext } from './stack-context.ts';
import { StartError } from './start-error.ts';

/** On a cold, busy machine. */
const READY_TIMEOUT_MS = 60_000;
/** Services end within their own grace before this. */
const STOP_GRACE_MS = 13_000;
/** A process that ends so often before it was ever ready will not get better. */
const DEATHS_MAX = 3;
const DEATH_POLL_MS = 50;
const LAST_LINES = 15;

/** A Node process of the stack. */
export interface NodeApp {
  name: string;
  script: string;
  directory: string;
  env: NodeJS.ProcessEnv;
  url: string;
  internalUrl?: string;
  /** Answers 200 once it can serve. */
  readyUrl: string;
}

/** Starts a Node process, keeps it running, and waits until it is ready. Throws StartError with its last log lines. */
export const startNodeApp = async (context: StackContext, app: NodeApp): Promise<void> => {
  const { group, record, report, addresses, logOf, signal } = context;
  const startedAt = performance.now();
  const log = logOf(app.name);
  const launch = async (): Promise<RunningProcess> => {
    signal.throwIfAborted();
    const running = await startNodeProcess({ ...app, log, graceMs: STOP_GRACE_MS });
    record.note(app.name, running.pid);
    return running;
  };
  addresses.set(app.name, {
    url: app.url,
    ...(app.internalUrl === undefined ? {} : { internal_url: app.internalUrl }),
  });
  const supervised = await group.start({ name: app.name, launch });
  const hopeless = new AbortController();
  const watch = setInterval(() => {
    if (supervised.deaths() >= DEATHS_MAX) hopeless.abort();
  }, DEATH_POLL_MS);
  try {
    const patience = AbortSignal.timeout(READY_TIMEOUT_MS);
    await waitUntilReady(app.readyUrl, AbortSignal.any([signal, patience, hopeless.signal]));
  } catch {
    signal.throwIfAborted();
    const reason = hopeless.signal.aborted ? 'it keeps ending' : `it is not ready after ${READY_TIMEOUT_MS / 1000} s`;
    await supervised.stop();
    throw new StartError(failureText(app.name, reason, { path: log.path, lines: log.lastLines(LAST_LINES) }));
  } finally {
    clearInterval(watch);
  }
  report.line(`${app.name} is ready (${seconds(performance.now() - startedAt)} s)`);
};

/** A failure with the last lines of the log that explains it. */
export const failureText = (name: string, reason: string, log: { path: string; lines: readonly string[] }): string =>
  [`${name} does not start: ${reason}. The last lines of ${readablePath(log.path)}:`, ...log.lines].join('\n    ');
