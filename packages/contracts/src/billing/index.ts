export * from './admissions.ts';
export * from './events.ts';
export * from './internal.ts';
export * from './plans.ts';
export * from './routes.ts';
export * from './subscriptions.ts';
export * from './usage.ts';
export * from './wallets.ts';
