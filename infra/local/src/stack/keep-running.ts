import { get } from 'node:http';
import { type RunningProcess, startProcess, waitUntilReady } from '@svc/testing/servers';
import { reportStep, withLogPath } from './report.ts';
import type { StackContext } from './stack-context.ts';

const READY_TIMEOUT_MS = 600_000;
const PROBE_TIMEOUT_MS = 10_000;
/** Longer than the services' grace period. */
const STOP_GRACE_MS = 13_000;
const ATTEMPTS_MAX = 3;
/** The memory setting is that of the images (infra/docker). */
const NODE_FLAGS = ['--disable-warning=DEP0060', '--max-semi-space-size=32'];

export interface StackPart {
  readonly name: string;
  readonly url: string;
  readonly internalUrl?: string | undefined;
}

export interface LaunchedPart extends StackPart {
  readonly launch: (options: { signal: AbortSignal; onOutput: (text: string) => void }) => Promise<RunningProcess>;
  readonly attemptsMax?: number;
}

export interface NodePart extends StackPart {
  readonly script: string;
  readonly directory: string;
  readonly env: NodeJS.ProcessEnv;
  /** Answers 200 once the process can serve. */
  readonly readyUrl: string;
}

/** Starts a part of the stack, waits until it is ready, and keeps it running. Throws StartError. */
export const keepRunning = async (context: StackContext, part: LaunchedPart): Promise<void> => {
  const { supervisor, report, addresses, logOf } = context;
  const { name, url, internalUrl, attemptsMax = 1 } = part;
  const log = logOf(name);
  addresses.set(name, internalUrl === undefined ? { url } : { url, internal_url: internalUrl });
  const launch = (signal: AbortSignal): Promise<RunningProcess> => part.launch({ signal, onOutput: log.write });
  const step = { doing: `starting ${name}`, done: `${name} is ready` };
  await withLogPath(log.path, () => reportStep(report, step, () => supervisor.start({ name, launch, attemptsMax })));
};

/** Starts a Node process of the stack and keeps it running. Throws StartError. */
export const keepNodeRunning = (context: StackContext, part: NodePart): Promise<void> => {
  const { name, script, directory, env, readyUrl } = part;
  const recordAt = `${context.settings.dataDirectory}/${name}`;
  return keepRunning(context, {
    ...part,
    attemptsMax: ATTEMPTS_MAX,
    launch: async ({ signal, onOutput }) => {
      const running = await startProcess({
        command: [process.execPath, ...NODE_FLAGS, script],
        cwd: directory,
        env,
        recordAt,
        stopSignals: ['SIGTERM'],
        stopStepMs: STOP_GRACE_MS,
        onOutput,
      });
      await waitUntilReady(running, { name, timeoutMs: READY_TIMEOUT_MS, isReady: () => answers200(readyUrl), signal });
      return running;
    },
  });
};

const answers200 = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = get(url, { agent: false, timeout: PROBE_TIMEOUT_MS }, (res) => {
      res.resume();
      resolve(res.statusCode === 200);
    });
    probe.on('timeout', () => probe.destroy());
    probe.on('error', () => resolve(false));
  });
