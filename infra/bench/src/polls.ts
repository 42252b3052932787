import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, openClient } from './harness/http.ts';
import { timed } from './harness/load.ts';
import { type App, registerApp, signUp } from './harness/people.ts';
import { printTable, say } from './harness/report.ts';
import { foreignShare, processorMicroseconds } from './harness/resources.ts';
import { startStack } from './harness/stack.ts';
import { summarize } from './harness/statistics.ts';

const DEVICES = Number(process.env['BENCH_DEVICES'] ?? 1_000);
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 30);
/** RFC 8628 section 3.2: seconds between the polls of a device. */
const INTERVAL_SECONDS = 5;
const CONNECTIONS = 32;
const IDLE_MS = 10_000;

/**
 * Measures what devices cost auth that wait for their person and poll at their pace, spread evenly. No poll may be told to slow
 * down, or be answered otherwise than with `authorization_pending`.
 */
export const measurePolls = async (): Promise<void> => {
  const stack = await startStack();
  try {
    const auth = await stack.start('auth');
    const client = openClient(auth.url, CONNECTIONS);
    const app = await registerApp(client, await signUp(client, 'business'), { device_flow: true });
    const codes = await authorizeDevices(client, app);
    // The first polls compile the code.
    await poll(client, app, { codes, seconds: INTERVAL_SECONDS });
    const foreign = await foreignShare(300);
    const idle = await coresDuring(auth.process.pid, () => sleep(IDLE_MS));
    const before = processorMicroseconds(auth.process.pid);
    const startedAt = performance.now();
    const milliseconds = await poll(client, app, { codes, seconds: SECONDS });
    const seconds = (performance.now() - startedAt) / 1000;
    const used = processorMicroseconds(auth.process.pid) - before;
    const { p50, p99 } = summarize(milliseconds);
    say(`${DEVICES} devices that poll every ${INTERVAL_SECONDS} s; foreign CPU share ${foreign.toFixed(2)}:\n`);
    printTable(
      ['polls/s', 'p50 ms', 'p99 ms', 'auth CPU us/poll', 'cores of auth', 'idle'],
      [[milliseconds.length / seconds, p50, p99, used / milliseconds.length, used / (seconds * 1_000_000), idle]],
    );
    await client.close();
  } finally {
    await stack.stop();
  }
};

/** Returns the processor time of a process while something lasts, as a share of one core. */
const coresDuring = async (pid: number, work: () => Promise<unknown>): Promise<number> => {
  const before = processorMicroseconds(pid);
  const startedAt = performance.now();
  await work();
  return (processorMicroseconds(pid) - before) / ((performance.now() - startedAt) * 1_000);
};

const authorizeDevices = async (client: Client, app: App): Promise<string[]> => {
  const codes: string[] = [];
  for (let device = 0; device < DEVICES; device += 1) {
    const form = { client_id: app.clientId, client_secret: app.clientSecret };
    const headers = { 'x-forwarded-for': `10.0.${device >> 8}.${device & 255}` };
    const path = '/v1/integrations/oauth/device_authorization';
    codes.push((await client.expect(200, { method: 'POST', path, form, headers })).field('device_code'));
  }
  return codes;
};

/** Sends each device's poll when it is due. Returns the milliseconds of each. */
const poll = async (
  client: Client,
  app: App,
  { codes, seconds }: { readonly codes: readonly string[]; readonly seconds: number },
): Promise<number[]> => {
  const startedAt = performance.now();
  const gapMs = (INTERVAL_SECONDS * 1000) / codes.length;
  const polls = Math.floor((seconds * 1000) / gapMs);
  const open: Promise<number>[] = [];
  for (let index = 0; index < polls; index += 1) {
    const waitMs = startedAt + index * gapMs - performance.now();
    if (waitMs > 1) await sleep(waitMs);
    open.push(timed(() => pollOnce(client, app, codes[index % codes.length] ?? '')));
  }
  return await Promise.all(open);
};

const pollOnce = async (client: Client, app: App, code: string): Promise<void> => {
  const form = {
    client_id: app.clientId,
    client_secret: app.clientSecret,
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    device_code: code,
  };
  const answer = await client.expect(400, { method: 'POST', path: '/v1/integrations/oauth/token', form });
  if (answer.field('error') !== 'authorization_pending') throw new Error(`a poll was answered with ${answer.text}`);
};
