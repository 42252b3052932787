import type { z } from 'zod';
import type { capabilitiesSchema, requestUsageSchema, usageSchema } from '../generated/contract.ts';

/** Services that both the server and the user's plan offer. */
export type Capabilities = z.infer<typeof capabilitiesSchema>;

/**
 * Limits and use of the user's subscription, shared by all apps. Money is in millionths of the currency. Fields of the
 * subscription are null if there is none.
 */
export type Usage = z.infer<typeof usageSchema>;

/**
 * State of one request: `reserved` is still running, `settled` cost `cost_micros`, `released` cost nothing, and the
 * cost of `uncertain` is not known yet.
 */
export type RequestUsage = z.infer<typeof requestUsageSchema>;
