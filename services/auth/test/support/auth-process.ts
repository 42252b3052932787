import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, internalCredential, internalCredentials, waitFor } from '@svc/testing';

/** The service as its own process, as it runs in production; it comes back at the same address. */
export interface AuthProcess {
  readonly url: string;
  /** Kills it as the kernel does: nothing of it runs any more. */
  readonly kill: () => Promise<void>;
  /** Starts it and waits until it is ready. */
  readonly start: () => Promise<void>;
  /** Kills it for good. */
  readonly stop: () => Promise<void>;
}

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const START_MS = 60_000;

/** Starts `main.ts` on this database and broker. */
export const startAuthProcess = async (options: {
  readonly databaseUrl: string;
  readonly natsUrl: string;
  /** Overrides the configuration. */
  readonly environment?: Readonly<Record<string, string>>;
}): Promise<AuthProcess> => {
  const port = await freePort();
  const internalPort = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const environment = {
    PORT: String(port),
    INTERNAL_PORT: String(internalPort),
    DATABASE_URL: options.databaseUrl,
    NATS_URL: options.natsUrl,
    PUBLIC_BASE_URL: url,
    INTERNAL_API_TOKENS: internalCredentials,
    INTERNAL_API_TOKEN: internalCredential('auth'),
    BILLING_INTERNAL_URL: 'http://127.0.0.1:1',
    INFERENCE_GATEWAY_INTERNAL_URL: 'http://127.0.0.1:1',
    WEBHOOK_DISPATCHER_INTERNAL_URL: 'http://127.0.0.1:1',
    AUTH_ENCRYPTION_KEY: '11'.repeat(32),
    RESPONSE_VALIDATION: 'true',
    LOG_LEVEL: 'error',
    SIGN_UPS_PER_SOURCE_PER_HOUR: '100000',
    MAIL_URL: 'smtp://127.0.0.1:1',
    EMAIL_VERIFICATION: 'optional',
    // Starting again and again, it need not compile everything each time. Only a process that ends by itself writes it.
    NODE_COMPILE_CACHE: join(tmpdir(), `svc-auth-compiled-${port}`),
    ...options.environment,
  };
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    const started = spawn(process.execPath, [MAIN], { env: environment, stdio: ['ignore', 'inherit', 'inherit'] });
    child = started;
    const isReady = async () =>
      started.exitCode !== null || (await fetch(`http://127.0.0.1:${internalPort}/readyz`)).ok;
    await waitFor(isReady, { timeoutMs: START_MS });
    if (started.exitCode !== null) throw new Error(`the process ended by itself with ${started.exitCode}`);
  };
  const end = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
    if (child === undefined) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
    child = undefined;
  };
  const kill = () => end('SIGKILL');
  const stop = async (): Promise<void> => {
    await kill();
    await rm(environment.NODE_COMPILE_CACHE, { recursive: true, force: true });
  };
  await start();
  await end('SIGTERM');
  await start();
  return { url, start, kill, stop };
};
