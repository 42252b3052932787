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
 * State of one request: `reserved` is still running, `settled` cost `cost_micros`, `released` cost nothing, and the
 * cost of `uncertain` is not known yet.
 */
export type RequestUsage = Infer<typeof requestUsageShape>;
