import { authEvents } from './auth/index.ts';
import { billingEvents } from './billing/index.ts';
import type { EventDefinition } from './core/index.ts';
import { inferenceGatewayEvents } from './inference-gateway/index.ts';

/** Every domain fact, by name. */
export const events = { ...authEvents, ...billingEvents, ...inferenceGatewayEvents } as const;

export const allEvents: readonly EventDefinition[] = Object.values(events);
