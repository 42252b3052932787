import { type BurnRateGroup, burnRateGroups } from '../objectives/burn-rate-rules.ts';
import { readAlertFiles } from './alert-groups.ts';

/** Returns all rules that Prometheus loads: groups by file name. */
export const ruleFiles = (): Record<string, readonly BurnRateGroup[]> => ({
  ...readAlertFiles(),
  'objectives.yaml': burnRateGroups(),
});
