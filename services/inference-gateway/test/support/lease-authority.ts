import type { LeaseAnswer, LeaseAsk, LeaseNeed, LeaseReport } from '@svc/contracts';

interface Row {
  granted: number;
  returned: number;
  settled: number;
  requests: { granted: number; returned: number };
  isEnded: boolean;
}

/** The simplest authority over one wallet and one key: it decides as billing does, and keeps every lease. */
export class LeaseAuthority {
  readonly #rows = new Map<string, Row>();
  balance: number;
  requestsPerMinute = Number.POSITIVE_INFINITY;
  /** Recalls every lease but one, as billing does before it refuses. */
  recall: (but: string) => { readonly lease_id: string; readonly report: LeaseReport }[] = () => [];

  constructor(balance: number) {
    this.balance = balance;
  }

  /** Amount that all leases hold. */
  get held(): number {
    return [...this.#rows.values()].reduce(
      (sum, { granted, returned, settled }) => sum + granted - returned - settled,
      0,
    );
  }

  get requestsUsed(): number {
    return [...this.#rows.values()].reduce((sum, { requests }) => sum + requests.granted - requests.returned, 0);
  }

  settle(leaseId: string, cost: number): void {
    const row = this.#rows.get(leaseId);
    if (row === undefined) throw new Error('a cost without a lease');
    row.settled += cost;
    this.balance -= cost;
  }

  answer(ask: LeaseAsk): LeaseAnswer {
    const row = this.#rows.get(ask.lease_id) ?? {
      granted: 0,
      returned: 0,
      settled: 0,
      isEnded: false,
      requests: { granted: 0, returned: 0 },
    };
    this.#rows.set(ask.lease_id, row);
    if (!row.isEnded) this.#report(row, ask.report);
    row.isEnded ||= ask.report.is_ended;
    const decide = (need: LeaseNeed) => {
      const verdict = this.#decide(row, need, ask.lease_id);
      return verdict === 'insufficient_balance' ? { verdict, available_micros: this.balance - this.held } : { verdict };
    };
    const decisions = row.isEnded ? [] : ask.needs.map(decide);
    const isRefused = decisions.some(({ verdict }) => verdict !== 'granted');
    if (!row.isEnded && !isRefused && ask.wanted.micros * 8 <= this.balance - this.held)
      row.granted += ask.wanted.micros;
    return {
      state: row.isEnded ? 'ended' : 'held',
      granted_micros: row.granted,
      granted_in_minute: { id: 1, requests: row.requests.granted, tokens: 0 },
      minute_ends_in_ms: 60_000,
      month_ends_in_ms: 3_600_000,
      requests_left: null,
      tokens_left: null,
      decisions,
    };
  }

  #report(row: Row, report: LeaseReport): void {
    row.returned = Math.max(row.returned, Math.min(report.returned_micros, row.granted - row.settled));
    // Its holder may not know of a grant whose answer was lost.
    if (report.is_ended) row.returned = row.granted - Math.max(report.known_micros, row.settled);
    const minute = report.returned_in_minute;
    if (minute?.id !== 1) return;
    row.requests.returned = Math.max(row.requests.returned, Math.min(minute.requests, row.requests.granted));
  }

  #decide(row: Row, need: LeaseNeed, leaseId: string) {
    if (!this.#covers(need)) {
      for (const { lease_id, report } of this.recall(leaseId)) {
        const other = this.#rows.get(lease_id);
        if (other !== undefined && !other.isEnded) this.#report(other, report);
      }
    }
    if (this.requestsUsed >= this.requestsPerMinute) return 'rate_limit_exceeded' as const;
    if (!this.#covers(need)) return 'insufficient_balance' as const;
    row.granted += need.micros;
    row.requests.granted += 1;
    return 'granted' as const;
  }

  #covers = ({ micros }: LeaseNeed): boolean =>
    micros <= this.balance - this.held && this.requestsUsed < this.requestsPerMinute;
}
