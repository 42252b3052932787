export * from './accounts.ts';
export * from './apps.ts';
export * from './outbox-and-inbox.ts';
export * from './restores.ts';
export * from './secrets.ts';
export * from './services.ts';
export * from './unadmitted.ts';
