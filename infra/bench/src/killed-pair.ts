import { setTimeout as sleep } from 'node:timers/promises';
import { type BillingUnderTest, overHttp, type Side } from './billing-under-test.ts';
import { type BareClient, openBareClient } from './harness/bare-http.ts';
import type { RunningService, Stack } from './harness/stack.ts';

/** Maximum calls for one request until one is answered; the other process is always up. */
const ATTEMPTS_MAX = 100;
const ATTEMPT_PAUSE_MS = 10;

/** One of the two processes, with its client while it runs. */
export interface Runner {
  readonly service: RunningService;
  readonly client: BareClient;
  readonly side: Side;
  isUp: boolean;
}

/** Two billing processes on one database that are killed in turn. */
export interface KilledPair {
  /**
   * Calls the process whose turn it is; if it does not answer, repeats the same call at a running one, as a gateway does.
   */
  readonly ask: <Answer>(turn: number, call: (runner: Runner) => Promise<Answer>) => Promise<Answer>;
  /** Kills the next process after `delayMs`, never while the other one is down, and starts it again. */
  readonly killNext: (delayMs: number) => void;
  /** Kills so far, and calls lost with a killed process. */
  readonly counts: () => { readonly kills: number; readonly unanswered: number };
  /** Resolves when both processes are up. */
  readonly revived: () => Promise<void>;
}

/** Starts the second process beside a billing. */
export const startKilledPair = async (stack: Stack, { service, client }: BillingUnderTest): Promise<KilledPair> => {
  client.close();
  const runnerOf = (running: RunningService): Runner => {
    const own = openBareClient(running.internalUrl, stack.internalToken);
    return { service: running, client: own, side: overHttp({ client: own }), isUp: true };
  };
  const runners = [runnerOf(service), runnerOf(await service.replica())];
  let kills = 0;
  let unanswered = 0;
  let revival: Promise<void> = Promise.resolve();
  const killAndRevive = async (runner: Runner): Promise<void> => {
    runner.isUp = false;
    process.kill(runner.service.process.pid, 'SIGKILL');
    Object.assign(runner, runnerOf(await runner.service.replica()));
  };
  return {
    ask: async (turn, call) => {
      for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
        const runner = runners[(turn + attempt) % runners.length];
        if (runner?.isUp !== true) continue;
        const answer = await call(runner).catch(() => undefined);
        if (answer !== undefined) return answer;
        unanswered += 1;
        await sleep(ATTEMPT_PAUSE_MS);
      }
      throw new Error(`no process answered ${ATTEMPTS_MAX} calls`);
    },
    killNext: (delayMs) => {
      const killed = runners[kills % runners.length];
      kills += 1;
      if (killed !== undefined) revival = revival.then(() => sleep(delayMs)).then(() => killAndRevive(killed));
    },
    counts: () => ({ kills, unanswered }),
    revived: () => revival,
  };
};
