import type { BillingClient } from '../billing-client.ts';
import type { ForwardingDeps } from '../forwarding/index.ts';
import type { JsonTasks } from '../large-json/index.ts';
import type { ProcessLease } from '../leases/index.ts';
import type { delegatedTasks } from './rewrite-completion.ts';

/** Dependencies of delegated requests. */
export interface DelegatedDeps extends ForwardingDeps {
  readonly billing: Pick<BillingClient, 'admit' | 'settle' | 'entitlements'>;
  readonly holder: Pick<ProcessLease, 'id'>;
  readonly json: ForwardingDeps['json'] & JsonTasks<typeof delegatedTasks>;
  /** URL of the console page where users manage the budgets of their apps. */
  readonly manageUrl: string;
  /** URL of the console page where users choose a plan. */
  readonly plansUrl: string;
}
