import { randomUUID } from 'node:crypto';
import { trace } from '@opentelemetry/api';
import { LEASES_MAX, type LeaseAnswer, type LeaseDecision, type RecalledLeases } from '@svc/contracts';
import { type ApiKeyCaller, AppError, type Metrics } from '@svc/service-kit';
import {
  isReportDue,
  isRunningLow,
  isSameLimits,
  type KeptLease,
  type LeaseGrant,
  type LeaseRefusal,
  type LeaseRequest,
  limitsOf,
  type WaitingRequest,
} from './kept-lease.ts';
import { Lease } from './lease.ts';
import { createLeaseMeters, LeaseCalls, type LeaseCallsOptions } from './lease-calls.ts';

export interface LeaseBookOptions extends Pick<LeaseCallsOptions, 'askLeases' | 'monotonicMs'> {
  /** Longest wait of a request. */
  readonly deadlineMs: number;
  readonly metrics: Metrics;
  /** Called when billing has refused a request for good. */
  readonly onRefused: (waiting: WaitingRequest, refusal: Refusal) => void;
}

const TICK_MS = 100;
const WAITING_MAX = 5_000;
/** Waiting requests of one key, so that a flood on it leaves room for the others. */
const WAITING_PER_KEY_MAX = 500;
/** Pause before a lease whose wallet was locked is asked for again. */
const BUSY_MS = 3;
/** At a stop, billing is asked again this soon to end leases that it could not end, for this long. */
const STOP_RETRY_MS = 50;
const STOP_MS = 3_000;
type Refusal = Omit<LeaseRefusal, 'limits'>;
const STOPPED = new Error('the process stops');
const FRESH = { isOver: false, givenUpTimes: 0 };
/** A request is refused only after its lease has given up its spare part this often, as long as that lets it fit. */
const GIVE_UPS_MAX = 3;

/** Leases of this process on wallets, by API key. Asks billing on its own for as long as it has one. */
export class LeaseBook {
  readonly #options: LeaseBookOptions;
  readonly #calls: LeaseCalls;
  readonly #decided: (by: 'memory' | 'billing') => void;
  readonly #all = new Map<string, KeptLease>();
  readonly #byKey = new Map<string, KeptLease>();
  #waitingCount = 0;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(options: LeaseBookOptions) {
    this.#options = options;
    this.#decided = createLeaseMeters(options.metrics, () => this.#all.size);
    this.#calls = new LeaseCalls({
      ...options,
      onAsk: (kept) => kept.isEnding && this.#retire(kept),
      onAnswer: (kept, answer, sentAtMs) => this.#accept(kept, answer, sentAtMs),
      onFailure: (kept, error) => {
        kept.isDirty = true;
        kept.hasUnanswered = true;
        for (const request of kept.asked) this.#fail(request, error);
      },
    });
  }

  /**
   * Decides on a request: in memory if a lease covers it, else by billing. Throws `service_unavailable` if billing does not
   * decide in time.
   */
  async spend(caller: ApiKeyCaller, request: LeaseRequest): Promise<LeaseGrant | LeaseRefusal> {
    const kept = this.#leaseOf(caller);
    const nowMs = this.#options.monotonicMs();
    if (request.idempotencyKey === undefined && kept.lease.covers(request, nowMs)) {
      const spending = kept.lease.take(request, request.tokens, nowMs);
      this.#decided('memory');
      if (!kept.isAsking && isRunningLow(kept, nowMs)) this.#calls.askSoon(kept);
      return { verdict: 'granted', spending, limits: kept.lease.limitStates(nowMs) };
    }
    const decision = await this.#wait(caller, request, false);
    if (decision === 'can_spend') throw new Error('a request was answered as a probe');
    return decision;
  }

  /** Returns the refusal of a key that cannot spend anything now; undefined if it can. Throws like `spend`. */
  async probe(caller: ApiKeyCaller, requestId: string): Promise<LeaseRefusal | undefined> {
    const { lease } = this.#byKey.get(caller.keyId) ?? {};
    const least = { requestId, micros: 1, knownMicros: 0, tokens: 1, tokensLeast: 1 };
    if (lease?.covers(least, this.#options.monotonicMs()) === true) return undefined;
    const decision = await this.#wait(caller, least, true);
    return decision === 'can_spend' || decision.verdict === 'granted' ? undefined : decision;
  }

  /** Gives back what leases hold unspent, and returns their reports. Omits leases of other processes. */
  recall(leaseIds: readonly string[]): RecalledLeases['leases'] {
    const recalled = leaseIds.flatMap((id) => this.#all.get(id) ?? []);
    for (const { lease } of recalled) lease.giveUp();
    return recalled.map(({ lease }) => ({ lease_id: lease.identity.id, report: lease.report() }));
  }

  /**
   * Refuses requests that wait, and ends every lease. Call it once no request runs: a lease on which one still does gives back
   * the rest, and ends when billing notices that this process is gone.
   */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    for (const kept of this.#all.values()) {
      for (const waiting of [...kept.waiting.splice(0), ...kept.asked]) this.#fail(waiting, STOPPED);
      this.#retire(kept);
    }
    await this.#calls.stop();
    const untilMs = this.#options.monotonicMs() + STOP_MS;
    let left = [...this.#all.values()];
    while (left.length > 0 && this.#options.monotonicMs() < untilMs) {
      const batch = left.splice(0, LEASES_MAX);
      await this.#calls.ask(batch);
      if (left.length > 0) continue;
      left = [...this.#all.values()].filter(({ isDirty }) => isDirty);
      if (left.length > 0) await new Promise((resolve) => setTimeout(resolve, STOP_RETRY_MS));
    }
  }

  #leaseOf(caller: ApiKeyCaller): KeptLease {
    if (this.#isStopped) throw unavailable(STOPPED);
    const kept = this.#byKey.get(caller.keyId);
    if (kept !== undefined && isSameLimits(kept.lease.identity.limits, caller)) return kept;
    if (kept !== undefined) this.#retire(kept);
    return this.#open(caller);
  }

  #open(caller: ApiKeyCaller): KeptLease {
    const { userId, keyId, creatorId: memberId = null } = caller;
    const kept: KeptLease = {
      lease: new Lease({ id: randomUUID(), userId, keyId, memberId, limits: limitsOf(caller) }),
      waiting: [],
      asked: [],
      isAsking: false,
      isEnding: false,
      isDraining: false,
      isDirty: false,
      hasUnanswered: false,
      isBusy: false,
      askedAtMs: this.#options.monotonicMs(),
    };
    this.#all.set(kept.lease.identity.id, kept);
    this.#byKey.set(keyId, kept);
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS).unref();
    return kept;
  }

  /** Lets a lease end once its requests have. */
  #retire(kept: KeptLease): void {
    kept.isDraining = true;
    const { keyId } = kept.lease.identity;
    if (this.#byKey.get(keyId) === kept) this.#byKey.delete(keyId);
  }

  #forget(kept: KeptLease): void {
    this.#retire(kept);
    this.#all.delete(kept.lease.identity.id);
    this.#calls.forget(kept);
    if (this.#all.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #wait(
    caller: ApiKeyCaller,
    request: LeaseRequest,
    isProbe: boolean,
  ): Promise<LeaseGrant | LeaseRefusal | 'can_spend'> {
    return new Promise((resolve, reject) => {
      const kept = this.#leaseOf(caller);
      if (this.#waitingCount >= WAITING_MAX || kept.waiting.length >= WAITING_PER_KEY_MAX) {
        reject(unavailable(new Error('too many requests wait for billing')));
        return;
      }
      this.#waitingCount += 1;
      const askedAtMs = this.#options.monotonicMs();
      this.#enqueue(kept, {
        caller,
        request,
        isProbe,
        askedAtMs,
        span: trace.getActiveSpan(),
        resolve,
        reject,
        ...FRESH,
      });
    });
  }

  #enqueue(kept: KeptLease, waiting: WaitingRequest): void {
    kept.waiting.push(waiting);
    this.#calls.askSoon(kept);
  }

  #finish(waiting: WaitingRequest, decision: () => LeaseGrant | LeaseRefusal | 'can_spend'): void {
    if (waiting.isOver) return;
    waiting.isOver = true;
    this.#waitingCount -= 1;
    waiting.resolve(decision());
  }

  #fail(waiting: WaitingRequest, error: unknown): void {
    if (waiting.isOver) return;
    waiting.isOver = true;
    this.#waitingCount -= 1;
    waiting.reject(unavailable(error));
  }

  #accept(kept: KeptLease, answer: LeaseAnswer, sentAtMs: number): void {
    const { lease, asked } = kept;
    kept.isBusy = answer.state === 'busy';
    kept.isDirty = kept.isBusy;
    if (kept.isBusy) {
      kept.waiting.unshift(...asked.filter(({ isOver }) => !isOver));
      setTimeout(() => this.#calls.askSoon(kept), BUSY_MS).unref();
      return;
    }
    lease.accept(answer, sentAtMs);
    if (answer.state === 'ended') this.#forget(kept);
    if (answer.state !== 'held') {
      this.#retire(kept);
      for (const waiting of kept.waiting.splice(0)) this.#moveOn(waiting);
    }
    const refused: [WaitingRequest, Refusal][] = [];
    for (const [place, waiting] of asked.entries()) {
      const decision = answer.decisions[place];
      if (decision === undefined) this.#moveOn(waiting);
      else if (decision.verdict === 'granted') this.#grant(lease, waiting, decision);
      else refused.push([waiting, { ...decision, verdict: decision.verdict }]);
    }
    // What was granted is taken by now, so it is no part of the spare one, which may be what the refused requests lack.
    const { hasSpare, spareMicros } = lease;
    for (const [waiting, refusal] of refused) {
      const { request, givenUpTimes } = waiting;
      const fits = (refusal.available_micros ?? 0) + spareMicros >= (request.microsLeast ?? request.micros);
      const isSpent = givenUpTimes > 0 && (givenUpTimes === GIVE_UPS_MAX || !fits);
      const isFinal = !hasSpare || isSpent || refusal.verdict === 'duplicate_request';
      if (isFinal) this.#refuse(lease, waiting, refusal);
      else this.#askWithoutSpare(kept, waiting);
    }
  }

  /** Lets a request wait for another lease of its key. */
  #moveOn(waiting: WaitingRequest): void {
    if (waiting.isOver) return;
    if (this.#isStopped) this.#fail(waiting, STOPPED);
    else this.#enqueue(this.#leaseOf(waiting.caller), waiting);
  }

  #grant(lease: Lease, waiting: WaitingRequest, granted: Pick<LeaseDecision, 'micros' | 'tokens'>): void {
    const { request } = waiting;
    const { micros = request.micros, tokens = request.tokens } = granted;
    this.#finish(waiting, () => {
      if (waiting.isProbe) return 'can_spend';
      this.#decided('billing');
      const nowMs = this.#options.monotonicMs();
      const spending = lease.take({ ...request, micros }, tokens, nowMs);
      return { verdict: 'granted', spending, limits: lease.limitStates(nowMs) };
    });
  }

  #refuse(lease: Lease, waiting: WaitingRequest, refusal: Refusal): void {
    this.#options.onRefused(waiting, refusal);
    this.#finish(waiting, () => {
      this.#decided('billing');
      return { ...refusal, limits: lease.limitStates(this.#options.monotonicMs()) };
    });
  }

  #askWithoutSpare(kept: KeptLease, waiting: WaitingRequest): void {
    waiting.givenUpTimes += 1;
    kept.lease.giveUp();
    kept.waiting.push(waiting);
  }

  #tick(): void {
    const nowMs = this.#options.monotonicMs();
    for (const kept of this.#all.values()) {
      for (const waiting of [...kept.waiting, ...kept.asked]) {
        if (nowMs - waiting.askedAtMs < this.#options.deadlineMs) continue;
        this.#fail(waiting, new Error('billing did not decide in time'));
      }
      if (kept.isAsking || !isReportDue(kept, nowMs)) continue;
      // Billing stores no lease that it has granted nothing.
      if (kept.lease.isEmpty && !kept.hasUnanswered && kept.waiting.length === 0) this.#forget(kept);
      else this.#calls.askSoon(kept);
    }
  }
}

/** Maps a failure of billing to a retryable error. The request is refused rather than served for free. */
const unavailable = (cause: unknown): AppError =>
  new AppError('service_unavailable', undefined, { cause, headers: { 'retry-after': '1' } });
