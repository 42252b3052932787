/** What the provider has answered and would invoice since it started; numbers only, never content. */
export interface ProviderCounts {
  /** Requests received on the inference endpoints, whatever their answer. */
  requests: number;
  /** Requests by the status that they were answered with; `reset` are those cut off before any answer. */
  statuses: Record<string, number>;
  /** What was generated, and so is owed, whether or not the client stayed to read it. */
  billed: BilledTotals & { by_model: Record<string, BilledTotals> };
}

/** Sums of what was generated. */
export interface BilledTotals {
  requests: number;
  input_tokens: number;
  output_tokens: number;
  audio_seconds: number;
}

/** What one answered request costs in the provider's units. */
export interface BilledRequest {
  readonly model: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly audioSeconds?: number;
}

/** Keeps the counts of one provider. */
export interface Counter {
  readonly received: () => void;
  readonly answered: (status: string) => void;
  readonly billed: (request: BilledRequest) => void;
  readonly snapshot: () => ProviderCounts;
  readonly reset: () => void;
}

const noTotals = (): BilledTotals => ({ requests: 0, input_tokens: 0, output_tokens: 0, audio_seconds: 0 });

const noCounts = (): ProviderCounts => ({ requests: 0, statuses: {}, billed: { ...noTotals(), by_model: {} } });

const add = (totals: BilledTotals, request: BilledRequest): void => {
  totals.requests += 1;
  totals.input_tokens += request.inputTokens ?? 0;
  totals.output_tokens += request.outputTokens ?? 0;
  totals.audio_seconds += request.audioSeconds ?? 0;
};

/** Starts counting from zero. */
export const createCounter = (): Counter => {
  let counts = noCounts();
  return {
    received: () => {
      counts.requests += 1;
    },
    answered: (status) => {
      counts.statuses[status] = (counts.statuses[status] ?? 0) + 1;
    },
    billed: (request) => {
      const ofModel = counts.billed.by_model[request.model] ?? noTotals();
      counts.billed.by_model[request.model] = ofModel;
      add(counts.billed, request);
      add(ofModel, request);
    },
    snapshot: () => structuredClone(counts),
    reset: () => {
      counts = noCounts();
    },
  };
};
