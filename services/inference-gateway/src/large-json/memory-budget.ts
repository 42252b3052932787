import { AppError } from '@svc/service-kit';
import { Pace } from './pace.ts';

/** Bounds of the memory that texts take together. */
export interface MemoryBudgetLimits {
  readonly bytesMax: number;
  /** For one account, so that others always find room. */
  readonly accountBytesMax: number;
  /** Texts of one account that may wait for room. */
  readonly accountWaitingMax: number;
  /** Longest wait for room. */
  readonly waitMs: number;
}

/** The room of one text. */
export interface Lease {
  /**
   * Takes more room. Undefined if there is enough; else resolves when there is, in turn with the other accounts. Throws
   * `service_unavailable` if there is none in time.
   */
  readonly take: (bytes: number) => Promise<void> | undefined;
  /** From now on the text has to move while others wait for room: if it is too slow, it loses its room and `onLate` is called. */
  readonly move: (onLate: () => void) => void;
  /** Notes bytes that have moved. */
  readonly advance: (bytes: number) => void;
  /** The text is at rest with the gateway, and keeps its room until it is released. */
  readonly rest: () => void;
  /** Gives back all but so many bytes. */
  readonly keep: (bytes: number) => void;
  readonly release: () => void;
}

/** Memory that texts share. */
export interface MemoryBudget {
  readonly open: (account: string) => Lease;
  readonly bytesTaken: () => number;
}

const RETRY_AFTER = { 'retry-after': '2' };
/** Between two looks for texts that are late, while others wait. */
const SWEEP_MS = 250;

interface Waiting {
  readonly bytes: number;
  readonly admit: () => void;
}

/** Callbacks for the end of a wait. */
interface WaitingFor {
  readonly onRoom: () => void;
  readonly onRefusal: (error: AppError) => void;
}

/** Texts of one account: the bytes they have taken, and those that wait. */
interface Account {
  readonly name: string;
  bytes: number;
  readonly waiting: Waiting[];
}

/** A text that has to move. */
interface Moving {
  readonly account: Account;
  readonly pace: Pace;
  readonly onLate: () => void;
}

/** Creates a budget that accounts use in turn: each release admits the next text of the account that has waited longest. */
export const createMemoryBudget = (
  limits: MemoryBudgetLimits,
  clock: () => number = () => performance.now(),
): MemoryBudget => {
  const budget = new Budget(limits, clock);
  return { open: (account) => new AccountLease(budget, account), bytesTaken: () => budget.bytesTaken };
};

class Budget {
  readonly clock: () => number;
  readonly moving = new Map<AccountLease, Moving>();
  bytesTaken = 0;
  readonly #limits: MemoryBudgetLimits;
  /** In the order of their turns. */
  readonly #accounts = new Map<string, Account>();
  #sweep: NodeJS.Timeout | undefined;

  constructor(limits: MemoryBudgetLimits, clock: () => number) {
    this.#limits = limits;
    this.clock = clock;
  }

  accountOf(name: string): Account {
    const account = this.#accounts.get(name) ?? { name, bytes: 0, waiting: [] };
    this.#accounts.set(name, account);
    return account;
  }

  /** Takes room at once, if nothing waits that came before. */
  tryTake(account: Account, bytes: number): boolean {
    if (account.waiting.length > 0 || !this.#fits(account, bytes)) return false;
    this.#reserve(account, bytes);
    return true;
  }

  /** Waits for room. Returns the function that gives up waiting. */
  wait(account: Account, bytes: number, { onRoom, onRefusal }: WaitingFor): () => void {
    const { waiting } = account;
    if (waiting.length >= this.#limits.accountWaitingMax) {
      onRefusal(unavailable());
      return () => {};
    }
    const entry: Waiting = {
      bytes,
      admit: () => {
        clearTimeout(timer);
        this.#reserve(account, bytes);
        onRoom();
      },
    };
    const refuse = (): void => {
      clearTimeout(timer);
      const at = waiting.indexOf(entry);
      if (at === -1) return;
      waiting.splice(at, 1);
      this.#settle(account);
      onRefusal(unavailable());
    };
    const timer = setTimeout(refuse, this.#limits.waitMs);
    waiting.push(entry);
    this.#endLate();
    return refuse;
  }

  giveBack(account: Account, bytes: number): void {
    this.bytesTaken -= bytes;
    account.bytes -= bytes;
    this.#settle(account);
  }

  #reserve(account: Account, bytes: number): void {
    this.bytesTaken += bytes;
    account.bytes += bytes;
  }

  #fits(account: Account, bytes: number): boolean {
    return this.#fitsInAll(bytes) && account.bytes + bytes <= this.#limits.accountBytesMax;
  }

  #fitsInAll(bytes: number): boolean {
    return this.bytesTaken + bytes <= this.#limits.bytesMax;
  }

  /** Admits texts that have room now, and forgets an account that has none left. */
  #settle(changed: Account): void {
    for (const account of [...this.#accounts.values()]) {
      const next = account.waiting[0];
      if (next === undefined) continue;
      // A large text whose turn it is is not overtaken by small ones for ever.
      if (!this.#fitsInAll(next.bytes)) break;
      if (!this.#fits(account, next.bytes)) continue;
      account.waiting.shift();
      this.#accounts.delete(account.name);
      this.#accounts.set(account.name, account);
      next.admit();
    }
    if (changed.bytes === 0 && changed.waiting.length === 0) this.#accounts.delete(changed.name);
  }

  /** Takes the room of texts that are late, as far as others wait for it, now and from time to time. */
  readonly #endLate = (): void => {
    clearTimeout(this.#sweep);
    const nowMs = this.clock();
    for (const [lease, { account, pace, onLate }] of [...this.moving]) {
      if (!pace.isLate(nowMs) || !this.#isWantedFrom(account)) continue;
      lease.release();
      onLate();
    }
    const hasWaiting = [...this.#accounts.values()].some(({ waiting }) => waiting.length > 0);
    this.#sweep = hasWaiting ? setTimeout(this.#endLate, SWEEP_MS) : undefined;
  };

  #isWantedFrom(account: Account): boolean {
    return [...this.#accounts.values()].some(
      (other) => other.waiting[0] !== undefined && (other === account || !this.#fitsInAll(other.waiting[0].bytes)),
    );
  }
}

const unavailable = (): AppError => new AppError('service_unavailable', undefined, { headers: RETRY_AFTER });

class AccountLease implements Lease {
  readonly #budget: Budget;
  readonly #name: string;
  #account: Account;
  #bytes = 0;
  #onLate: (() => void) | undefined;
  #stopWaiting: (() => void) | undefined;

  constructor(budget: Budget, name: string) {
    this.#budget = budget;
    this.#name = name;
    this.#account = budget.accountOf(name);
  }

  readonly take = (bytes: number): Promise<void> | undefined => {
    // An account without any room may have been forgotten since.
    this.#account = this.#budget.accountOf(this.#name);
    if (!this.#budget.tryTake(this.#account, bytes)) return this.#wait(bytes);
    this.#bytes += bytes;
    return undefined;
  };

  readonly move = (onLate: () => void): void => {
    const { moving, clock } = this.#budget;
    this.#onLate = onLate;
    moving.set(this, { account: this.#account, pace: new Pace(clock()), onLate });
  };

  readonly advance = (bytes: number): void => {
    const { moving, clock } = this.#budget;
    moving.get(this)?.pace.advance(bytes, clock());
  };

  readonly rest = (): void => {
    this.#onLate = undefined;
    this.#budget.moving.delete(this);
  };

  readonly keep = (bytes: number): void => {
    const surplus = Math.max(0, this.#bytes - bytes);
    this.#bytes -= surplus;
    this.#budget.giveBack(this.#account, surplus);
  };

  readonly release = (): void => {
    this.rest();
    this.#stopWaiting?.();
    this.keep(0);
  };

  /** A text that waits for room is held back by the gateway, and is not late. */
  #wait(bytes: number): Promise<void> {
    this.#budget.moving.delete(this);
    return new Promise((resolve, reject) => {
      this.#stopWaiting = this.#budget.wait(this.#account, bytes, {
        onRoom: () => {
          this.#bytes += bytes;
          if (this.#onLate !== undefined) this.move(this.#onLate);
          resolve();
        },
        onRefusal: reject,
      });
    });
  }
}
