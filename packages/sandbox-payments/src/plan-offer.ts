import type { ConfiguredPlan } from '@svc/contracts';

/** The plans that the pages offer. */
export interface PlanOffer {
  readonly plans: readonly ConfiguredPlan[];
  readonly find: (id: string) => ConfiguredPlan | undefined;
}
