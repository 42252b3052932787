export * from './accounts.ts';
export * from './apps.ts';
export * from './inbox.ts';
export * from './outbox.ts';
export * from './restores.ts';
export * from './services.ts';
