import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

/** The memory setting is that of the images (infra/docker). */
const NODE_FLAGS = ['--disable-warning=DEP0060', '--max-semi-space-size=32'];
const STOP_GRACE_MS = 10_000;
const READY_TIMEOUT_MS = 60_000;
const OUTPUT_CHARACTERS_KEPT = 4_000;
const running = new Set<ChildProcess>();
// Child processes must not outlive this one.
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** A Node process started for a measurement. */
export interface NodeProcess {
  readonly pid: number;
  /** Waits for it to end. Throws with its last output if it fails. */
  readonly succeed: () => Promise<void>;
  /** Waits until this address returns 200. Throws with its last output on timeout. */
  readonly ready: (url: string) => Promise<void>;
  /** Waits for the next message on its IPC channel. */
  readonly message: () => Promise<unknown>;
  readonly send: (message: object) => void;
  /** An error that quotes its last output. */
  readonly failure: (why: string) => Error;
  /** Size of its output so far. */
  readonly outputBytes: () => number;
  readonly stop: () => Promise<void>;
}

/** Launch options apart from the script. */
export interface Launch {
  /** The only core that it may use; any if omitted. Requires `taskset`, and so Linux. */
  readonly core?: number;
  /** Node options. */
  readonly flags?: readonly string[];
  /** Command-line arguments of the script. */
  readonly args?: readonly string[];
}

/**
 * Starts a script with exactly this environment plus PATH. Its output goes to a file, so that reading it costs no
 * processor time.
 */
export const startNode = async (
  script: string,
  env: Readonly<Record<string, string>>,
  { logFile, core, flags = [], args = [] }: Launch & { readonly logFile: string },
): Promise<NodeProcess> => {
  const log = openSync(logFile, 'a');
  // taskset replaces itself by the program, so the pid is Node's.
  const pinned = core === undefined ? [] : ['taskset', '-c', String(core)];
  const line = [...pinned, process.execPath, ...NODE_FLAGS, ...flags, script, ...args];
  const [command = '', ...rest] = line;
  const child = spawn(command, rest, {
    env: { PATH: process.env['PATH'] ?? '', NODE_ENV: 'production', ...env },
    stdio: ['ignore', log, log, 'ipc'],
  });
  closeSync(log);
  running.add(child);
  const exited = once(child, 'exit').finally(() => running.delete(child));
  await once(child, 'spawn');
  const { pid } = child;
  if (pid === undefined) throw new Error(`${script} has no pid`);
  const failure = (why: string) =>
    new Error(`${script} ${why}:\n${readFileSync(logFile, 'utf8').slice(-OUTPUT_CHARACTERS_KEPT)}`);
  return {
    pid,
    failure,
    outputBytes: () => statSync(logFile).size,
    succeed: async () => {
      await exited;
      if (child.exitCode !== 0) throw failure(`ended with ${child.exitCode ?? child.signalCode}`);
    },
    ready: async (url) => {
      const endsAt = performance.now() + READY_TIMEOUT_MS;
      while (!(await answers200(url))) {
        if (child.exitCode !== null) throw failure(`ended with ${child.exitCode}`);
        if (performance.now() > endsAt) throw failure('is not ready');
        await sleep(50);
      }
    },
    message: async () => (await once(child, 'message'))[0],
    send: (message) => void child.send(message),
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_GRACE_MS);
      await exited;
      clearTimeout(timer);
    },
  };
};

const answers200 = async (url: string): Promise<boolean> => {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    return false;
  }
};

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const manifestSchema = z.object({ dependencies: z.record(z.string(), z.string()) });

/** Bundles a service for production and returns the path of its main module. Throws if the build fails. */
export const bundleService = (directory: string): string => {
  const build = join(ROOT, 'packages', 'service-kit', 'scripts', 'bundle', 'main.ts');
  execFileSync(process.execPath, [build], { cwd: directory, stdio: ['ignore', 'ignore', 'inherit'] });
  const output = join(directory, 'dist');
  linkPackages(output);
  return join(output, 'src', 'main.js');
};

/** Links a bundle to the third-party packages of its manifest, in these versions, from this workspace's store. */
const linkPackages = (output: string): void => {
  const manifest = manifestSchema.parse(JSON.parse(readFileSync(join(output, 'package.json'), 'utf8')));
  const store = join(ROOT, 'node_modules', '.pnpm');
  const stored = readdirSync(store);
  for (const [name, version] of Object.entries(manifest.dependencies)) {
    const entry = `${name.replace('/', '+')}@${version}`;
    // The suffix after an underscore or a bracket names the installed peers.
    const found = stored.find(
      (other) => other === entry || other.startsWith(`${entry}_`) || other.startsWith(`${entry}(`),
    );
    if (found === undefined) throw new Error(`${entry} is not installed`);
    const link = join(output, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(store, found, 'node_modules', name), link);
  }
};
