import { newId, type RequestOutcome } from '@svc/contracts';

const HOUR_MS = 3_600_000;
const WEEK_MS = 7 * 24 * HOUR_MS;
/** The default of RESERVATION_UNCERTAIN_AFTER_SECONDS. */
const UNCERTAIN_AFTER_MS = 120_000;
const SETTLE_AFTER_MS = 24 * HOUR_MS;

interface ModelRequest {
  /** Null if the request was released before its admission, which blocks its id. */
  readonly owner: string | null;
  readonly estimate: number;
  readonly admittedAt: Date;
  state: 'reserved' | 'settled' | 'released' | 'uncertain';
  /** Undefined while unknown. */
  cost?: number;
  isEstimated?: boolean;
  uncertainAt?: Date;
}

/** The simplest possible model of billing: it stores every request and derives everything else. */
export class ReferenceModel {
  readonly #anchor: Date;
  readonly #caps: { weekly: number; monthly: number };
  readonly #requests = new Map<number, ModelRequest>();

  constructor(anchor: Date, caps: { weekly: number; monthly: number }) {
    this.#anchor = anchor;
    this.#caps = caps;
  }

  newRequestIds(count: number): string[] {
    return Array.from({ length: count }, () => newId('req'));
  }

  admit(request: number, owner: string, estimate: number, now: Date): string {
    const known = this.#requests.get(request);
    if (known !== undefined) return known.owner === owner ? 'admitted' : 'request_id_taken';
    if (this.usedThisWeek(owner, now) >= this.#caps.weekly) return 'weekly_limit_exceeded';
    if (this.usedThisMonth(owner, now) >= this.#caps.monthly) return 'monthly_limit_exceeded';
    if (this.pending(owner) >= 2) return 'subscription_requests_pending';
    this.#requests.set(request, { owner, estimate, admittedAt: now, state: 'reserved' });
    return 'admitted';
  }

  settle(request: number, result: RequestOutcome, now: Date): string | null {
    const known = this.#requests.get(request);
    if (known === undefined) {
      if (result.outcome === 'released') {
        this.#requests.set(request, { owner: null, estimate: 0, admittedAt: now, state: 'released' });
      }
      return null;
    }
    const cost = result.outcome === 'settled' ? result.cost_micros : 0;
    if (known.state === 'reserved' && result.outcome === 'released') known.state = 'released';
    else if (result.outcome === 'uncertain') {
      if (known.state === 'reserved') Object.assign(known, { state: 'uncertain', uncertainAt: now });
    } else if (known.state === 'reserved' || known.state === 'uncertain' || known.isEstimated === true) {
      Object.assign(known, { state: 'settled', cost, isEstimated: false });
    }
    return known.state;
  }

  sweep(now: Date): void {
    for (const request of this.#requests.values()) {
      if (request.state === 'reserved' && now.getTime() - request.admittedAt.getTime() > UNCERTAIN_AFTER_MS) {
        Object.assign(request, { state: 'uncertain', uncertainAt: now });
      }
      const since = request.uncertainAt?.getTime() ?? now.getTime();
      if (request.state === 'uncertain' && now.getTime() - since > SETTLE_AFTER_MS) {
        Object.assign(request, { state: 'settled', cost: request.estimate, isEstimated: true });
      }
    }
  }

  pending(owner: string): number {
    return this.#of(owner).filter(({ state }) => state === 'reserved').length;
  }

  usedThisWeek(owner: string, now: Date): number {
    const week = (at: Date) => Math.floor((at.getTime() - this.#anchor.getTime()) / WEEK_MS);
    return this.#used(owner, (at) => week(at) === week(now));
  }

  usedThisMonth(owner: string, now: Date): number {
    const month = (at: Date) => {
      let count = 0;
      while (this.#anniversary(count + 1) <= at) count += 1;
      return count;
    };
    return this.#used(owner, (at) => month(at) === month(now));
  }

  /** Returns the anchor's day in the n-th month after it, or the last day of a shorter month. */
  #anniversary(months: number): Date {
    const date = new Date(this.#anchor);
    date.setUTCDate(1);
    date.setUTCMonth(date.getUTCMonth() + months);
    const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
    date.setUTCDate(Math.min(this.#anchor.getUTCDate(), last));
    return date;
  }

  #used(owner: string, isInWindow: (at: Date) => boolean): number {
    return this.#of(owner)
      .filter(({ admittedAt }) => isInWindow(admittedAt))
      .reduce((sum, { state, cost, estimate }) => sum + (state === 'uncertain' ? estimate : (cost ?? 0)), 0);
  }

  #of(owner: string): ModelRequest[] {
    return [...this.#requests.values()].filter((request) => request.owner === owner);
  }
}
