export * from './auth/index.ts';
export * from './billing/index.ts';
export * from './core/index.ts';
export * from './events.ts';
export * from './inference-gateway/index.ts';
export * from './operations/index.ts';
export * from './routes.ts';
export * from './webhook-dispatcher/index.ts';
