export { type CapturedLogs, captureLogs } from './capture-logs.ts';
export { type DnsAnswer, type DnsStandIn, dnsStandIn } from './dns-stand-in.ts';
export { type DpopKey, dpopKey } from './dpop-key.ts';
// Not from `pictures.ts`, which loads Playwright and Vitest: programs without either import this.
export { CHROMIUM_ARGS, findChromium } from './find-chromium.ts';
export { findPreviousRelease, type RunningStack, readStackFile, type StackFile, startStack } from './local-product.ts';
export { callAsEachRole, type RoleMatrix, roleMatrixOf } from './role-matrix.ts';
export { freePort } from './servers/free-port.ts';
export { type SoftwareAuthenticator, softwareAuthenticator } from './software-authenticator.ts';
export { createTestAuthority, type Identity, type TestAuthority } from './test-authority.ts';
export type { AuthStandIn } from './test-tokens.ts';
export {
  type ActingChoices,
  internalCredential,
  internalCredentialFor,
  internalCredentials,
  type TestTokens,
  testTokens,
} from './test-tokens.ts';
export { type TestClock, testClock, waitFor } from './time.ts';
export { type CollectedSpan, readSpans, type TraceCollector, traceCollector } from './trace-collector.ts';
