export * from './webhooks/index.ts';
