import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, waitFor } from '@svc/testing';
import type { Condition } from '../condition.ts';
import type { Product } from '../product.ts';

const SERVICES = ['auth', 'billing', 'inference-gateway', 'webhook-dispatcher', 'console'];
const WAIT_MS = 30_000;
/** A process measures a hundred times a second at most. */
const MEASURED_MS = 700;
const FROZEN_MS = 350;
const THAWED_MS = 20;
const DESCRIPTORS_MAX = 128;
const SOCKETS = 100;
/** More often than three times. */
const RESTART_MINUTES = [0, 1, 2, 3];

/** Every process of every service stands still. */
export const servicesThatHang: Condition = {
  alerts: ['ServiceDown', 'InstanceDown'],
  async begin(product) {
    for (const name of SERVICES) process.kill(await product.pidOf(name), 'SIGSTOP');
  },
  async end(product) {
    for (const name of SERVICES) process.kill(await product.pidOf(name), 'SIGCONT');
  },
};

/** A process dies again and again. */
export const serviceThatDies: Condition = {
  alerts: ['ProcessRestarting'],
  async eachMinute(product, minute) {
    if (!RESTART_MINUTES.includes(minute)) return;
    const started = () => product.watch.read('console', 'process_start_time_seconds');
    const before = await started();
    // The time is told in whole seconds: a process that starts within the same one cannot be told from the one before.
    await waitFor(() => Date.now() / 1000 > before + 1 || undefined, { timeoutMs: WAIT_MS });
    process.kill(await product.pidOf('console'), 'SIGKILL');
    await waitFor(async () => (await started()) > before || undefined, { timeoutMs: WAIT_MS });
  },
};

/** A process does not turn for a while, as under a CPU limit that is too low. */
export const serviceThatStutters = (): Condition => {
  let since = performance.now();
  return {
    alerts: ['EventLoopDelay'],
    async eachMinute(product) {
      const pid = await product.pidOf('console');
      // So many that they are more than one in a hundred of what the process has measured since its last scrape.
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

/** A second instance of the console may open few files, and somebody holds many connections to it. */
export const fewFileDescriptors = (): Condition => {
  const sockets: Socket[] = [];
  let stop = async (): Promise<void> => undefined;
  return {
    alerts: ['FileDescriptorsLow'],
    async begin(product) {
      const instance = await startConsole(product, DESCRIPTORS_MAX);
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

/** One more console beside the stack's, with its environment but for the ports. */
const startConsole = async (product: Product, descriptorsMax: number) => {
  const pid = await product.pidOf('console');
  const environment = (await readFile(`/proc/${pid}/environ`, 'utf8')).split('\0').filter((each) => each.includes('='));
  const [, script = ''] = (await readFile(`/proc/${pid}/cmdline`, 'utf8'))
    .split('\0')
    .filter((each) => each !== '')
    .slice(-2);
  const [port, internalPort] = [await freePort(), await freePort()];
  const env = {
    ...Object.fromEntries(environment.map((each) => each.split(/=(.*)/s).slice(0, 2))),
    ...{ PORT: String(port), INTERNAL_PORT: String(internalPort) },
  };
  const child = spawn('sh', ['-c', `ulimit -n ${descriptorsMax} && exec "$0" "$1"`, process.execPath, script], {
    env,
    stdio: 'ignore',
  });
  const internalUrl = `http://127.0.0.1:${internalPort}`;
  await waitFor(async () => (await fetch(`${internalUrl}/healthz`).catch(() => undefined))?.ok || undefined, {
    timeoutMs: WAIT_MS,
  });
  const stop = async () => {
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };
  return { port, internalUrl, stop };
};
