import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer } from 'node:tls';
import { createTestAuthority, freePort, waitFor } from '@svc/testing';
import type { Condition } from '../condition.ts';
import type { Product } from '../product.ts';

const SERVICES = ['auth', 'billing', 'inference-gateway', 'webhook-dispatcher', 'console'];
const WAIT_MS = 30_000;
/** A process takes at most a hundred measurements per second. */
const MEASURED_MS = 700;
const FROZEN_MS = 350;
const THAWED_MS = 20;
const DESCRIPTORS_MAX = 128;
const SOCKETS = 100;
/** More than three restarts. */
const RESTART_MINUTES = [0, 1, 2, 3];

/** All processes of all services are frozen. */
export const servicesThatHang: Condition = {
  alerts: ['ServiceDown', 'InstanceDown'],
  async begin(product) {
    for (const name of SERVICES) process.kill(await product.pidOf(name), 'SIGSTOP');
  },
  async end(product) {
    for (const name of SERVICES) process.kill(await product.pidOf(name), 'SIGCONT');
  },
};

/** A process that crashes repeatedly. */
export const serviceThatDies: Condition = {
  alerts: ['ProcessRestarting'],
  async eachMinute(product, minute) {
    if (!RESTART_MINUTES.includes(minute)) return;
    const started = () => product.watch.read('console', 'process_start_time_seconds');
    const before = await started();
    // Start times have a resolution of one second, so two starts must not fall into the same second.
    await waitFor(() => Date.now() / 1000 > before + 1 || undefined, { timeoutMs: WAIT_MS });
    const pid = await product.pidOf('console');
    process.kill(pid, 'SIGKILL');
    await waitFor(async () => (await started()) > before || undefined, { timeoutMs: WAIT_MS });
    // The process answers a little before the supervisor has noted it.
    await waitFor(async () => (await product.pidOf('console')) !== pid || undefined, { timeoutMs: WAIT_MS });
  },
};

/** A process whose event loop stalls, as under a low CPU limit. */
export const serviceThatStutters = (): Condition => {
  let since = performance.now();
  return {
    alerts: ['EventLoopDelay'],
    async eachMinute(product) {
      const pid = await product.pidOf('console');
      // More than one percent of the measurements since the last scrape.
      const freezes = 1 + Math.floor((performance.now() - since) / MEASURED_MS);
      since = performance.now();
      for (let index = 0; index < freezes; index += 1) {
        process.kill(pid, 'SIGSTOP');
        await sleep(FROZEN_MS);
        process.kill(pid, 'SIGCONT');
        await sleep(THAWED_MS);
      }
    },
  };
};

/** A second console process with a low limit of open files and many open connections. */
export const fewFileDescriptors = (): Condition => {
  const sockets: Socket[] = [];
  let stop = async (): Promise<void> => undefined;
  return {
    alerts: ['FileDescriptorsLow'],
    async begin(product) {
      const instance = await startInstance(product, { service: 'console', descriptorsMax: DESCRIPTORS_MAX });
      stop = instance.stop;
      product.watch.addTarget({ job: 'console', pod: 'console-2', url: instance.internalUrl });
      for (let index = 0; index < SOCKETS; index += 1) {
        const socket = connect(instance.port, '127.0.0.1').on('error', () => undefined);
        sockets.push(socket);
        await once(socket, 'connect');
      }
    },
    async end(product) {
      for (const socket of sockets) socket.destroy();
      product.watch.removeTarget('console-2');
      await stop();
    },
  };
};

interface InstanceOptions {
  readonly service: 'auth' | 'console';
  readonly descriptorsMax?: number;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Starts another process of a service with the stack's environment except for the ports. */
const startInstance = async (product: Product, { service, descriptorsMax, environment }: InstanceOptions) => {
  const pid = await product.pidOf(service);
  const inherited = (await readFile(`/proc/${pid}/environ`, 'utf8')).split('\0').filter((each) => each.includes('='));
  const [, script = ''] = (await readFile(`/proc/${pid}/cmdline`, 'utf8'))
    .split('\0')
    .filter((each) => each !== '')
    .slice(-2);
  const port = await freePort();
  const internalPort = await freePort();
  const env = {
    ...Object.fromEntries(inherited.map((each) => each.split(/=(.*)/s).slice(0, 2))),
    ...environment,
    PORT: String(port),
    INTERNAL_PORT: String(internalPort),
  };
  const limit = descriptorsMax === undefined ? '' : `ulimit -n ${descriptorsMax} && `;
  const child = spawn('sh', ['-c', `${limit}exec "$0" "$1"`, process.execPath, script], { env, stdio: 'ignore' });
  const internalUrl = `http://127.0.0.1:${internalPort}`;
  await waitFor(async () => (await fetch(`${internalUrl}/healthz`).catch(() => undefined))?.ok || undefined, {
    timeoutMs: WAIT_MS,
  });
  const stop = async () => {
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    await exited;
  };
  return { port, internalUrl, stop };
};

/** A second process of auth, behind an entrance whose certificate has expired. */
export const expiredCertificate = (): Condition => {
  let stop = async (): Promise<void> => undefined;
  return {
    alerts: ['TlsCertificateExpiring', 'TlsCertificateExpiresSoon'],
    async begin(product) {
      const authority = await createTestAuthority();
      const entrance = createServer(await authority.issue({ names: ['localhost'], expired: true }));
      authority.remove();
      const port = await freePort();
      await once(entrance.listen(port, 'localhost'), 'listening');
      const environment = { PUBLIC_BASE_URL: `https://localhost:${port}` };
      const instance = await startInstance(product, { service: 'auth', environment });
      stop = async () => {
        await instance.stop();
        entrance.close();
      };
      product.watch.addTarget({ job: 'auth', pod: 'auth-2', url: instance.internalUrl });
      const seconds = () => product.watch.read('auth', 'tls_certificate_expires_seconds');
      await waitFor(async () => (await seconds()) < 0 || undefined, { timeoutMs: WAIT_MS });
    },
    async end(product) {
      product.watch.removeTarget('auth-2');
      await stop();
    },
  };
};
