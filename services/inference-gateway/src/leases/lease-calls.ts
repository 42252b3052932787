import { LEASE_NEEDS_MAX, LEASES_MAX, type LeaseAnswer, type LeaseAsk } from '@svc/contracts';
import { isSampled, type Metrics, withinSpan } from '@svc/service-kit';
import { type KeptLease, toAsk } from './kept-lease.ts';

export interface LeaseCallsOptions {
  /** Asks billing. Rejects if it does not answer in time. */
  readonly askLeases: (asks: readonly LeaseAsk[]) => Promise<readonly LeaseAnswer[]>;
  /** Milliseconds of a monotonic clock. */
  readonly monotonicMs: () => number;
  /** Called before a lease is asked for, which may report its end. */
  readonly onAsk: (kept: KeptLease) => void;
  readonly onAnswer: (kept: KeptLease, answer: LeaseAnswer, sentAtMs: number) => void;
  readonly onFailure: (kept: KeptLease, error: unknown) => void;
}

/** Calls to billing at once. Leases of the same turn of the event loop share a call. */
const CALLS_MAX = 4;
const NEEDS_PER_CALL_MAX = 1_000;

/** Calls to billing. Each lease is in one call at most; others of the same wallet are not delayed. */
export class LeaseCalls {
  readonly #options: LeaseCallsOptions;
  readonly #due = new Set<KeptLease>();
  readonly #running = new Set<Promise<void>>();
  #isFlushing = false;
  #isStopped = false;

  constructor(options: LeaseCallsOptions) {
    this.#options = options;
  }

  /** Asks for a lease in the next turn of the event loop, or once its present call has ended. */
  askSoon(kept: KeptLease): void {
    this.#due.add(kept);
    if (this.#isFlushing || this.#isStopped) return;
    this.#isFlushing = true;
    setImmediate(() => {
      this.#isFlushing = false;
      this.#flush();
    });
  }

  forget(kept: KeptLease): void {
    this.#due.delete(kept);
  }

  /** Starts no further call but those of `ask`. Resolves once the calls under way have ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#running);
  }

  /** Asks for leases now, in one call. Never rejects. */
  async ask(batch: readonly KeptLease[]): Promise<void> {
    const { askLeases, monotonicMs, onAsk, onAnswer, onFailure } = this.#options;
    const sentAtMs = monotonicMs();
    const asks = batch.map((kept) => {
      kept.asked = kept.waiting.splice(0, LEASE_NEEDS_MAX).filter(({ isOver }) => !isOver);
      const ask = toAsk(kept, sentAtMs);
      Object.assign(kept, { isAsking: true, isBusy: false, askedAtMs: sentAtMs });
      onAsk(kept);
      return ask;
    });
    try {
      const sampled = batch.flatMap(({ asked }) => asked).find(({ span }) => isSampled(span))?.span;
      const answers = await withinSpan(sampled, () => askLeases(asks));
      if (answers.length !== batch.length) throw new Error('billing answered a different number of leases');
      // The lengths are equal, so each lease has a response.
      for (const [place, kept] of batch.entries()) onAnswer(kept, answers[place] as LeaseAnswer, sentAtMs);
    } catch (error) {
      for (const kept of batch) onFailure(kept, error);
    }
    for (const kept of batch) {
      Object.assign(kept, { isAsking: false, asked: [] });
      if (kept.waiting.length > 0 && !kept.isBusy) this.askSoon(kept);
    }
  }

  #flush(): void {
    while (this.#running.size < CALLS_MAX && !this.#isStopped) {
      const batch = this.#takeDue();
      if (batch.length === 0) return;
      const call = this.ask(batch).then(() => {
        this.#running.delete(call);
        this.#flush();
      });
      this.#running.add(call);
    }
  }

  #takeDue(): KeptLease[] {
    const batch: KeptLease[] = [];
    let needs = 0;
    for (const kept of this.#due) {
      if (kept.isAsking) continue;
      if (batch.length === LEASES_MAX || needs >= NEEDS_PER_CALL_MAX) break;
      this.#due.delete(kept);
      needs += Math.min(kept.waiting.length, LEASE_NEEDS_MAX);
      batch.push(kept);
    }
    return batch;
  }
}

/** Metrics of leases. Returns the count of decisions; `count` reads how many leases there are. */
export const createLeaseMeters = (metrics: Metrics, count: () => number): ((by: 'memory' | 'billing') => void) => {
  metrics.gauge({ name: 'gateway_leases', help: 'Leases of API keys that this process has.', read: count });
  const decisions = metrics.counter({
    name: 'gateway_lease_decisions_total',
    help: 'Decisions on API-key requests: in memory from a lease, or by a call to billing.',
    labelNames: ['by'],
  });
  for (const by of ['memory', 'billing'] as const) decisions.inc({ by }, 0);
  return (by) => decisions.inc({ by });
};
