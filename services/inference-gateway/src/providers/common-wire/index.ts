export { collectBody } from './collect-body.ts';
export { commonWire } from './common-wire.ts';
export { createProviderClient } from './create-provider-client.ts';
export { failureHeaders } from './failure-headers.ts';
export {
  openUpstream,
  type UpstreamAnswer,
  type UpstreamLimits,
  type UpstreamRequest,
  type UpstreamSink,
} from './open-upstream.ts';
export { type ReadWireError, readRefusal, readWireError } from './read-refusal.ts';
