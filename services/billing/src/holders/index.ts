export { createHolderMeters, type HolderMeters } from './meters.ts';
export { holderRoutes } from './routes.ts';
export { createHolderSweep, HOLDER_SWEEP_INTERVAL_MS, type HolderSweepDeps } from './sweep-holders.ts';
