import { readAlertFiles } from './alert-groups.ts';

/** All rules that Prometheus loads: groups by file name. */
export const ruleFiles = (): Record<string, readonly object[]> => readAlertFiles();
