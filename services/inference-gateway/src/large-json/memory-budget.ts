import { AppError } from '@svc/service-kit';

/** Bounds of the memory that large bodies take together. */
export interface MemoryBudgetLimits {
  readonly bytesMax: number;
  /** For one account, so that others always find room. */
  readonly accountBytesMax: number;
  /** How long a body waits for room. */
  readonly waitMs: number;
}

/** Gives back what was taken; later calls do nothing. */
export type GiveBack = () => void;

/** Memory that large bodies share. */
export interface MemoryBudget {
  /**
   * Takes room for a body, waiting for it in turn with the other accounts. Throws `service_unavailable` if there is none in
   * time.
   */
  readonly take: (account: string, bytes: number) => Promise<GiveBack>;
  readonly bytesTaken: () => number;
}

const RETRY_AFTER_SECONDS = '2';

interface Waiting {
  readonly bytes: number;
  readonly admit: () => void;
}

/** Bodies of one account: the bytes it has taken, and those that wait. */
interface Account {
  bytes: number;
  readonly waiting: Waiting[];
}

/** Creates a budget that accounts use in turn: each release admits the next body of the account that has waited longest. */
export const createMemoryBudget = (limits: MemoryBudgetLimits): MemoryBudget => {
  /** In the order of their turns. */
  const accounts = new Map<string, Account>();
  let bytesTaken = 0;

  const fits = (account: Account, bytes: number): boolean =>
    bytesTaken + bytes <= limits.bytesMax && account.bytes + bytes <= limits.accountBytesMax;
  const forgetIfIdle = (name: string, account: Account): void => {
    if (account.bytes === 0 && account.waiting.length === 0) accounts.delete(name);
  };
  const admitWaiting = (): void => {
    for (const [name, account] of [...accounts]) {
      const next = account.waiting[0];
      if (next === undefined) continue;
      // A large body at the head of the total's queue is not overtaken by small ones for ever.
      if (bytesTaken + next.bytes > limits.bytesMax) return;
      if (!fits(account, next.bytes)) continue;
      account.waiting.shift();
      accounts.delete(name);
      accounts.set(name, account);
      next.admit();
    }
  };
  const reserve = (name: string, account: Account, bytes: number): GiveBack => {
    bytesTaken += bytes;
    account.bytes += bytes;
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      bytesTaken -= bytes;
      account.bytes -= bytes;
      forgetIfIdle(name, account);
      admitWaiting();
    };
  };
  const wait = (name: string, account: Account, bytes: number): Promise<GiveBack> =>
    new Promise((resolve, reject) => {
      const entry: Waiting = {
        bytes,
        admit: () => {
          clearTimeout(timer);
          resolve(reserve(name, account, bytes));
        },
      };
      const timer = setTimeout(() => {
        account.waiting.splice(account.waiting.indexOf(entry), 1);
        forgetIfIdle(name, account);
        reject(new AppError('service_unavailable', undefined, { headers: { 'retry-after': RETRY_AFTER_SECONDS } }));
        admitWaiting();
      }, limits.waitMs);
      account.waiting.push(entry);
      admitWaiting();
    });

  return {
    bytesTaken: () => bytesTaken,
    take: (name, bytes) => {
      const account = accounts.get(name) ?? { bytes: 0, waiting: [] };
      accounts.set(name, account);
      return wait(name, account, bytes);
    },
  };
};
