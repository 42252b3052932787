export * from './account-events.ts';
export * from './configurations.ts';
export * from './routes.ts';
export * from './webhook-events.ts';
