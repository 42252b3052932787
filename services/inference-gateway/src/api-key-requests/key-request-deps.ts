import type { ForwardingDeps } from '../forwarding/index.ts';
import type { JsonTasks } from '../large-json/index.ts';
import type { LeaseBook } from '../leases/index.ts';
import type { keyRequestTasks } from './read-response.ts';

/** Dependencies of API-key requests. */
export interface KeyRequestDeps extends ForwardingDeps {
  readonly leases: LeaseBook;
  readonly json: ForwardingDeps['json'] & JsonTasks<typeof keyRequestTasks>;
  /** Currency of prices. */
  readonly currency: string;
}

/** Dependencies of proofs of provider and model. */
export type ProofDeps = Pick<KeyRequestDeps, 'ingressRegion' | 'clock' | 'signProvenance'>;
