import { createReport } from './report.ts';
import { readSettings, type StackSettings } from './settings.ts';
import { StartError } from './start-error.ts';
import { type LocalStack, startLocalStack } from './start-local-stack.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** How often it is checked that whoever started us through a package manager is still there. */
const PARENT_POLL_MS = 500;

/** Runs the stack until a signal ends it, and answers the exit code. A second signal ends it at once. */
export const runLocalStack = async (
  env: NodeJS.ProcessEnv,
  adjust: (settings: StackSettings) => StackSettings = (settings) => settings,
): Promise<number> => {
  // Whoever read our output may have left.
  process.stdout.on('error', () => undefined);
  const report = createReport((text) => process.stdout.write(text));
  const asked = new AbortController();
  let stack: LocalStack | undefined;
  const ask = (): void => {
    if (asked.signal.aborted) {
      stack?.kill();
      process.exit(130);
    }
    report.line('stopping (once more to kill everything at once)');
    asked.abort();
  };
  for (const signal of SIGNALS) process.on(signal, ask);
  followParent(env, ask);
  try {
    stack = await startLocalStack(adjust(readSettings(env, process.cwd())), { report, signal: asked.signal });
    await untilAborted(asked.signal);
    await stack.stop();
  } catch (error) {
    if (!asked.signal.aborted) {
      process.stderr.write(`\n${describeFailure(error)}\n`);
      return 1;
    }
  }
  report.line('stopped');
  return 0;
};

const describeFailure = (error: unknown): string => {
  if (error instanceof StartError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
};

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** A package manager that is killed does not always pass that on: then nobody could stop us with Ctrl-C any more. */
const followParent = (env: NodeJS.ProcessEnv, ask: () => void): void => {
  if (env['npm_lifecycle_event'] === undefined) return;
  const parent = process.ppid;
  const poll = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(poll);
    ask();
  }, PARENT_POLL_MS);
  poll.unref();
};
