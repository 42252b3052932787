export * from './api-keys.ts';
export * from './delegated.ts';
export * from './events.ts';
export * from './gateway.ts';
export * from './not-served.ts';
export * from './routes.ts';
export * from './routes-file.ts';
export * from './usage-records.ts';
