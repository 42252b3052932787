import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort, waitFor } from '@svc/testing';

/** The service in a separate process, as in production. */
export interface GatewayProcess {
  readonly url: string;
  readonly internalUrl: string;
  readonly output: () => string;
  readonly signal: (name: NodeJS.Signals) => void;
  /** Exit code, or the signal that ended the process. */
  readonly ended: Promise<number | NodeJS.Signals>;
}

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** Starts `main.ts` with this environment. Waits until it is ready unless `waits` is false. */
export const startProcess = async (
  environment: Readonly<Record<string, string>>,
  { waits = true }: { readonly waits?: boolean } = {},
): Promise<GatewayProcess> => {
  const port = await freePort();
  const internalPort = await freePort();
  const child: ChildProcess = spawn(process.execPath, [MAIN], {
    env: { ...environment, PORT: String(port), INTERNAL_PORT: String(internalPort) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const ended = once(child, 'exit').then(([code, signal]) => code ?? signal);
  const internalUrl = `http://127.0.0.1:${internalPort}`;
  if (waits) {
    await waitFor(async () => child.exitCode !== null || (await fetch(`${internalUrl}/readyz`)).ok);
  }
  return {
    url: `http://127.0.0.1:${port}`,
    internalUrl,
    output: () => text,
    signal: (name) => child.kill(name),
    ended,
  };
};
