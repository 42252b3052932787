import { AppError } from '@svc/service-kit';
import { Pace, type PaceLimits } from './pace.ts';

/** Limits of the memory that texts share. */
export interface MemoryBudgetLimits {
  readonly bytesMax: number;
  /** Limit per account, so that others always find room. */
  readonly accountBytesMax: number;
  /** Queue limits per account and in total. */
  readonly accountWaitingMax: number;
  readonly allWaitingMax: number;
  /** Longest time in the queue. If omitted, a text waits without limit, and a full queue refuses none. */
  readonly waitMs?: number;
  /** A slower text loses its memory to queued ones. */
  readonly pace: PaceLimits;
}

/** Memory of one text. */
export interface Allocation {
  /**
   * Takes more memory. Returns undefined if there is enough, else queues fairly among accounts and resolves when there is.
   * If the budget limits the wait, rejects with `service_unavailable` on timeout or if the queue is full.
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
  /** Returns true if the queue of this account, or of all accounts, is full. */
  readonly isCongested: (account: string) => boolean;
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

/** A text whose pace is watched. The budget may forget an account and create it anew, so it is known by its name. */
interface Transit {
  readonly account: string;
  readonly pace: Pace;
  readonly onTooSlow: () => void;
}

/** Creates a budget with round-robin queues: each release admits the next text of the account that has waited longest. */
export const createMemoryBudget = (
  limits: MemoryBudgetLimits,
  clock: () => number = () => performance.now(),
): MemoryBudget => {
  const budget = new Budget(limits, clock);
  return {
    open: (account) => new AccountAllocation(budget, account),
    isCongested: (account) => budget.isCongested(account),
    bytesTaken: () => budget.bytesTaken,
  };
};

class Budget {
  readonly clock: () => number;
  readonly inTransit = new Map<AccountAllocation, Transit>();
  bytesTaken = 0;
  readonly #limits: MemoryBudgetLimits;
  /** In round-robin order. */
  readonly #accounts = new Map<string, Account>();
  #waitingCount = 0;
  #sweep: NodeJS.Timeout | undefined;

  constructor(limits: MemoryBudgetLimits, clock: () => number) {
    this.#limits = limits;
    this.clock = clock;
  }

  get pace(): PaceLimits {
    return this.#limits.pace;
  }

  isCongested(name: string): boolean {
    const { accountWaitingMax, allWaitingMax } = this.#limits;
    if ((this.#accounts.get(name)?.waiting.length ?? 0) >= accountWaitingMax) return true;
    return this.#waitingCount >= allWaitingMax;
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
    const { waitMs } = this.#limits;
    if (waitMs !== undefined && this.isCongested(account.name)) {
      this.#settle(account);
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
      this.#waitingCount -= 1;
      this.#settle(account);
      onRefusal(unavailable());
    };
    const timer = waitMs === undefined ? undefined : setTimeout(refuse, waitMs);
    waiting.push(entry);
    this.#waitingCount += 1;
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
      this.#waitingCount -= 1;
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

  #isWantedFrom(account: string): boolean {
    return [...this.#accounts.values()].some(
      ({ name, waiting: [next] }) => next !== undefined && (name === account || !this.#fitsInAll(next.bytes)),
    );
  }
}

const unavailable = (): AppError => new AppError('service_unavailable', undefined, { headers: RETRY_AFTER });

class AccountAllocation implements Allocation {
  readonly #budget: Budget;
  readonly #name: string;
  /** The account whose bytes are taken; undefined before the first. */
  #account: Account | undefined;
  #bytes = 0;
  #onTooSlow: (() => void) | undefined;
  #stopWaiting: (() => void) | undefined;

  constructor(budget: Budget, name: string) {
    this.#budget = budget;
    this.#name = name;
  }

  readonly take = (bytes: number): Promise<void> | undefined => {
    // The budget forgets accounts without texts.
    const account = this.#budget.accountOf(this.#name);
    this.#account = account;
    if (!this.#budget.tryTake(account, bytes)) return this.#wait(account, bytes);
    this.#bytes += bytes;
    return undefined;
  };

  readonly startTransit = (onTooSlow: () => void): void => {
    const { inTransit, clock, pace } = this.#budget;
    this.#onTooSlow = onTooSlow;
    inTransit.set(this, { account: this.#name, pace: new Pace(pace, clock()), onTooSlow });
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
    if (this.#account !== undefined) this.#budget.giveBack(this.#account, surplus);
  };

  readonly release = (): void => {
    this.endTransit();
    this.#stopWaiting?.();
    this.shrinkTo(0);
  };

  /** Queues for memory. The pace is not watched meanwhile: the gateway itself delays the text. */
  #wait(account: Account, bytes: number): Promise<void> {
    this.#budget.inTransit.delete(this);
    return new Promise((resolve, reject) => {
      this.#stopWaiting = this.#budget.wait(account, bytes, {
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
