import type { capabilitiesShape, requestUsageShape, usageShape } from '../generated/contract.ts';
import type { Infer } from '../shape.ts';

/** Services that both the server and the user's plan offer. */
export type Capabilities = Infer<typeof capabilitiesShape>;

/**
 * Limits and use of the user's subscription, shared by all apps. Money is in millionths of the currency. Fields of the
 * subscription are null if there is none.
 */
export type Usage = Infer<typeof usageShape>;

/**
 * Returns what the user's limit for this app leaves, in millionths of the currency: neither used nor held for running
 * requests. Returns undefined without a limit. Shared limits of the plan may stop the app earlier.
 */
export const remainingBudgetMicros = ({ app }: Usage): number | undefined =>
  app.limit_micros === null ? undefined : Math.max(0, app.limit_micros - app.used_micros - app.held_micros);

/**
 * State of one request: `reserved` is still running, `settled` cost `cost_micros`, `released` cost nothing, and the
 * cost of `uncertain` is not known yet.
 */
export type RequestUsage = Infer<typeof requestUsageShape>;
