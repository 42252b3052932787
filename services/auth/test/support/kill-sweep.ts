import { waitFor } from '@svc/testing';
import fc from 'fast-check';
import type { AuthProcess } from './auth-process.ts';
import type { Answer } from './http.ts';
import type { Fate, WriteStops } from './write-stops.ts';

const SEED = Number(process.env['KILL_SWEEP_SEED'] ?? '1');
const IS_FULL = process.env['KILL_SWEEP'] === 'full';
/** Kills of one sweep that is not full. */
export const KILLS_OF_A_SAMPLE = 2;

/** Something that a client asks for, and what must be true after a crash in the middle of it. */
export interface Attempt {
  readonly act: () => Promise<Answer>;
  /** Returns true once the work that follows the answer is done. Default: the answer ends it. */
  readonly isSettled?: () => Promise<boolean>;
  /** Judges the state after the restart, then repeats what a client would. */
  readonly check: () => Promise<void>;
}

/** Chooses by the seed, in its own way for every name. */
const choose = <T>(arbitrary: fc.Arbitrary<T>, name: string): T => {
  const seed = [...`${SEED} ${name}`].reduce((hash, letter) => Math.imul(hash, 31) + letter.charCodeAt(0), 7);
  const [chosen] = fc.sample(arbitrary, { numRuns: 1, seed });
  if (chosen === undefined) throw new Error('nothing to choose from');
  return chosen;
};

/** Kills the process before the chosen writes of what `prepare` sets up anew each time; answers all that there are. */
export type Sweep = ((name: string, prepare: () => Promise<Attempt>) => Promise<string[]>) & {
  /** Kills so far. */
  readonly kills: () => number;
};

/** Makes a sweep over a process. */
export const createKillSweep = ({ service, stops }: { service: AuthProcess; stops: WriteStops }): Sweep => {
  let kills = 0;
  /** Does it once without a kill, and answers the writes and commits that it takes. */
  const pointsOf = async ({ act, isSettled = async () => true, check }: Attempt): Promise<string[]> => {
    await stops.arm(undefined);
    await act();
    await waitFor(isSettled, { timeoutMs: 30_000 });
    const points = await stops.passed();
    await check();
    return points;
  };

  /**
   * Kills the process before the n-th write, starts it again and looks at what it left. Returns false if it took fewer
   * writes this time: workers take one or several rows at once, as they find them.
   */
  const killBefore = async (
    n: number,
    fate: Fate,
    { act, isSettled = async () => true, check }: Attempt,
  ): Promise<boolean> => {
    await stops.arm(n);
    let hasActed = false;
    const acting = act()
      .catch(() => undefined)
      .finally(() => {
        hasActed = true;
      });
    const isOver = async (): Promise<boolean> => hasActed && (await isSettled());
    await waitFor(async () => (await stops.isReached()) || (await isOver()), { timeoutMs: 60_000 });
    if (!(await stops.isReached())) {
      await stops.arm(undefined);
      await check();
      return false;
    }
    await service.kill();
    await stops.release(fate);
    await stops.arm(undefined);
    await acting;
    kills += 1;
    await service.start();
    await check();
    return true;
  };

  const sweep = async (name: string, prepare: () => Promise<Attempt>): Promise<string[]> => {
    const points = await pointsOf(await prepare());
    const all = points.map((point, index) => ({ n: index + 1, point }));
    const sample = fc.shuffledSubarray(all, { minLength: KILLS_OF_A_SAMPLE, maxLength: KILLS_OF_A_SAMPLE });
    for (const { n, point } of IS_FULL ? all : choose(sample, name)) {
      const fate = choose(fc.constantFrom<Fate>('lost', 'lands'), `${name} ${n}`);
      try {
        for (let at = n; at > 0; at -= 1) if (await killBefore(at, fate, await prepare())) break;
      } catch (error) {
        throw new Error(`${name}, killed before write ${n} (${point}), which was ${fate}`, { cause: error });
      }
    }
    return points;
  };
  return Object.assign(sweep, { kills: () => kills });
};
