import { get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 40;
const PROBE_TIMEOUT_MS = 2_000;

/** Resolves when the address answers 200. Rejects when the signal aborts. */
export const waitUntilReady = async (url: string, signal: AbortSignal): Promise<void> => {
  while (!(await answers200(url))) await sleep(POLL_MS, undefined, { signal });
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
