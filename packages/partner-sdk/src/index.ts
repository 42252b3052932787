export * from './browser/index.ts';
export * from './connect/index.ts';
export * from './inference/index.ts';
export * from './provenance/index.ts';
export * from './receipts/index.ts';
export * from './signed/index.ts';
export * from './tokens/index.ts';
