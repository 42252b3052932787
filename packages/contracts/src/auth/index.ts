export * from './accounts.ts';
export * from './apps.ts';
export * from './authorization-details.ts';
export * from './connections.ts';
export * from './events.ts';
export * from './internal.ts';
export * from './oauth.ts';
export * from './routes.ts';
