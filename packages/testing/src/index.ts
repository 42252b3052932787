export { freePort } from '@svc/embedded-servers';
export { type CapturedLogs, captureLogs } from './capture-logs.ts';
export { type DpopKey, dpopKey } from './dpop-key.ts';
export { createTestAuthority, type Identity, type TestAuthority } from './test-authority.ts';
export { type TestClock, testClock } from './test-clock.ts';
export { type TestDatabase, testDatabase } from './test-database.ts';
export { type TestNats, testNats } from './test-nats.ts';
export { type TestTokens, testTokens } from './test-tokens.ts';
export { waitFor } from './wait-for.ts';
