/** Responses and billed usage since the start. Numbers only, never content. */
export interface ProviderCounts {
  /** Requests on the inference endpoints, with any outcome. */
  requests: number;
  /** Requests by response status; `reset` counts connections closed without a response. */
  readonly statuses: Record<string, number>;
  /** Generated and therefore billed usage, whether or not the client read it. */
  readonly billed: BilledTotals & { by_model: Record<string, BilledTotals> };
}

/** Sums of generated usage. */
export interface BilledTotals {
  requests: number;
  input_tokens: number;
  output_tokens: number;
  audio_seconds: number;
}

/** Usage of one request in the provider's units. */
export interface BilledRequest {
  readonly model: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly audioSeconds?: number;
}

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

/** Creates a counter at zero. */
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
