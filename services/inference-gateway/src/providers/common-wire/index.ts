export { commonWire } from './common-wire.ts';
export { createProviderClient } from './create-provider-client.ts';
export {
  openUpstream,
  type UpstreamAnswer,
  type UpstreamLimits,
  type UpstreamRequest,
  type UpstreamSink,
} from './open-upstream.ts';
export {
  collectBody,
  failureHeaders,
  failureMessage,
  NO_RETRY,
  type ReadWireError,
  readRefusal,
  readWireError,
} from './read-refusal.ts';
