import { AppError } from '@svc/service-kit';
import { Pace } from './pace.ts';

/** Limits of the memory that texts share. */
export interface MemoryBudgetLimits {
  readonly bytesMax: number;
  /** Limit per account, so that others always find room. */
  readonly accountBytesMax: number;
  /** Queue limit per account. */
  readonly accountWaitingMax: number;
  /** Longest time in the queue. */
  readonly waitMs: number;
}

/** Memory of one text. */
export interface Allocation {
  /**
   * Takes more memory. Returns undefined if there is enough, else queues fairly among accounts and resolves when there is.
   * Throws `service_unavailable` on timeout.
   */
  readonly take: (bytes: number) => Promise<void> | undefined;
  /**
   * Starts to watch the pace of the text. If it is too slow while others are queued, it loses its memory and `onTooSlow`
   * is called.
   */
  readonly startTransit: (onTooSlow: () => void) => void;
  /** Counts bytes that were received or sent. */
  readonly advance: (bytes: number) => void;
  /** Stops watching the pace: the text is complete and keeps its memory until released. */
  readonly endTransit: () => void;
  readonly shrinkTo: (bytes: number) => void;
  readonly release: () => void;
}

/** Memory shared by texts. */
export interface MemoryBudget {
  readonly open: (account: string) => Allocation;
  readonly bytesTaken: () => number;
}

const RETRY_AFTER = { 'retry-after': '2' };
/** Interval of the search for slow texts while others are queued. */
const SWEEP_MS = 250;

interface Waiting {
  readonly bytes: number;
  readonly admit: () => void;
}

interface WaitingFor {
  readonly onRoom: () => void;
  readonly onRefusal: (error: AppError) => void;
}

/** Allocated bytes and queue of one account. */
interface Account {
  readonly name: string;
  bytes: number;
  readonly waiting: Waiting[];
}

/** A text whose pace is watched. */
interface Transit {
  readonly account: Account;
  readonly pace: Pace;
  readonly onTooSlow: () => void;
}

/** Creates a budget with round-robin queues: each release admits the next text of the account that has waited longest. */
export const createMemoryBudget = (
  limits: MemoryBudgetLimits,
  clock: () => number = () => performance.now(),
): MemoryBudget => {
  const budget = new Budget(limits, clock);
  return { open: (account) => new AccountAllocation(budget, account), bytesTaken: () => budget.bytesTaken };
};

class Budget {
  readonly clock: () => number;
  readonly inTransit = new Map<AccountAllocation, Transit>();
  bytesTaken = 0;
  readonly #limits: MemoryBudgetLimits;
  /** In round-robin order. */
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

  /** Takes memory immediately, unless the account has queued texts. */
  tryTake(account: Account, bytes: number): boolean {
    if (account.waiting.length > 0 || !this.#fits(account, bytes)) return false;
    this.#reserve(account, bytes);
    return true;
  }

  /** Queues for memory. Returns a function that leaves the queue. */
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
    this.#evictSlow();
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

  /** Admits queued texts that fit now, and forgets an account without texts. */
  #settle(changed: Account): void {
    for (const account of [...this.#accounts.values()]) {
      const next = account.waiting[0];
      if (next === undefined) continue;
      // Small texts must not overtake a large one forever.
      if (!this.#fitsInAll(next.bytes)) break;
      if (!this.#fits(account, next.bytes)) continue;
      account.waiting.shift();
      this.#accounts.delete(account.name);
      this.#accounts.set(account.name, account);
      next.admit();
    }
    if (changed.bytes === 0 && changed.waiting.length === 0) this.#accounts.delete(changed.name);
  }

  /** Evicts slow texts whose memory is needed by queued ones. Repeats periodically while texts are queued. */
  readonly #evictSlow = (): void => {
    clearTimeout(this.#sweep);
    const nowMs = this.clock();
    for (const [allocation, { account, pace, onTooSlow }] of [...this.inTransit]) {
      if (!pace.isTooSlow(nowMs) || !this.#isWantedFrom(account)) continue;
      allocation.release();
      onTooSlow();
    }
    const hasWaiting = [...this.#accounts.values()].some(({ waiting }) => waiting.length > 0);
    this.#sweep = hasWaiting ? setTimeout(this.#evictSlow, SWEEP_MS) : undefined;
  };

  #isWantedFrom(account: Account): boolean {
    return [...this.#accounts.values()].some(
      (other) => other.waiting[0] !== undefined && (other === account || !this.#fitsInAll(other.waiting[0].bytes)),
    );
  }
}

const unavailable = (): AppError => new AppError('service_unavailable', undefined, { headers: RETRY_AFTER });

class AccountAllocation implements Allocation {
  readonly #budget: Budget;
  readonly #name: string;
  #account: Account;
  #bytes = 0;
  #onTooSlow: (() => void) | undefined;
  #stopWaiting: (() => void) | undefined;

  constructor(budget: Budget, name: string) {
    this.#budget = budget;
    this.#name = name;
    this.#account = budget.accountOf(name);
  }

  readonly take = (bytes: number): Promise<void> | undefined => {
    // The budget forgets accounts without texts.
    this.#account = this.#budget.accountOf(this.#name);
    if (!this.#budget.tryTake(this.#account, bytes)) return this.#wait(bytes);
    this.#bytes += bytes;
    return undefined;
  };

  readonly startTransit = (onTooSlow: () => void): void => {
    const { inTransit, clock } = this.#budget;
    this.#onTooSlow = onTooSlow;
    inTransit.set(this, { account: this.#account, pace: new Pace(clock()), onTooSlow });
  };

  readonly advance = (bytes: number): void => {
    const { inTransit, clock } = this.#budget;
    inTransit.get(this)?.pace.advance(bytes, clock());
  };

  readonly endTransit = (): void => {
    this.#onTooSlow = undefined;
    this.#budget.inTransit.delete(this);
  };

  readonly shrinkTo = (bytes: number): void => {
    const surplus = Math.max(0, this.#bytes - bytes);
    this.#bytes -= surplus;
    this.#budget.giveBack(this.#account, surplus);
  };

  readonly release = (): void => {
    this.endTransit();
    this.#stopWaiting?.();
    this.shrinkTo(0);
  };

  /** Queues for memory. The pace is not watched meanwhile: the gateway itself delays the text. */
  #wait(bytes: number): Promise<void> {
    this.#budget.inTransit.delete(this);
    return new Promise((resolve, reject) => {
      this.#stopWaiting = this.#budget.wait(this.#account, bytes, {
        onRoom: () => {
          this.#bytes += bytes;
          if (this.#onTooSlow !== undefined) this.startTransit(this.#onTooSlow);
          resolve();
        },
        onRefusal: reject,
      });
    });
  }
}
