import { createReport } from './report.ts';
import { readSettings, type StackSettings } from './settings.ts';
import { StartError } from './start-error.ts';
import { type LocalStack, startLocalStack } from './start-local-stack.ts';
import { listenForStop } from './stop-requests.ts';

/** Runs the stack until it is asked to stop, and answers the exit code. A second signal ends it at once. */
export const runLocalStack = async (
  env: NodeJS.ProcessEnv,
  adjust: (settings: StackSettings) => StackSettings = (settings) => settings,
): Promise<number> => {
  // Whoever read our output may have left.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);
  const report = createReport((text) => process.stdout.write(text));
  let stack: LocalStack | undefined;
  const { signal } = listenForStop({
    first: () => report.line('stopping (once more to kill everything at once)'),
    again: () => {
      stack?.kill();
      process.exit(130);
    },
  });
  try {
    stack = await startLocalStack(adjust(readSettings(env, process.cwd())), { report, signal });
    await untilAborted(signal);
    await stack.stop();
  } catch (error) {
    if (!signal.aborted) {
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
